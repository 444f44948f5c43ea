/** Summary of a training run: report, best evaluation, early-stopping state. */
import type { Backend } from '../backend.js'
import type { UsageByRole } from '../chats/account.js'
import { addSpeech, type SpeechCounts } from '../episode.js'
import type { Evaluation } from '../evaluation/evaluate.js'
import type { HeldOutMetrics, StepMetrics } from '../trainers/events.js'
import type { RunDirectory } from './open-directory.js'
import type { Recipe } from './recipe.js'

/** Report of a finished training run, stored as `report.json`. */
export interface TrainingReport {
  readonly backend: string
  readonly recipe: string
  readonly seed: number
  readonly steps: number
  readonly policyVersion: number
  readonly heldOut: Evaluation
  readonly before: Evaluation
  /** Group and sample counts, summed over the steps. */
  readonly groups: StepMetrics['groups']
  readonly samples: StepMetrics['samples']
  readonly checkpoint: string
  /** The evaluation with the highest accuracy on the selection cases, and its checkpoint; the last one where none could be scored. */
  readonly best: {
    readonly step: number
    readonly accuracy: number | null
    readonly checkpoint: string
  }
  readonly timing: { readonly seconds: number }
  /** What the language models of patient, examiner and judge used, by role; absent where there were none. */
  readonly usage?: UsageByRole
  /** Replies of a patient that a model plays, over all steps; absent for any other. */
  readonly patient?: SpeechCounts
  /** What did not hold on the backend's machine or with its models, in sentences; absent where all did. */
  readonly notes?: readonly string[]
}

const heldOutLines = ({ metrics }: RunDirectory): readonly HeldOutMetrics[] =>
  metrics.filter((line) => line.type === 'held-out')

/** The evaluation with the highest accuracy so far; the earliest of ties. */
export function bestEvaluation(
  directory: RunDirectory,
): { step: number; accuracy: number } | undefined {
  const scored = heldOutLines(directory).flatMap(({ step, accuracy }) =>
    accuracy === null ? [] : [{ step, accuracy }],
  )
  const [first, ...others] = scored
  return first && others.reduce((best, one) => (one.accuracy > best.accuracy ? one : best), first)
}

/** Whether the last `patience` evaluations improved accuracy by no more than `minGain` (early stopping). */
export function hasStalled(directory: RunDirectory, recipe: Recipe): boolean {
  const { earlyStop } = recipe.training
  const accuracies = heldOutLines(directory).map(({ accuracy }) => accuracy ?? 0)
  if (!earlyStop || accuracies.length <= earlyStop.patience) return false
  const before = Math.max(...accuracies.slice(0, -earlyStop.patience))
  const since = Math.max(...accuracies.slice(-earlyStop.patience))
  return since <= before + earlyStop.minGain
}

/** The last step in the metrics; `steps` where none is logged. */
export const lastStep = ({ metrics }: RunDirectory, steps: number): number =>
  metrics.reduce((last, { step }) => Math.max(last, step), 0) || steps

/** Counts of nothing. */
export const noCounts: Pick<TrainingReport, 'groups' | 'samples'> = {
  groups: {
    ...{ drawn: 0, formed: 0, zeroVariance: 0, dropped: 0 },
    reasons: { lost: 0, stale: 0, singleton: 0, tooFewScored: 0 },
  },
  samples: { used: 0, stale: 0, unavailable: 0, forks: 0 },
}

/** Sums two objects of counts, key by key of the first. */
const addCounts = <T extends object>(sum: T, counts: T): T =>
  Object.fromEntries(
    Object.entries(sum).map(([key, value]) => {
      const more: unknown = Reflect.get(counts, key)
      return [
        key,
        typeof value === 'number' ? value + Number(more) : addCounts(value, Object(more)),
      ]
    }),
  ) as T

/** Builds the report of a finished run. */
export function trainingReport(
  { recipe: name, seed, training }: Recipe,
  { name: backend, policyVersion }: Pick<Backend, 'name' | 'policyVersion'>,
  directory: RunDirectory,
  {
    heldOut,
    before,
    seconds,
    usage = {},
    notes = [],
  }: Pick<TrainingReport, 'heldOut' | 'before' | 'usage' | 'notes'> & { seconds: number },
): TrainingReport {
  const steps = lastStep(directory, training.steps)
  const checkpoint = directory.checkpoint(steps)
  const best = bestEvaluation(directory)
  const patient = addSpeech(
    directory.metrics.map((line) => (line.type === 'step' ? line.patient : undefined)),
  )
  return {
    ...{ backend, recipe: name, seed, steps, policyVersion, heldOut, before },
    ...directory.metrics
      .filter((line) => line.type === 'step')
      .reduce((sum, { groups, samples }) => addCounts(sum, { groups, samples }), noCounts),
    checkpoint,
    // Where no evaluation could be scored, none was kept as the best.
    best: best
      ? { ...best, checkpoint: directory.best }
      : { step: steps, accuracy: null, checkpoint },
    timing: { seconds },
    ...(Object.keys(usage).length > 0 && { usage }),
    ...(patient && { patient }),
    ...(notes.length > 0 && { notes }),
  }
}
