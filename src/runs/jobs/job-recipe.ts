/** A recipe that runs as a job: its sections are all there, and what must be looked up is known. */
import { join } from 'node:path'
import { Fault } from '../../error.js'
import type { Recipe } from '../recipe.js'
import type { GrpoTraining } from '../recipe-training.js'
import { type Cluster, isJobBackend, type JobBackend } from './cluster.js'

/** A setting of a trainer: a number, a word, a switch that is set, or several words. */
export type Setting = string | number | boolean | readonly string[]

/** Settings of a trainer by name, in the order in which they are written. */
export type Settings = Readonly<Record<string, Setting>>

/** A recipe that runs as a job. */
export interface JobRecipe {
  readonly backend: JobBackend
  readonly recipe: Recipe
  readonly training: GrpoTraining
  readonly cluster: Cluster
  readonly policy: NonNullable<Recipe['policy']>
  /** Folder of the model, absolute. */
  readonly model: string
}

/** What rendering needs beside a recipe. */
export interface JobLimits {
  /** The run directory, absolute. */
  readonly out: string
  /** Context window of the model in tokens. */
  readonly contextLength: number
  /** Tokens of the longest first prompt. */
  readonly promptLength: number
  /** Most actions of a consultation. */
  readonly maxTurns: number
  /** Held-out cases of one validation: no more than there are. */
  readonly validated: number
}

/** Folder of the trainer's checkpoints. */
export const trainerCheckpoints = (out: string): string => join(out, 'checkpoints', 'trainer')

/**
 * Views a recipe as that of a job.
 * @param model its model folder, absolute
 * @throws Fault `bad-input` without a model
 */
export function jobRecipe(recipe: Recipe, resolve: (path: string) => string): JobRecipe {
  const { backend, training, cluster, policy } = recipe
  if (!isJobBackend(backend) || training.algorithm !== 'grpo' || !cluster || !policy)
    throw new TypeError(`Expected the recipe of a job, got backend \`${backend}\``)
  if (policy.model === undefined)
    throw new Fault(
      'bad-input',
      `policy.model: expected a model folder for the ${backend} backend (\`bedside sidecar tiny-model\` makes a small one), got none`,
    )
  return { backend, recipe, training, cluster, policy, model: resolve(policy.model) }
}
