/**
 * The numbers of a job: what its trainer says of its steps, and what the server recorded of its consultations, as lines
 * of `metrics.jsonl` and as played cases.
 */
import { z } from 'zod'
import type { Case } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { PlayedCase } from '../../evaluation/play-cases.js'
import type { HeldOutMetrics, StepMetrics } from '../../trainers/events.js'
import type { MetricsLine } from '../open-directory.js'
import { noCounts } from '../report.js'

const Mean = z
  .number()
  .nullish()
  .transform((value) => value ?? null)
const Counts = z.record(z.string(), z.number())

/** What a plugin says of a step; further keys are kept. */
const StepLine = z.looseObject({
  type: z.literal('step').default('step'),
  step: z.int().min(0),
  reward: Mean,
  accuracy: Mean,
  turns: Mean,
  groups: z.looseObject({ reasons: Counts.optional() }).optional(),
  samples: Counts.optional(),
  update: z.record(z.string(), z.unknown()).optional(),
  seconds: z.number().optional(),
})
type StepLine = z.infer<typeof StepLine>

/** A consultation that the server recorded, as far as it is read here. */
const Recorded = z.looseObject({
  split: z.enum(['train', 'heldout']),
  index: z.int(),
  version: z.int(),
  scores: z.record(z.string(), z.looseObject({ total: z.number().nullable() })),
})

/** A recorded consultation. */
export type Recorded = z.infer<typeof Recorded>

/** Reads JSON lines of a schema, without those that are none: one may be half written. */
function linesOf<T>(text: string, schema: z.ZodType<T>): T[] {
  return text.split('\n').flatMap((line) => {
    try {
      const read = schema.safeParse(JSON.parse(line))
      return read.success ? [read.data] : []
    } catch {
      return []
    }
  })
}

/** The consultations of a record. */
export const readRecord = (text: string): readonly Recorded[] => linesOf(text, Recorded)

/** A trainer that goes on from a checkpoint says its steps again: the later word holds, and none after it. */
export function readSteps(text: string): readonly StepLine[] {
  const steps: StepLine[] = []
  for (const line of linesOf(text, StepLine)) {
    while ((steps.at(-1)?.step ?? -1) >= line.step) steps.pop()
    steps.push(line)
  }
  return steps
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const totals = (recorded: readonly Recorded[], measure: string): readonly number[] =>
  recorded.flatMap(({ scores }) => scores[measure]?.total ?? [])

/** The version of the weights before the first step: trainers begin to count at 0 or 1. */
const firstVersion = (record: readonly Recorded[]): number =>
  record.reduce((least, { version }) => Math.min(least, version), Number.POSITIVE_INFINITY)

/** Recorded consultations of a split by the number of steps that their policy had learned. */
function bySteps(record: readonly Recorded[], split: Recorded['split']) {
  const first = firstVersion(record)
  const found = new Map<number, Recorded[]>()
  for (const one of record)
    if (one.split === split) {
      const step = one.version - first
      found.set(step, [...(found.get(step) ?? []), one])
    }
  return found
}

/** Held-out consultations by step; of a case that was played again, the last. */
export function validations(record: readonly Recorded[]): ReadonlyMap<number, readonly Recorded[]> {
  const found = [...bySteps(record, 'heldout')].map(([step, all]): [number, Recorded[]] => [
    step,
    [...new Map(all.map((one) => [one.index, one])).values()].sort((a, b) => a.index - b.index),
  ])
  return new Map(found.sort(([a], [b]) => a - b))
}

/** The lines of `metrics.jsonl`. */
export function metricsLines(
  steps: readonly StepLine[],
  record: readonly Recorded[],
  all: number,
): readonly MetricsLine[] {
  const trained = bySteps(record, 'train')
  const stepLines = steps.map((line): MetricsLine => {
    // What is played at a step is played by the policy of the step before.
    const played = trained.get(line.step - 1) ?? []
    const { groups, samples, update, reward, accuracy, turns, seconds = 0 } = line
    const counted = {
      groups: { ...noCounts.groups, ...groups },
      samples: { ...noCounts.samples, ...samples },
    } as Pick<StepMetrics, 'groups' | 'samples'> // counts by the names of our own loops
    return {
      ...{ type: 'step', step: line.step, steps: all, policyVersion: line.step },
      reward: reward ?? mean(totals(played, 'reward')),
      accuracy: accuracy ?? mean(totals(played, 'accuracy')),
      ...{ turns, ...counted, seconds },
      ...(update ? { update: update as unknown as NonNullable<StepMetrics['update']> } : {}), // as the trainer names them
    }
  })
  const heldOut = [...validations(record)].map(([step, played]): MetricsLine => {
    const scores = {
      reward: mean(totals(played, 'reward')),
      accuracy: mean(totals(played, 'accuracy')),
    }
    return { type: 'held-out', step, ...scores, seconds: secondsAt(steps, step) } satisfies {
      type: 'held-out'
    } & HeldOutMetrics
  })
  return [...stepLines, ...heldOut].sort((a, b) => a.step - b.step || (a.type === 'step' ? -1 : 1))
}

const secondsAt = (steps: readonly StepLine[], step: number): number =>
  steps.findLast((line) => line.step <= step)?.seconds ?? 0

/** Held-out consultations as played cases, those that were not recorded as lost. */
export const playedCases = (
  recorded: readonly Recorded[],
  cases: readonly Case[],
): readonly PlayedCase[] =>
  recorded.flatMap((one): PlayedCase[] => {
    const truth = cases[one.index]
    const { scores, episode } = one
    // As the server wrote them.
    return truth ? [{ truth, scores, episode: episode as Episode } as unknown as PlayedCase] : []
  })
