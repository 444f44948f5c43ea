/** A small language model made here: a tokenizer of a world's own words, and random weights. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { formatAction, labelled } from '../../agents/grammars/labelled.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Recipe } from '../../runs/recipe.js'
import { taskOf } from '../../runs/task-of-recipe.js'
import type { Task } from '../../tasks/task.js'
import { fromAgent } from '../../trainers/rollouts/demonstrations.js'
import { findPython, pythonPackage } from '../../trainers/sidecar/environment.js'
import { runProgram } from '../../trainers/sidecar/program.js'

/** The model's sizes; what is not given is the script's own. */
export interface TinyModelShape {
  readonly vocab?: number
  readonly layers?: number
  readonly width?: number
  /** Of the feed-forward layers. @default 3 widths */
  readonly hidden?: number
  readonly heads?: number
  readonly kvHeads?: number
  /** Tokens of a conversation at most. */
  readonly context?: number
  /** The standard deviation of the weights; a LoRA on tied embeddings learns from 0.12 on. */
  readonly initRange?: number
  /** An output layer of its own. */
  readonly untied?: boolean
  /** How far merges of letters reach: to the word's end, or across words. */
  readonly pieces?: 'words' | 'phrases'
}

export interface TinyModelOptions {
  /** Whose world the words are taken from: cases, language, rules of play. */
  readonly recipe: Recipe
  /** A folder that is not there yet, or empty. */
  readonly out: string
  /** Consultations that words are taken from. @default 400 */
  readonly cases?: number
  /** More texts to learn words from. @default none */
  readonly texts?: Iterable<string> | AsyncIterable<string>
  readonly shape?: TinyModelShape
  /** Of the weights. @default the recipe's */
  readonly seed?: number
  /** The interpreter, with `numpy`, `tokenizers` and `safetensors`. @default the sidecar environment's */
  readonly python?: string
  readonly signal?: AbortSignal
}

/** A model folder that was made. */
export interface TinyModel {
  readonly out: string
  readonly parameters: number
}

/** Everything both sides say in a consultation, as a language model would read it. */
function textsOf({ intake, turns, maxTurns, spent, budget, language }: Episode): string[] {
  const turnsLeft = maxTurns - turns.length
  const seen = { intake, turns, turnsLeft, spent, budget, language }
  return labelled({ rules: 'brief' })
    .render(seen)
    .map(({ content }) => content)
}

/** Every action there is, the rules in full, and every name of the knowledge base where cases come from one. */
function namesOf({ actionSpace, maxTurns }: Task, { language, cases }: Recipe): string[] {
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
 * The texts a tokenizer of a recipe's world is learnt from: consultations of its strongest doctor over training
 * cases, and twice every name, so that each word of them is worth a merge.
 */
export async function* tinyCorpus({
  recipe,
  cases = 400,
  signal,
}: Pick<TinyModelOptions, 'recipe' | 'cases' | 'signal'>): AsyncGenerator<string> {
  const task = await taskOf(recipe)
  const { agent, name } = task.ceiling
  const { kept } = await fromAgent({
    ...{ agent, agentName: name, cases: task.train(cases), makeEnv: task.makeEnv },
    ...{ seed: recipe.seed, signal },
  })
  for (const { episode } of kept) yield* textsOf(episode)
  const names = namesOf(task, recipe)
  yield* names
  yield* names
}

/** Writes texts as lines of `{"text"}`. */
async function writeCorpus(path: string, ...sources: readonly TinyModelOptions['texts'][]) {
  const file = createWriteStream(path)
  for (const source of sources)
    for await (const text of source ?? [])
      if (!file.write(`${JSON.stringify({ text })}\n`)) await once(file, 'drain')
  file.end()
  await finished(file)
}

function flagsOf({ untied = false, ...sizes }: TinyModelShape): string[] {
  const given = Object.entries(sizes).filter(([, value]) => value !== undefined)
  const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const flags = given.flatMap(([name, value]) => [`--${dashed(name)}`, String(value)])
  return untied ? [...flags, '--untied'] : flags
}

/** The interpreter of the sidecar's environment. @throws Fault `bad-input` saying how to get one */
async function interpreter(): Promise<string> {
  const found = await findPython('peft')
  if (found.found) return found.python
  throw new Fault('bad-input', found.reason)
}

/**
 * Makes a model folder: a tokenizer learnt from a recipe's world, a chat template that only appends, and random
 * weights of a Qwen3 of at most 5 million parameters. The same recipe, sizes and seed make the same bytes.
 * @throws Fault `bad-input` where there is no Python, the folder has something in it, or the sizes do not fit
 */
export async function makeTinyModel(options: TinyModelOptions): Promise<TinyModel> {
  const { recipe, shape = {}, seed = recipe.seed, signal } = options
  const python = options.python ?? (await interpreter())
  const folder = await mkdtemp(join(tmpdir(), 'bedside-tiny-'))
  try {
    const corpus = join(folder, 'corpus.jsonl')
    await writeCorpus(corpus, tinyCorpus(options), options.texts)
    const out = resolve(options.out)
    const script = ['-m', 'bedside_trainers.tiny_model', '--corpus', corpus, '--out', out]
    const { code, lines } = await runProgram(
      python,
      [...script, '--seed', String(seed), ...flagsOf(shape)],
      {
        env: { ...process.env, PYTHONPATH: pythonPackage() },
        ...(signal ? { signal } : {}),
      },
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
