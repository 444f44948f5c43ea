/** A judge against a labelled set: accuracy, agreement, Cohen's kappa and the confusion table. */
import { Fault, isEpisodeFault } from '../error.js'
import { mapStream } from '../platform/concurrency.js'
import { askJudge } from '../rewards/judges/ask-judge.js'
import type { Judge, JudgeRequest } from '../rewards/judges/judge.js'
import { resampleSeed, uniformInt } from '../seed.js'
import { type Estimate, estimate, intervalAtBound, unitBounds } from './bootstrap.js'

/** A task whose answers are few enough to be labelled. */
export type LabelledTask = 'same-diagnosis' | 'similarity' | 'count-matched'

/** A request with the right answer: `Correct` or `Wrong`, or an integer. */
export interface LabelledRequest {
  readonly request: Extract<JudgeRequest, { readonly task: LabelledTask }>
  readonly label: string
}

/** Agreement beyond chance. */
export interface Kappa {
  /** Null where chance alone agrees always. */
  readonly value: number | null
  readonly ci95: Estimate['ci95']
  /** Answers that it is computed of. */
  readonly n: number
}

/** What a judge made of the requests of one label. */
export interface LabelCheck {
  readonly n: number
  /** Share of its answers that are the label; null without an answer. */
  readonly agreement: number | null
  readonly unavailable: number
}

/** Result of {@link checkJudge}. */
export interface JudgeCheck {
  readonly judge: string
  readonly n: number
  /** Share of all requests that were answered with the label. */
  readonly accuracy: Estimate
  /** Share of the answers that are the label. */
  readonly agreement: Estimate
  readonly kappa: Kappa
  /** Kappa with quadratic weights, where all labels are numbers: near is worth more than far. */
  readonly weightedKappa?: Kappa
  /** Requests without an answer, for any reason. */
  readonly unavailable: number
  /** Of them, those whose replies could not be read. */
  readonly unreadable: number
  readonly byLabel: Readonly<Record<string, LabelCheck>>
  /** Number of answers by label and answer. */
  readonly confusion: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The first reason for a missing answer. */
  readonly trouble?: string
}

/** Options of {@link checkJudge}. */
export interface JudgeCheckOptions {
  /** Requests asked at once. @default 8 */
  readonly concurrency?: number
  /** How often an unreadable reply is asked for, at most. @default 2 */
  readonly asks?: number
  /** Of the bootstrap intervals. @default 0 */
  readonly seed?: number
  readonly signal?: AbortSignal
  /** Called after each request. */
  readonly onChecked?: (done: number) => void
}

interface Answered {
  readonly label: string
  /** Undefined where there is none. */
  readonly answer: string | undefined
  readonly reason?: string
  readonly unreadable?: boolean
}

/** Disagreement of two answers, 0 to 1. */
type Distance = (label: string, answer: string) => number

const unequal: Distance = (label, answer) => (label === answer ? 0 : 1)
const squared: Distance = (label, answer) => (Number(label) - Number(answer)) ** 2

/** Number of pairs by one of their members. */
function countBy(pairs: readonly Pair[], of: keyof Pair): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const pair of pairs) counts.set(pair[of], (counts.get(pair[of]) ?? 0) + 1)
  return counts
}

/** Observed and expected disagreement per pair, and the largest there can be. */
function disagreement(pairs: readonly Pair[], distance: Distance) {
  let observed = 0
  for (const { label, answer } of pairs) observed += distance(label, answer)
  let [expected, most] = [0, 0]
  const answers = countBy(pairs, 'answer')
  for (const [label, labelled] of countBy(pairs, 'label'))
    for (const [answer, given] of answers) {
      expected += labelled * given * distance(label, answer)
      most = Math.max(most, distance(label, answer))
    }
  const n = pairs.length
  return { observed: observed / n, expected: expected / n ** 2, most }
}

/** 1 − observed / expected disagreement; NaN where none is expected. */
function kappaOf(pairs: readonly Pair[], distance: Distance): number {
  const { observed, expected } = disagreement(pairs, distance)
  return expected > 0 ? 1 - observed / expected : Number.NaN
}

interface Pair {
  readonly label: string
  readonly answer: string
}

const resamples = 1000

/** The interval of a kappa of 1, by Wilson's of the agreement: all resamples would give 1, and claim certainty. */
function perfectInterval(pairs: readonly Pair[], distance: Distance): Kappa['ci95'] {
  const { expected, most } = disagreement(pairs, distance)
  const [low] = intervalAtBound([1, 1], pairs.length, unitBounds) ?? [1]
  return [Math.max(-1, 1 - ((1 - low) * most) / expected), 1]
}

/** Kappa with its percentile bootstrap over the answers; resamples without a kappa are left out. */
function estimateKappa(pairs: readonly Pair[], distance: Distance, seed: number): Kappa {
  const value = kappaOf(pairs, distance)
  if (Number.isNaN(value)) return { value: null, ci95: null, n: pairs.length }
  if (value === 1) return { value, ci95: perfectInterval(pairs, distance), n: pairs.length }
  const values = Array.from({ length: resamples }, (_, r) => {
    const stream = resampleSeed(seed, r)
    return kappaOf(
      pairs.map((_pair, i) => pairs[uniformInt(pairs.length, stream, i)] as Pair), // within the list
      distance,
    )
  })
    .filter((one) => !Number.isNaN(one))
    .sort((a, b) => a - b)
  const at = (p: number): number =>
    values[Math.min(values.length - 1, Math.floor(p * values.length))]!
  return { value, ci95: values.length > 0 ? [at(0.025), at(0.975)] : null, n: pairs.length }
}

async function answer(
  judge: Judge,
  { request, label }: LabelledRequest,
  { asks, signal }: JudgeCheckOptions,
): Promise<Answered> {
  try {
    const given = await askJudge(judge, request, { signal }, asks === undefined ? {} : { asks })
    return {
      label,
      answer: typeof given === 'boolean' ? (given ? 'Correct' : 'Wrong') : String(given),
    }
  } catch (error) {
    if (signal?.aborted || !isEpisodeFault(error)) throw error
    const unreadable = error.code === 'model-unreadable'
    return { label, answer: undefined, reason: error.message, unreadable }
  }
}

/** Labels in order: numbers by value, words as they come first. */
const sortLabels = (labels: Iterable<string>): string[] =>
  [...new Set(labels)].sort((a, b) => Number(a) - Number(b) || 0)

const isAnswered = ({ answer: given }: Answered): boolean => given !== undefined
const isRight = ({ label, answer: given }: Answered): number => (given === label ? 1 : 0)

function checkLabel(own: readonly Answered[]): LabelCheck {
  const answered = own.filter(isAnswered)
  const hits = answered.reduce((sum, one) => sum + isRight(one), 0)
  return {
    n: own.length,
    agreement: answered.length > 0 ? hits / answered.length : null,
    unavailable: own.length - answered.length,
  }
}

/** Counts the answers by label and answer; every row has every answer. */
function confusionOf(labels: readonly string[], pairs: readonly Pair[]): JudgeCheck['confusion'] {
  const answers = sortLabels([...labels, ...pairs.map(({ answer: given }) => given)])
  const table: Record<string, Record<string, number>> = {}
  for (const label of labels) table[label] = Object.fromEntries(answers.map((given) => [given, 0]))
  for (const { label, answer: given } of pairs) {
    const row = table[label]
    if (row) row[given] = (row[given] ?? 0) + 1
  }
  return table
}

function summarize(judge: string, all: readonly Answered[], seed: number): JudgeCheck {
  const pairs = all.flatMap(({ label, answer: given }) =>
    given === undefined ? [] : [{ label, answer: given }],
  )
  const labels = sortLabels(all.map(({ label }) => label))
  const numeric = labels.every((label) => /^\d+$/.test(label))
  const missing = all.filter((one) => !isAnswered(one))
  const trouble = missing[0]?.reason
  return {
    judge,
    n: all.length,
    accuracy: estimate(all.map(isRight), seed),
    agreement: estimate(all.filter(isAnswered).map(isRight), seed),
    kappa: estimateKappa(pairs, unequal, seed),
    ...(numeric ? { weightedKappa: estimateKappa(pairs, squared, seed) } : {}),
    unavailable: missing.length,
    unreadable: missing.filter(({ unreadable }) => unreadable).length,
    byLabel: Object.fromEntries(
      labels.map((label) => [label, checkLabel(all.filter((one) => one.label === label))]),
    ),
    confusion: confusionOf(labels, pairs),
    ...(trouble === undefined ? {} : { trouble }),
  }
}

/**
 * Asks a judge every labelled request and compares its answers with the labels. A request without an answer counts as
 * wrong for the accuracy, and is left out of agreement, kappa and confusion; it is never an answer.
 * @throws Fault `bad-input` for an empty set; whatever ends a whole run
 */
export async function checkJudge(
  judge: Judge,
  requests: AsyncIterable<LabelledRequest>,
  options: JudgeCheckOptions = {},
): Promise<JudgeCheck> {
  const { concurrency = 8, seed = 0, signal, onChecked = () => {} } = options
  const all: Answered[] = []
  const answered = mapStream(requests, concurrency, async (one) => {
    signal?.throwIfAborted()
    return answer(judge, one, options)
  })
  for await (const one of answered) onChecked(all.push(one))
  if (all.length === 0) throw new Fault('bad-input', 'Expected labelled requests, found none')
  return summarize(judge.judgeName, all, seed)
}
