/**
 * Registry of rewards by name, for recipes and the command line.
 *
 * A published system's formula has two forms. *Parity* (`parity: true`, registered as `NAME-parity`) reproduces the
 * released code, bugs included. *Fixed* (the default, no suffix) corrects those bugs.
 */
import type { GraderView } from '../case.js'
import type { Episode } from '../episode.js'
import { Fault } from '../error.js'
import { loadKnowledge } from '../knowledge/load.js'
import { suggestNames } from '../platform/did-you-mean.js'
import { type Reward, type RewardContext, type Score, unavailable } from '../reward.js'
import type { Judge } from './judges/judge.js'
import { readNamedReward } from './named-options.js'
import { type CalibrationOptions, calibration } from './outcome/calibration.js'
import {
  differentialAgreement,
  differentialBrier,
  differentialF1,
  differentialSpherical,
} from './outcome/differential.js'
import type { FormularyOptions } from './outcome/formulary.js'
import { diagnosisAccuracy, partialCredit } from './outcome/partial-credit.js'
import { type RankedOptions, reciprocalRank, topK } from './outcome/ranked.js'
import { actionBankOf, treatment } from './outcome/treatment.js'
import { triage, triageFrequency } from './outcome/triage.js'
import { type VerifiedAnswerOptions, verifiedAnswer } from './outcome/verified-answer.js'
import { defaultReward, efficiencyPreset, safetyFirst } from './presets.js'
import type { OneQuestionOptions } from './process/conduct.js'
import {
  communication,
  oneQuestion,
  questionSpecificity,
  repetition,
  replyFormat,
} from './process/conduct.js'
import { examAgreement, examF1 } from './process/exam-f1.js'
import { historyCoverage } from './process/history-coverage.js'
import { type InformationGainOptions, informationGain } from './process/information-gain.js'
import { plainLanguage } from './process/plain-language.js'
import { invasiveness, moneySavings, timeSavings } from './process/savings.js'
import { type DiagagentOptions, diagagent, diagagentPaper } from './published/diagagent.js'
import { doctorAgentGrpo, doctorAgentPpo } from './published/doctor-agent.js'
import { doctorAgentNotebook } from './published/doctor-agent-notebook.js'
import {
  doctoragentJudge,
  doctoragentMatch,
  doctoragentPatient,
} from './published/doctoragent-rl.js'
import type { DoctorAgentRlParityOptions } from './published/doctoragent-rl-parity.js'
import { type GrpodxReadmeOptions, grpodxHead, grpodxReadme } from './published/grpodx.js'
import { type TakesTwoDoctorOptions, takestwoDoctor } from './published/takestwo.js'
import { takestwoPatient } from './published/takestwo-patient.js'
import { escalation } from './safety/escalation.js'
import { noContraindicated, noHarm, redFlagRecall, safety } from './safety/safety.js'
import { groundedClaims, noFalseClaims } from './safety/unsupported-claims.js'
import { partScore } from './score.js'
import { guardUnread } from './unread-facts.js'

/** Options of all named rewards; each reads those it needs. */
export interface NamedRewardOptions
  extends Omit<InformationGainOptions, 'least'>,
    FormularyOptions,
    Pick<CalibrationOptions, 'abstention'>,
    Pick<RankedOptions, 'depth'>,
    OneQuestionOptions,
    Pick<VerifiedAnswerOptions, 'verifier' | 'threshold'>,
    Pick<TakesTwoDoctorOptions, 'maxTurns'>,
    Pick<DoctorAgentRlParityOptions, 'loop' | 'alone'>,
    Pick<DiagagentOptions, 'limit' | 'turns'>,
    Pick<GrpodxReadmeOptions, 'reading'> {
  /** The judge of judged rewards. @default ruleJudge, except where a release has a rule of its own */
  readonly judge?: Judge
  /** Of `cost` (money), `time` (minutes) and `invasiveness` (points), above 0. @default theirs */
  readonly budget?: number
}

const budgetOf = ({ budget }: NamedRewardOptions): { readonly budget?: number } =>
  budget === undefined ? {} : { budget }

const own = {
  default: defaultReward,
  'safety-first': ({ formulary = [], knowledge }) =>
    safetyFirst({ formulary, ...(knowledge ? { bank: actionBankOf(knowledge) } : {}) }),
  efficiency: efficiencyPreset,
  'diagnosis-accuracy': diagnosisAccuracy,
  'partial-credit': partialCredit,
  'top-3': ({ formulary = [] }) => topK({ k: 3, formulary }),
  'reciprocal-rank': reciprocalRank,
  'differential-f1': differentialF1,
  'grave-differential-f1': ({ formulary = [] }) => differentialF1({ formulary, grave: true }),
  'differential-brier': differentialBrier,
  'differential-spherical': differentialSpherical,
  'differential-agreement': differentialAgreement,
  calibration,
  triage: ({ knowledge = loadKnowledge() }) => triage({ frequency: triageFrequency(knowledge) }),
  treatment: ({ knowledge }) => treatment(knowledge ? { bank: actionBankOf(knowledge) } : {}),
  'no-contraindicated': ({ knowledge }) =>
    noContraindicated(knowledge ? { bank: actionBankOf(knowledge) } : {}),
  'exam-f1': examF1,
  'exam-precision': () => examAgreement({ measure: 'precision' }),
  'exam-recall': () => examAgreement({ measure: 'recall' }),
  'exam-iou': () => examAgreement({ measure: 'iou' }),
  'history-coverage': historyCoverage,
  communication,
  format: replyFormat,
  repetition,
  'one-question': oneQuestion,
  'plain-language': ({ knowledge }) => plainLanguage({ knowledge }),
  'question-specificity': questionSpecificity,
  cost: (options) => moneySavings(budgetOf(options)),
  time: (options) => timeSavings(budgetOf(options)),
  invasiveness: (options) => invasiveness(budgetOf(options)),
  'no-harm': noHarm,
  'red-flag-recall': redFlagRecall,
  escalation,
  safety: () => safety(),
  'grounded-claims': ({ knowledge }) => groundedClaims({ knowledge }),
  'no-false-claims': ({ knowledge }) => noFalseClaims({ knowledge }),
  'information-gain': informationGain,
  'verified-answer': verifiedAnswer,
} as const satisfies Record<string, (options: NamedRewardOptions) => Reward>

const published = {
  'doctor-agent-ppo': doctorAgentPpo,
  'doctor-agent-grpo': doctorAgentGrpo,
  'doctor-agent-notebook': doctorAgentNotebook,
  'takestwo-doctor': takestwoDoctor,
  'takestwo-patient': takestwoPatient,
  'doctoragent-match': doctoragentMatch,
  'doctoragent-patient': doctoragentPatient,
  'doctoragent-judge': doctoragentJudge,
  diagagent,
  'diagagent-paper': diagagentPaper,
  'grpodx-readme': grpodxReadme,
  'grpodx-head': grpodxHead,
} as const satisfies Record<string, (options: NamedRewardOptions & { parity?: boolean }) => Reward>

type PublishedName = keyof typeof published
/** The name of a registered reward. */
export type RewardName = keyof typeof own | PublishedName | `${PublishedName}-parity`

type RewardFactory = (options: NamedRewardOptions) => Reward

const factories: ReadonlyMap<string, RewardFactory> = new Map<string, RewardFactory>([
  ...Object.entries(own),
  ...Object.entries(published).flatMap(([name, make]): [string, RewardFactory][] => [
    [name, make],
    [`${name}-parity`, (options) => make({ ...options, parity: true })],
  ]),
])

/** The names `namedReward` knows, in the order `rewards list` prints them. */
// The keys of the two tables, as the type says.
export const rewardNames = [...factories.keys()] as readonly RewardName[]

/** Whole rewards to train on and to audit: this package's three presets, and both forms of each published system. */
export const presetNames: readonly RewardName[] = rewardNames.filter(
  (name) =>
    ['default', 'safety-first', 'efficiency'].includes(name) ||
    Object.keys(published).includes(name.replace(/-parity$/, '')),
)

/** Hint for an unknown reward name: the similar names, or all of them. */
export function suggestRewardNames(name: string, others: readonly string[] = []): string {
  const near = suggestNames(name, [...rewardNames, ...others]).map((known) => `\`${known}\``)
  return near.length > 0
    ? `did you mean ${near.join(' or ')}? \`bedside rewards list\` names all ${rewardNames.length}`
    : `there are ${[...rewardNames, ...others].join(', ')}`
}

/** Whether a text names a registered reward, with options or without: `NAME` or `NAME:OPTION=VALUE,…`. */
export const isNamedReward = (text: string): boolean => factories.has(text.split(':')[0] ?? '')

/**
 * A reward for which an episode that never began is unavailable, as nobody did anything that could be paid, and so is
 * what reads a fact that is not known.
 */
function ofKnownFacts(reward: Reward): Reward {
  // Not async: it would cost another promise for each of thousands of scores a second.
  const run = (episode: Episode, truth: GraderView, context?: RewardContext): Promise<Score> => {
    if (episode.turns.length > 0) return reward(guardUnread(episode), truth, context)
    const reason = `episode ${episode.id} has no turn: it never began`
    return Promise.resolve(partScore(reward.rewardName, unavailable(reason)))
  }
  return Object.assign(run, reward)
}

/**
 * Makes the reward registered under a name, which may carry options (`doctor-agent-ppo:threshold=0.4`,
 * `named-options.ts`); its `rewardName`, `bounds` and `source` describe it. An episode without a turn is unavailable.
 * @throws Fault `bad-input` for an unknown name, with the similar names, and for an option that it does not have
 */
export function namedReward(text: string, options: NamedRewardOptions = {}): Reward {
  const named = readNamedReward(text, (name) => factories.has(name))
  const make = named && factories.get(named.name)
  if (!make)
    throw new Fault(
      'bad-input',
      `Expected the name of a reward, got \`${text}\`; ${suggestRewardNames(text)}`,
    )
  // The written options are those of this reward, each read as its kind.
  return ofKnownFacts(make({ ...options, ...(named.options as Partial<NamedRewardOptions>) }))
}
