/** The end of a run by a job: its checkpoint, its report and its curves. */
import { join, resolve } from 'node:path'
import { buildEvaluation, type Evaluation, evaluateReferences } from '../../evaluation/evaluate.js'
import type { PlayedCase } from '../../evaluation/play-cases.js'
import { writeFileAtomically, writeFolderAtomically } from '../../storage/atomic-write.js'
import { drawCurves } from '../curves.js'
import { type TrainingReport, trainingReport } from '../report.js'
import type { TrainingResult } from '../train.js'
import { trainerCheckpoints } from './job-recipe.js'
import { type JobRun, jobFilesIn, textOf } from './job-run.js'
import { playedCases, readRecord, validations } from './metrics.js'
import { hasWeights } from './model-folder.js'

/** Where a trainer left the weights of its last step, as far as they are in the form of Hugging Face. */
function trainedModel({ options, job }: JobRun): string | undefined {
  const kept = trainerCheckpoints(resolve(options.out))
  const { steps } = job.training
  const places = [
    join(kept, 'model'),
    join(kept, 'hf', String(steps - 1)),
    join(kept, `global_step_${steps}`, 'actor', 'huggingface'),
  ]
  return places.find(hasWeights)
}

/** Marks the run as done by a checkpoint that says where the weights are. */
async function saveCheckpoint(run: JobRun): Promise<string> {
  const { directory, job, options } = run
  const folder = directory.checkpoint(job.training.steps)
  const model = trainedModel(run) ?? null
  await writeFolderAtomically(folder, (fresh) =>
    writeFileAtomically(
      join(fresh, 'job.json'),
      `${JSON.stringify({ format: 'bedside-job/1', backend: job.backend, model, trainer: trainerCheckpoints(resolve(options.out)) })}\n`,
    ),
  )
  return folder
}

/** Builds report and curves of a run that is done. */
export async function finishJob(run: JobRun, seconds: number): Promise<TrainingResult> {
  const { job, task, directory, options } = run
  const { recipe } = job
  const references = await evaluateReferences(task, { seed: recipe.seed, signal: options.signal })
  const found = [...validations(readRecord(await textOf(jobFilesIn(options.out).record))).values()]
  const evaluate = (played: readonly PlayedCase[]): Evaluation =>
    buildEvaluation(played, {
      ...{ agent: job.backend, tier: task.tier, lang: task.language, split: 'heldout' },
      ...{ seed: recipe.seed, references, rewardBounds: task.measures.reward.bounds },
    })
  const before = playedCases(found[0] ?? [], task.heldOut)
  const after = playedCases(found.at(-1) ?? [], task.heldOut)
  const checkpoint = await saveCheckpoint(run)
  const { steps } = job.training
  const made = trainingReport(recipe, { name: nameOf(run), policyVersion: steps }, directory, {
    ...{ heldOut: evaluate(after), before: evaluate(before), seconds },
    notes: notesOf(run, found.length),
  })
  const accuracy = made.heldOut.accuracy.mean
  const report: TrainingReport = {
    ...made,
    checkpoint,
    best: { step: steps, accuracy, checkpoint },
  }
  await directory.writeReport(report)
  await drawCurves(
    {
      steps: directory.metrics.filter((line) => line.type === 'step'),
      heldOut: directory.metrics.filter((line) => line.type === 'held-out'),
    },
    {
      floor: { name: 'random', ...references.floor },
      ceiling: { name: task.ceiling.name, ...references.ceiling },
      title: `${recipe.recipe}, ${nameOf(run)}, seed ${recipe.seed}`,
      out: options.out,
    },
  )
  return { report, before, after, task }
}

/** Name of what trained, in every output. */
const nameOf = ({ job, options }: JobRun): string =>
  options.standIn === undefined ? job.backend : `${job.backend} stand-in`

function notesOf({ job, options }: JobRun, count: number): readonly string[] {
  const { standIn } = options
  return [
    ...(standIn === undefined
      ? []
      : [
          `a stand-in on a CPU trained in the place of ${job.backend}: its plugin and its loss functions are real, its engines are not`,
        ]),
    "held-out scores are those of the trainer's validation, whose cases nothing was chosen by",
    ...(count < 2 ? [`${count} validations were recorded, where before and after want two`] : []),
  ]
}
