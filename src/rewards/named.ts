/** Rewards by name, for recipes and the command line. */
import { Fault } from '../error.js'
import type { Reward } from '../reward.js'
import { communication } from './communication.js'
import { defaultReward } from './default.js'
import { diagnosisAccuracy } from './diagnosis-accuracy.js'
import { doctorAgentGrpo, doctorAgentPpo } from './doctor-agent.js'
import { examF1 } from './exam-f1.js'
import type { Formulary } from './formulary.js'
import { historyCoverage } from './history-coverage.js'
import type { InformationGainOptions } from './information-gain.js'
import { informationGain } from './information-gain.js'
import { partialCredit } from './partial-credit.js'
import { verifiedAnswer } from './verified-answer.js'

/** What rewards are made from; each takes what it needs. */
export interface NamedOptions extends Omit<InformationGainOptions, 'least'> {
  /** The diseases that can be told from their names. @default none */
  readonly formulary?: Formulary
}

const makers = {
  default: defaultReward,
  'diagnosis-accuracy': diagnosisAccuracy,
  'partial-credit': partialCredit,
  'exam-f1': examF1,
  'history-coverage': historyCoverage,
  communication,
  'information-gain': informationGain,
  'verified-answer': verifiedAnswer,
  'doctor-agent-ppo': doctorAgentPpo,
  'doctor-agent-grpo': doctorAgentGrpo,
} as const satisfies Record<string, (options: NamedOptions) => Reward>

export type RewardName = keyof typeof makers

const isRewardName = (name: string): name is RewardName => Object.hasOwn(makers, name)

/** The names `namedReward` knows, in the order `rewards list` prints them. */
export const rewardNames: readonly RewardName[] = Object.keys(makers).filter(isRewardName)

/**
 * The reward of that name; its `rewardName`, `bounds` and `source` describe it.
 * @throws Fault `bad-input` for a name that does not exist
 */
export function namedReward(name: string, options: NamedOptions = {}): Reward {
  if (!isRewardName(name))
    throw new Fault('bad-input', `Expected a reward of ${rewardNames.join(', ')}, got \`${name}\``)
  const make: (options: NamedOptions) => Reward = makers[name]
  return make(options)
}
