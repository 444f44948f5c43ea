/** Makes a small untrained language model: a tokenizer learnt from a recipe's consultations, random weights. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { formatAction, labelled } from '../../../agents/grammars/labelled.js'
import type { Episode } from '../../../episode.js'
import { Fault } from '../../../error.js'
import { loadKnowledge } from '../../../knowledge/load.js'
import { withoutUndefined } from '../../../platform/without-undefined.js'
import type { Recipe } from '../../../runs/recipe.js'
import { taskOf } from '../../../runs/task-of-recipe.js'
import type { Task } from '../../../tasks/task.js'
import { playDemonstrations } from '../../../trainers/rollouts/demonstrations.js'
import { findPython, pythonPackage } from '../../../trainers/sidecar/environment.js'
import { runProgram } from '../../../trainers/sidecar/program.js'

/** Sizes of the model; the Python script has the defaults. */
export interface TinyModelShape {
  /** Tokens of the vocabulary. */
  readonly vocab?: number
  readonly layers?: number
  /** Width of the hidden states. */
  readonly width?: number
  /** Width of the feed-forward layers. @default 3 * width */
  readonly hidden?: number
  readonly heads?: number
  readonly kvHeads?: number
  /** Context length in tokens. */
  readonly context?: number
  /** Standard deviation of the weights; a LoRA on tied embeddings needs at least 0.12 to learn. */
  readonly initRange?: number
  /** Output layer separate from the embeddings. */
  readonly untied?: boolean
  /** Whether tokens stay within words or may span several. */
  readonly pieces?: 'words' | 'phrases'
}

/** Options of {@link makeTinyModel}. */
export interface TinyModelOptions {
  /** Recipe whose cases, language and rules of play give the consultations. */
  readonly recipe: Recipe
  /** The model folder; must be missing or empty. */
  readonly out: string
  /** Consultations to learn the tokenizer from. @default 400 */
  readonly cases?: number
  /** Further texts to learn the tokenizer from. @default none */
  readonly texts?: Iterable<string> | AsyncIterable<string>
  readonly shape?: TinyModelShape
  /** Seed of the weights. @default the recipe's */
  readonly seed?: number
  /** The interpreter, with `numpy`, `tokenizers` and `safetensors`. @default the sidecar environment's */
  readonly python?: string
  readonly signal?: AbortSignal
}

/** A finished model folder. */
export interface TinyModel {
  readonly out: string
  readonly parameters: number
}

/** Renders an episode as the messages that a language model would read. */
function renderTexts({ intake, turns, maxTurns, spent, budget, language }: Episode): string[] {
  const turnsLeft = maxTurns - turns.length
  const seen = { intake, turns, turnsLeft, spent, budget, language }
  return labelled({ rules: 'brief' })
    .render(seen)
    .map(({ content }) => content)
}

/** The full rules, every action, and for generated cases every name in the knowledge base. */
function vocabularyTexts({ actionSpace, maxTurns }: Task, { language, cases }: Recipe): string[] {
  const { diseases, exams, findings } = loadKnowledge()
  const named = cases.file === undefined ? [...diseases, ...exams, ...findings] : []
  const intake = { view: 'doctor', demographics: { speaker: 'self' }, complaint: {} } as const
  const [money, minutes] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const nothing = { turns: [], spent: { money: 0, minutes: 0 }, budget: { money, minutes } }
  return [
    ...labelled()
      .render({ intake, ...nothing, turnsLeft: maxTurns, language })
      .map(({ content }) => content),
    ...actionSpace.actions.map((action) => formatAction(action, language)),
    ...named.flatMap(({ name }) => name[language] ?? []),
  ]
}

/**
 * Training texts of the tokenizer: consultations of the recipe's ceiling agent over training cases, then every name
 * twice, so that each word is frequent enough for a merge.
 */
export async function* tinyCorpus({
  recipe,
  cases = 400,
  signal,
}: Pick<TinyModelOptions, 'recipe' | 'cases' | 'signal'>): AsyncGenerator<string> {
  const task = await taskOf(recipe)
  const { agent, name } = task.ceiling
  const { kept } = await playDemonstrations({
    ...{ agent, agentName: name, cases: task.train(cases), makeEnv: task.makeEnv },
    ...{ seed: recipe.seed, signal },
  })
  for (const { episode } of kept) yield* renderTexts(episode)
  const names = vocabularyTexts(task, recipe)
  yield* names
  yield* names
}

/** Writes texts as JSONL, one `{"text": …}` per line. */
async function writeCorpus(path: string, ...sources: readonly TinyModelOptions['texts'][]) {
  const file = createWriteStream(path)
  for (const source of sources)
    for await (const text of source ?? [])
      if (!file.write(`${JSON.stringify({ text })}\n`)) await once(file, 'drain')
  file.end()
  await finished(file)
}

function shapeFlags({ untied = false, ...sizes }: TinyModelShape): string[] {
  const given = Object.entries(sizes).filter(([, value]) => value !== undefined)
  const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const flags = given.flatMap(([name, value]) => [`--${dashed(name)}`, String(value)])
  return untied ? [...flags, '--untied'] : flags
}

/** The interpreter of an engine's environment. @throws Fault `bad-input` that says how to set one up */
export async function findInterpreter(...place: Parameters<typeof findPython>): Promise<string> {
  const found = await findPython(...place)
  if (found.found) return found.python
  throw new Fault('bad-input', found.reason)
}

/**
 * Makes a model folder: a tokenizer, a chat template that renders append-only, and random weights of a Qwen3 with at
 * most 50 million parameters. The same recipe, sizes and seed give the same bytes.
 * @throws Fault `bad-input` when there is no Python, the folder is not empty, or the sizes do not fit
 */
export async function makeTinyModel(options: TinyModelOptions): Promise<TinyModel> {
  const { recipe, shape = {}, seed = recipe.seed, signal } = options
  const python = options.python ?? (await findInterpreter('peft'))
  const folder = await mkdtemp(join(tmpdir(), 'bedside-tiny-'))
  try {
    const corpus = join(folder, 'corpus.jsonl')
    await writeCorpus(corpus, tinyCorpus(options), options.texts)
    const out = resolve(options.out)
    const script = ['-m', 'bedside_trainers.tiny_model', '--corpus', corpus, '--out', out]
    const { code, lines } = await runProgram(
      python,
      [...script, '--seed', String(seed), ...shapeFlags(shape)],
      { env: { ...process.env, PYTHONPATH: pythonPackage() }, ...withoutUndefined({ signal }) },
    )
    signal?.throwIfAborted()
    const last = lines.at(-1) ?? ''
    if (code !== 0) throw new Fault('bad-input', last || `${python}: ended with ${code}`)
    const { parameters } = JSON.parse(last) as { parameters: number } // as the script prints it
    return { out, parameters }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
