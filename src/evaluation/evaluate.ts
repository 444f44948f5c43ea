/** Evaluates an agent on a task in one call. */
import type { AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import type { PlayedCase } from './play-cases.js'
import { playCases } from './play-cases.js'
import type { Evaluation, Labels, ReferenceTask } from './report.js'
import { evaluationOf, referencesOf } from './report.js'

/** What an evaluation needs of a task; what `task()` makes has all of it. */
export interface EvaluationTask extends ReferenceTask {
  readonly language: string
  readonly tier: string
}

export interface EvaluateOptions {
  /** @default the task's held-out cases */
  readonly cases?: readonly Case[]
  /** Names the split of `cases` in the report. @default 'heldout' */
  readonly split?: Labels['split']
  /** @default 'agent' */
  readonly agentName?: string
  /** The run's seed: patients' noise, agents' draws and the bootstrap. @default 0 */
  readonly seed?: number
  /** Episodes under way at once. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each case of the agent, in completion order; not for the references. */
  readonly onPlayed?: (played: PlayedCase) => void
  /** Plays the floor, the ceiling and the bound on the same cases; their numbers are null without. @default true */
  readonly references?: boolean
}

/**
 * Plays an agent over a task's held-out cases, then the floor, the ceiling and the bound on the same cases and seeds.
 * Gives the report that `bedside evaluate --json` prints. A case whose world failed is counted, never scored.
 */
export async function evaluate(
  task: EvaluationTask,
  agent: AnyAgent,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const { makeEnv, measures, heldOut, tier, language: lang } = task
  const { cases = heldOut, split = 'heldout', agentName = 'agent', references = true } = options
  const { seed = 0, concurrency = 8, signal, onPlayed } = options
  const shared = { cases, seed, concurrency, signal }
  const played = await playCases({
    ...{ ...shared, makeEnv, agent, agentName, measures },
    ...(onPlayed ? { onPlayed } : {}),
  })
  return evaluationOf(played, {
    ...{ agent: agentName, tier, lang, split, seed, rewardBounds: measures.reward.bounds },
    ...(references ? { references: await referencesOf(task, shared) } : {}),
  })
}
