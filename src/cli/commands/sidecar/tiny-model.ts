/** `bedside sidecar tiny-model`: makes a small untrained language model for a recipe. */
import { withoutUndefined } from '../../../platform/without-undefined.js'
import { readRecipe } from '../../../runs/directory.js'
import { parseRecipe } from '../../../runs/recipe.js'
import { readSavedEpisodes } from '../../../storage/episode-files.js'
import { output, type PrintFlags, type Terminal } from '../../print/output.js'
import { findInterpreter, makeTinyModel, type TinyModelShape } from './make-tiny-model.js'

interface TinyModelFlags extends PrintFlags, TinyModelShape {
  readonly out: string
  readonly set?: readonly string[]
  readonly seed?: number
  /** File of saved episodes to learn the tokenizer from as well. */
  readonly episodes?: string
  /** Consultations to learn the tokenizer from. */
  readonly consultations?: number
  /** Folder of the Python environment. */
  readonly env?: string
  /** Interpreter in place of an environment. */
  readonly python?: string
}

/** Reads the texts of both sides from saved episodes. */
export async function* readTexts(path: string): AsyncGenerator<string> {
  for await (const { episode } of readSavedEpisodes(path)) {
    const { complaint } = episode.intake
    yield* Object.values(complaint).filter((text) => text !== undefined)
    for (const { text } of episode.turns) if (text !== undefined) yield text
  }
}

/** Makes the model folder and prints its number of parameters. */
export async function runTinyModelCommand(
  file: string | undefined,
  flags: TinyModelFlags,
  terminal: Terminal,
): Promise<number> {
  const { out: folder, set = [], seed, episodes, consultations, env, ...rest } = flags
  const { json: _, quiet: __, python: given, ...shape } = rest
  const out = output(terminal, flags)
  const recipe =
    file === undefined ? parseRecipe('', 'the default recipe', set) : await readRecipe(file, set)
  await out.note(`words from the oracle's consultations of ${recipe.recipe}; then the tokenizer`)
  const python =
    given ??
    (await findInterpreter('peft', { env: terminal.env, ...withoutUndefined({ folder: env }) }))
  const made = await makeTinyModel({
    ...{ recipe, out: folder, shape, signal: terminal.signal },
    ...withoutUndefined({ cases: consultations, seed, python }),
    ...(episodes === undefined ? {} : { texts: readTexts(episodes) }),
  })
  const thousands = Math.round(made.parameters / 1000)
  return out.show(`${made.out}: ${thousands} thousand parameters, random weights`, made)
}
