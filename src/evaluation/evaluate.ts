/** Evaluates an agent on a task in one call. */
import type { AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import { Fault } from '../error.js'
import type { PlayedCase } from './play-cases.js'
import { playCases } from './play-cases.js'
import type { Evaluation, EvaluationLabels, ReferenceTask } from './report.js'
import { buildEvaluation, evaluateReferences } from './report.js'

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
  const { seed = 0, concurrency = 8, signal, onPlayed } = options
  const shared = { cases, seed, concurrency, signal }
  const played = await playCases({
    ...{ ...shared, makeEnv, agent, agentName, measures },
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
    ...{ agent: agentName, tier, lang, split, seed, rewardBounds: measures.reward.bounds },
    ...(references ? { references: await evaluateReferences(task, shared) } : {}),
  })
}
