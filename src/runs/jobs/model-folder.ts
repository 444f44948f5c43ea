/** The folder of a job's model: what of it must be there before a trainer is started. */
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Fault, rethrowAsFault } from '../../error.js'

/** Weights in one file, or the list of several files of them; a trainer may write the configuration alone. */
const weightFiles = ['model.safetensors', 'pytorch_model.bin']
const weightLists = ['model.safetensors.index.json', 'pytorch_model.bin.index.json']

/** A list of several weight files: the file of each tensor. */
const WeightList = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

/** How a model comes into a folder, where it is not there. */
const howToGet = (model: string): string =>
  `download the model there, as by \`hf download NAME --local-dir ${model}\`, or make a small one by \`npx bedside sidecar tiny-model RECIPE --out ${model}\``

/** Whether a folder has weights, or a list of them. */
export const hasWeights = (folder: string): boolean =>
  [...weightFiles, ...weightLists].some((name) => existsSync(join(folder, name)))

/**
 * Checks that a model's weights are there: a trainer would look for them after its GPUs are taken.
 * @throws Fault `bad-input` for a folder without weights, or without one of the files that its list names
 */
export async function assertWeights(model: string): Promise<void> {
  if (weightFiles.some((name) => existsSync(join(model, name)))) return
  const list = weightLists.map((name) => join(model, name)).find((path) => existsSync(path))
  if (list === undefined)
    throw new Fault(
      'bad-input',
      `policy.model: expected weights (${[...weightFiles, ...weightLists].join(', ')}) in \`${model}\`, got ${readdirSync(model).sort().join(', ')}; ${howToGet(model)}`,
    )
  const { weight_map: files } = await rethrowAsFault('bad-input', list, async () =>
    WeightList.parse(JSON.parse(await readFile(list, 'utf8'))),
  )
  const missing = [...new Set(Object.values(files))].filter(
    (name) => !existsSync(join(model, name)),
  )
  if (missing.length > 0)
    throw new Fault(
      'bad-input',
      `policy.model: expected every file of weights that ${list} names, got none of ${missing.sort().join(', ')}; ${howToGet(model)}`,
    )
}

/** The context window that a model folder says. @throws Fault `bad-input` for a folder without a model's configuration */
export async function modelContext(model: string): Promise<number | undefined> {
  const path = join(model, 'config.json')
  if (!existsSync(path))
    throw new Fault(
      'bad-input',
      `policy.model: expected a folder with config.json, tokenizer.json and a chat template, got \`${model}\`; ${howToGet(model)}`,
    )
  const config: unknown = await rethrowAsFault('bad-input', path, async () =>
    JSON.parse(await readFile(path, 'utf8')),
  )
  const known = Object(config).max_position_embeddings
  return typeof known === 'number' ? known : undefined
}
