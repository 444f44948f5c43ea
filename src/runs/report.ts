/** Summary of a training run: report, best evaluation, early-stopping state. */
import type { Backend } from '../backend.js'
import type { Evaluation } from '../evaluation/evaluate.js'
import type { HeldOutMetrics, StepMetrics } from '../trainers/events.js'
import type { RunDirectory } from './directory.js'
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
  /** The evaluation with the highest held-out accuracy, and its checkpoint. */
  readonly best: { readonly step: number; readonly accuracy: number; readonly checkpoint: string }
  readonly timing: { readonly seconds: number }
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

/** The last step in the metrics; the recipe's `steps` where none is logged. */
export const lastStep = (directory: RunDirectory, recipe: Recipe): number =>
  directory.metrics.reduce((last, { step }) => Math.max(last, step), 0) || recipe.training.steps

/** Sums the counts of the steps' metrics. */
function sumStepMetrics(steps: readonly StepMetrics[]): Pick<TrainingReport, 'groups' | 'samples'> {
  const sum = (of: (line: StepMetrics) => number): number =>
    steps.reduce((total, line) => total + of(line), 0)
  return {
    groups: {
      drawn: sum(({ groups }) => groups.drawn),
      formed: sum(({ groups }) => groups.formed),
      zeroVariance: sum(({ groups }) => groups.zeroVariance),
      dropped: sum(({ groups }) => groups.dropped),
      reasons: {
        lost: sum(({ groups }) => groups.reasons.lost),
        stale: sum(({ groups }) => groups.reasons.stale),
        singleton: sum(({ groups }) => groups.reasons.singleton),
        tooFewScored: sum(({ groups }) => groups.reasons.tooFewScored),
      },
    },
    samples: {
      used: sum(({ samples }) => samples.used),
      stale: sum(({ samples }) => samples.stale),
      unavailable: sum(({ samples }) => samples.unavailable),
      forks: sum(({ samples }) => samples.forks),
    },
  }
}

/** Builds the report of a finished run. */
export function trainingReport({
  recipe,
  backend,
  directory,
  heldOut,
  before,
  seconds,
}: {
  readonly recipe: Recipe
  readonly backend: Backend
  readonly directory: RunDirectory
  readonly heldOut: Evaluation
  readonly before: Evaluation
  readonly seconds: () => number
}): TrainingReport {
  return {
    backend: backend.name,
    recipe: recipe.recipe,
    seed: recipe.seed,
    steps: lastStep(directory, recipe),
    policyVersion: backend.policyVersion,
    heldOut,
    before,
    ...sumStepMetrics(directory.metrics.filter((line) => line.type === 'step')),
    checkpoint: directory.checkpoint(lastStep(directory, recipe)),
    best: { step: 0, accuracy: 0, ...bestEvaluation(directory), checkpoint: directory.best },
    timing: { seconds: seconds() },
  }
}
