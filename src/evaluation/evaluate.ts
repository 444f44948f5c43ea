/** Evaluates an agent on a task, and reports the floor, ceiling and bound of each score, in the shape of `evaluate --json`. */
import type { Agent, AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import type { RoleUsage } from '../chat.js'
import { modelFaultKind } from '../chats/model-fault.js'
import type { Env } from '../env.js'
import { countSpeech, type SpeechCounts } from '../episode.js'
import { Fault } from '../error.js'
import { type Estimate, unitBounds, type ValueBounds } from './bootstrap.js'
import { type PassAt, passAt } from './by-case.js'
import { type Measures, type PlayedCase, playCases } from './play-cases.js'
import {
  type CeilingInformation,
  gainsByCase,
  type InformationGain,
  questionEfficiency,
} from './question-efficiency.js'
import type { Anchor, EvaluationSummary, ReferenceAnchor } from './summary.js'
import { noAnchor, normalised, regret, summarise, toAnchor } from './summary.js'

/** Measures that need the knowledge base behind the cases. */
export interface Yardstick {
  /** Makes the full-information doctor, which is given every finding of the case it plays. */
  readonly bound: () => AnyAgent
  readonly informationGain: InformationGain
}

/** Bayes bound: accuracy of the full-information doctor. No doctor can do better. */
export interface AccuracyBound {
  readonly accuracy: number | null
}

/** Floor (random doctor), ceiling (strongest oracle) and bound on the same cases, seeds and budgets. */
export interface References {
  readonly floor: ReferenceAnchor
  readonly ceiling: ReferenceAnchor
  /** @default none: there is no knowledge base behind the cases */
  readonly bound?: AccuracyBound
  readonly information?: CeilingInformation
}

/** Labels of an evaluation: who was evaluated, on which cases, with which seed. */
export interface EvaluationLabels {
  readonly agent: string
  readonly tier: string
  readonly lang: string
  readonly split: 'train' | 'heldout' | 'all'
  readonly seed: number
}

/** Evaluation report, as `bedside evaluate --json` prints it. */
export interface Evaluation extends EvaluationLabels, EvaluationSummary {
  /** Consultations of each case, and pass@k by k; absent where each case was played once. */
  readonly repeats?: number
  readonly passAt?: Readonly<Record<string, PassAt>>
  readonly floor: ReferenceAnchor
  readonly ceiling: ReferenceAnchor
  readonly bound: AccuracyBound
  /** Ceiling minus mean. */
  readonly regret: Anchor
  /** (mean - floor) / (ceiling - floor). */
  readonly normalised: Anchor
  /**
   * Information gained on the diagnosis, as a ratio to the ceiling's gain after the same number of turns; null if it
   * cannot be computed.
   */
  readonly questionEfficiency: Estimate
  readonly usage: Readonly<Record<string, RoleUsage>>
  /** Cases lost to faults of the world, by kind (of a model's fault) or code; absent where none was lost. */
  readonly faults?: Readonly<Record<string, number>>
  /** Replies of a patient that a model plays; absent for any other. */
  readonly patient?: SpeechCounts
  /** What repeats of a case were not promised, in sentences; absent where there is nothing to say. */
  readonly notes?: readonly string[]
}

/** Members of a task that its references need. */
export interface ReferenceTask {
  readonly heldOut: readonly Case[]
  readonly makeEnv: () => Env
  /** Env of floor, ceiling and bound, with the same facts at less cost. @default `makeEnv` */
  readonly makeReferenceEnv?: () => Env
  readonly measures: Measures
  readonly floor: Agent
  readonly ceiling: { readonly name: string; readonly agent: Agent }
  readonly yardstick?: Yardstick
}

/** Plays the floor, the ceiling and, if the task has one, the bound on `cases`, by default the held-out cases. */
export async function evaluateReferences(
  {
    heldOut,
    makeEnv: makeOwnEnv,
    makeReferenceEnv: makeEnv = makeOwnEnv,
    measures,
    floor,
    ceiling,
    yardstick,
  }: ReferenceTask,
  {
    seed = 0,
    cases = heldOut,
    concurrency = 8,
    signal,
    onPlayed,
  }: Pick<EvaluateOptions, 'seed' | 'cases' | 'concurrency' | 'signal' | 'onPlayed'> = {},
): Promise<References> {
  const playReference = (agent: AnyAgent, agentName: string) =>
    playCases({
      ...{ cases, makeEnv, agent, agentName, measures, seed, concurrency, signal },
      ...(onPlayed ? { onPlayed } : {}),
    })
  const anchor = (all: readonly PlayedCase[]): ReferenceAnchor =>
    toAnchor(summarise(all, seed, measures.reward.bounds))
  const lowest = await playReference(floor, 'random')
  const highest = await playReference(ceiling.agent, ceiling.name)
  const anchors = { floor: anchor(lowest), ceiling: anchor(highest) }
  if (!yardstick) return anchors
  const all = await playReference(yardstick.bound(), 'full information')
  return {
    ...anchors,
    bound: { accuracy: anchor(all).accuracy },
    information: {
      gain: yardstick.informationGain,
      ceilingGains: gainsByCase(highest, yardstick.informationGain),
    },
  }
}

/** How often one of several consultations of a case was right. */
function repeated(
  played: readonly PlayedCase[],
  repeats: number,
  seed: number,
): Pick<Evaluation, 'repeats' | 'passAt'> {
  if (repeats === 1) return {}
  const accuracies = played.flatMap(({ truth, scores }) => {
    const value = scores?.accuracy.total ?? null
    return value === null ? [] : [{ truth, value }]
  })
  return { repeats, passAt: passAt(accuracies, repeats, seed) }
}

function countFaults(played: readonly PlayedCase[]): Pick<Evaluation, 'faults'> {
  const faults: Record<string, number> = {}
  for (const { fault } of played) {
    if (!fault) continue
    const kind = modelFaultKind(fault) ?? fault.code
    faults[kind] = (faults[kind] ?? 0) + 1
  }
  return Object.keys(faults).length === 0 ? {} : { faults }
}

/** What a report tells beside what was played. */
interface Surroundings extends EvaluationLabels {
  readonly references?: References
  readonly usage?: Readonly<Record<string, RoleUsage>>
  /** Bounds of the measure `reward`. @default [0, 1] */
  readonly rewardBounds?: ValueBounds
  /** Consultations of each case. @default 1 */
  readonly repeats?: number
  readonly notes?: readonly string[]
}

/** Builds the report of played cases; without `references`, all numbers that need them are null. */
export function buildEvaluation(
  played: readonly PlayedCase[],
  {
    references,
    usage = {},
    rewardBounds = unitBounds,
    repeats = 1,
    notes = [],
    ...labels
  }: Surroundings,
): Evaluation {
  const { floor = noAnchor, ceiling = noAnchor, bound = { accuracy: null } } = references ?? {}
  const summary = summarise(played, labels.seed, rewardBounds)
  const patient = countSpeech(played.flatMap(({ episode }) => episode ?? []))
  const { accuracy, reward } = summary
  return {
    ...{ ...labels, ...summary, ...repeated(played, repeats, labels.seed) },
    ...{ floor, ceiling, bound },
    regret: {
      accuracy: regret(accuracy.mean, ceiling.accuracy),
      reward: regret(reward.mean, ceiling.reward),
    },
    normalised: {
      accuracy: normalised(accuracy.mean, floor.accuracy, ceiling.accuracy),
      reward: normalised(reward.mean, floor.reward, ceiling.reward),
    },
    questionEfficiency: questionEfficiency(played, references?.information, labels.seed),
    usage,
    ...countFaults(played),
    ...(patient ? { patient } : {}),
    ...(repeats > 1 && notes.length > 0 ? { notes } : {}),
  }
}

/** Members of a task that an evaluation needs; a task made by `task()` has them all. */
export interface EvaluationTask extends ReferenceTask {
  readonly language: string
  readonly tier: string
}

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /** @default the task's held-out cases */
  readonly cases?: readonly Case[]
  /** Split of `cases`, for the report. @default 'heldout' */
  readonly split?: EvaluationLabels['split']
  /** @default 'agent' */
  readonly agentName?: string
  /** Run seed: patients' noise, agents' draws and the bootstrap. @default 0 */
  readonly seed?: number
  /** Consultations of each case with the agent, for pass@k; references play each once. @default 1 */
  readonly repeats?: number
  /** Episodes under way at once. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each case of the agent, in completion order; not for the references. */
  readonly onPlayed?: (played: PlayedCase) => void
  /** Also plays floor, ceiling and bound on the same cases; if false, their numbers are null. @default true */
  readonly references?: boolean
}

/**
 * Evaluates an agent on a task's held-out cases, then the floor, the ceiling and the bound on the same cases and seeds.
 * Returns the report of `bedside evaluate --json`, but for its `usage` of chat models and its `timing`. A case whose
 * world failed is counted, never scored.
 * @throws Fault the first one, if no case at all could be played
 */
export async function evaluate(
  task: EvaluationTask,
  agent: AnyAgent,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const { makeEnv, measures, heldOut, tier, language: lang } = task
  const { cases = heldOut, split = 'heldout', agentName = 'agent', references = true } = options
  const { seed = 0, repeats = 1, concurrency = 8, signal, onPlayed } = options
  const shared = { cases, seed, concurrency, signal }
  const played = await playCases({
    ...{ ...shared, repeats, makeEnv, agent, agentName, measures },
    ...(onPlayed ? { onPlayed } : {}),
  })
  const fault = played.find((one) => one.fault)?.fault
  if (fault && !played.some(({ episode }) => episode))
    throw new Fault(
      fault.code,
      `${agentName}: none of ${played.length} consultations could be played: ${fault.message}`,
      { cause: fault },
    )
  return buildEvaluation(played, {
    ...{ agent: agentName, tier, lang, split, seed, repeats, rewardBounds: measures.reward.bounds },
    ...(references ? { references: await evaluateReferences(task, shared) } : {}),
  })
}
