/** Rewards by name, for recipes and the command line. */
import { Fault } from '../error.js'
import type { Reward } from '../reward.js'
import { defaultReward } from './default.js'
import { diagnosisAccuracy } from './outcome/diagnosis-accuracy.js'
import type { Formulary } from './outcome/formulary.js'
import { partialCredit } from './outcome/partial-credit.js'
import { verifiedAnswer } from './outcome/verified-answer.js'
import { communication } from './process/communication.js'
import { examF1 } from './process/exam-f1.js'
import { historyCoverage } from './process/history-coverage.js'
import type { InformationGainOptions } from './process/information-gain.js'
import { informationGain } from './process/information-gain.js'
import { doctorAgentGrpo, doctorAgentPpo } from './published/doctor-agent.js'

/** What rewards are made from; each takes what it needs. */
export interface NamedOptions extends Omit<InformationGainOptions, 'least'> {
  /** The diseases that can be told from their names. @default none */
  readonly formulary?: Formulary
}

/** This package's own: components, and what is composed of them. */
const own = {
  default: defaultReward,
  'diagnosis-accuracy': diagnosisAccuracy,
  'partial-credit': partialCredit,
  'exam-f1': examF1,
  'history-coverage': historyCoverage,
  communication,
  'information-gain': informationGain,
  'verified-answer': verifiedAnswer,
} as const satisfies Record<string, (options: NamedOptions) => Reward>

/** Published systems', mended; behind each name and `-parity` stands the formula as released. */
const published = {
  'doctor-agent-ppo': doctorAgentPpo,
  'doctor-agent-grpo': doctorAgentGrpo,
} as const satisfies Record<string, (options: NamedOptions & { parity?: boolean }) => Reward>

type OwnName = keyof typeof own
type PublishedName = keyof typeof published
export type RewardName = OwnName | PublishedName | `${PublishedName}-parity`

type Maker = (options: NamedOptions) => Reward

const makers: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ...Object.entries(own),
  ...Object.entries(published).flatMap(([name, make]): [string, Maker][] => [
    [name, make],
    [`${name}-parity`, (options) => make({ ...options, parity: true })],
  ]),
])

/** The names `namedReward` knows, in the order `rewards list` prints them. */
// The keys of the two tables, as the type says.
export const rewardNames = [...makers.keys()] as readonly RewardName[]

/**
 * The reward of that name; its `rewardName`, `bounds` and `source` describe it.
 * @throws Fault `bad-input` for a name that does not exist
 */
export function namedReward(name: string, options: NamedOptions = {}): Reward {
  const make = makers.get(name)
  if (!make)
    throw new Fault('bad-input', `Expected a reward of ${rewardNames.join(', ')}, got \`${name}\``)
  return make(options)
}
