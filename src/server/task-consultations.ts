/**
 * The consultations of a training run: its task as its recipe has it, with patient, examinations, reward and grammar.
 * A client chooses who comes, and nothing else.
 */
import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Grammar } from '../agent.js'
import { type Case, graderView } from '../case.js'
import { type Env, ended, type Step } from '../env.js'
import { drawVersions, type Episode, findDraw } from '../episode.js'
import type { Reward, Score } from '../reward.js'
import { evaluationSeeds, maxSeed } from '../seed.js'
import type { Task } from '../tasks/task.js'
import type { SessionEnd } from '../trainers/tokens/token-session.js'
import type { Consultations } from './consultations.js'
import type { SessionOptions } from './options.js'
import { Refusal } from './refusal.js'

/** A finished consultation, as a line of the record. */
export interface RecordedConsultation {
  readonly split: 'train' | 'heldout'
  /** Number of the case in its split. */
  readonly index: number
  readonly seed: number
  /** The newest version of the policy that drew in it. */
  readonly version: number
  readonly turns: number
  readonly forks: number
  readonly scores: Readonly<Record<keyof Task['measures'], Score>>
  /** Of a held-out case alone. */
  readonly episode?: Episode
}

/** Options of {@link taskConsultations}. */
export interface TaskConsultationsOptions {
  readonly grammar: Grammar
  /** Seed of the run: keys the randomness of held-out consultations as in any evaluation. */
  readonly seed: number
  /** File that finished consultations are appended to. @default none */
  readonly record?: string | undefined
}

/** What a client may choose of a consultation whose recipe says the rest. */
const chosen: readonly string[] = ['seed', 'index', 'split']

/** Pays the reward with the last step. A scoring that fails is made again when the step is asked for again. */
const paid = (env: Env, reward: Reward, truth: Case): Env => ({
  reset: (start) => env.reset(start),
  async step(action, options) {
    const step: Step = await env.step(action, options)
    const { episode } = step.info
    if (!ended(step) || !episode) return step
    const { signal } = options ?? {}
    const score = await reward(episode, graderView(truth), { signal })
    return { ...step, reward: score.total ?? 0, info: { ...step.info, score } }
  },
  close: () => env.close(),
  [Symbol.asyncDispose]: () => env.close(),
})

/** The versions of the policy that drew. */
const versionsOf = ({ turns }: Episode): readonly number[] =>
  turns.flatMap((turn) => {
    const draw = findDraw(turn)
    return draw ? drawVersions(draw) : []
  })

/** Scores by which a consultation is recorded; the reward has been paid already. */
async function measured(
  { measures }: Task,
  { episode, score }: SessionEnd,
  truth: Case,
): Promise<RecordedConsultation['scores']> {
  const { accuracy, partialCredit, examF1, reward } = measures
  const by = (measure: Reward) => measure(episode, graderView(truth))
  return {
    reward: score ?? (await by(reward)),
    accuracy: await by(accuracy),
    partialCredit: await by(partialCredit),
    examF1: await by(examF1),
  }
}

/** The cases of a task by split and number. @throws Refusal for other options than those, or a number beyond */
function caseOf(task: Task, options: SessionOptions): { truth: Case; index: number } {
  const other = Object.keys(options).find((name) => !chosen.includes(name))
  if (other !== undefined)
    throw new Refusal(
      'bad-request',
      `Expected some of ${chosen.join(', ')}, since the server's recipe says the rest, got \`${other}\``,
    )
  const { seed = 0, index = seed, split = 'train' } = options
  const truth = split === 'train' ? task.caseAt(index) : task.heldOut[index]
  if (truth) return { truth, index }
  throw new Refusal(
    'bad-request',
    `Expected \`index\` below ${task.heldOut.length}, the held-out cases, got \`${index}\``,
  )
}

/** Opens the consultations of a task. */
export function taskConsultations(
  task: Task,
  { grammar, seed: runSeed, record }: TaskConsultationsOptions,
): Consultations {
  return {
    count: (split) => (split === 'train' ? maxSeed : task.heldOut.length),
    async open(options) {
      const { truth, index } = caseOf(task, options)
      const { split = 'train' } = options
      const seed =
        split === 'heldout' ? evaluationSeeds(runSeed, truth.id).envSeed : (options.seed ?? 0)
      const onEnd = async (end: SessionEnd): Promise<void> => {
        const { episode, forks } = end
        const scores = await measured(task, end, truth)
        const line: RecordedConsultation = {
          ...{ split, index, seed, version: Math.max(0, ...versionsOf(episode)) },
          ...{ turns: episode.turns.length, forks, scores },
          ...(split === 'heldout' ? { episode } : {}),
        }
        if (record === undefined) return
        await mkdir(dirname(record), { recursive: true })
        await appendFile(record, `${JSON.stringify(line)}\n`)
      }
      const env = paid(task.makeEnv(), task.reward, truth)
      return { env, truth, seed, grammar, ...(record === undefined ? {} : { onEnd }) }
    },
  }
}
