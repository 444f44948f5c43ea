/** Recipe of a training run: the schema and the YAML reader. A recipe is strict and serialisable. */
import { type Document, isScalar, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { Fault } from '../error.js'
import { tierNames } from '../knowledge/tiers.js'
import { firstLines } from '../platform/bounded-list.js'
import { maxSeed } from '../seed.js'
import { expectedPart, isModule, type PartKind } from '../tasks/modules.js'
import { partNames } from '../tasks/parts.js'
import { publishedEnvNames } from '../tasks/published.js'
import { Cluster, isJobBackend, jobBackends, layJobSections } from './jobs/cluster.js'
import { jobProblems } from './jobs/problems.js'
import {
  Models,
  mayBeKey,
  modelPath,
  modelProblems,
  renameModelKeys,
} from './models/recipe-models.js'
import { backendNames } from './own-backends.js'
import { type PartKey, pathFrom, recipePaths } from './recipe-paths.js'
import { Policy } from './recipe-policy.js'
import { Prepare, prepareProblems } from './recipe-prepare.js'
import { layPreset, presetKeys } from './recipe-preset.js'
import {
  idleProblems,
  type RecipeProblem,
  recipeProblems,
  removeIdleKeys,
  valueAt,
} from './recipe-problems.js'
import { Count, isRecord, Training, type TrainingInput } from './recipe-training.js'

/** Names of the parts that a program can pass to `train`. */
export const ownPartNames = ['env', 'patient', 'exams', 'reward', 'agents', 'backend'] as const
/** Name of a part that a program can pass to `train`. */
export type OwnPartName = (typeof ownPartNames)[number]

const turnsExpected = 'expected a whole number from 1, or the least and the most of a range'

const TurnRange = z.tuple([Count, Count]).refine(([least, most]) => least <= most)

/** A stage of a curriculum: another tier, shorter consultations, or both, for `steps` steps. */
const Stage = z
  .strictObject({
    tier: z.enum(tierNames).exactOptional(),
    /** Most actions of a consultation; 1 is the diagnosis alone, from the complaint. */
    maxTurns: Count.exactOptional(),
    steps: Count,
  })
  .refine(({ tier, maxTurns }) => tier !== undefined || maxTurns !== undefined, {
    error: 'expected `tier` or `maxTurns`, which make the stage another task, got neither',
  })

const Seed = z.number().int().min(0).max(maxSeed)

/** Whether an unchecked recipe has no section that its backend does not read. */
const isRead = (fields: unknown, key: 'policy' | 'cluster', backends: readonly string[]): boolean =>
  !isRecord(fields) || fields[key] === undefined || backends.includes(String(fields.backend))

/** How a section is refused under a backend that does not read it. */
const notRead = (key: string, backends: readonly string[]) => ({
  path: [key],
  error: ({ input }: { readonly input?: unknown }) =>
    `has no effect under backend \`${isRecord(input) ? input.backend : input}\` (it belongs to ${backends.join(', ')})`,
  // Reported even when other keys are invalid.
  when: () => true,
})

const modelBackends = ['sidecar', ...jobBackends]

const Fields = z
  .strictObject({
    recipe: z.string().min(1).default('custom'),
    seed: Seed.default(0),
    language: z.enum(['zh', 'en']).default('en'),
    cases: z
      .strictObject({
        /** A case file (JSONL); without one, cases are generated. */
        file: z.string().optional(),
        tier: z.enum(tierNames).default('easy'),
        /** Easier stages to train on first; held-out cases are always of `tier`, with `env.maxTurns`. */
        curriculum: z.array(Stage).default([]),
        /** Disease groups to keep; all by default. */
        clinic: z.array(z.string()).optional(),
        /** Share of a file's cases that training never sees. */
        heldOutShare: z.number().gt(0).lt(1).default(0.2),
        /** Seed of a file's split; `seed` changes who plays, not who is held out. */
        splitSeed: Seed.default(0),
        /** Whether the share is met exactly; `false` in runs of earlier versions, which held out each case by chance. */
        exactSplit: z.boolean().default(true),
        /** Held-out cases of the final evaluation. */
        heldOut: Count.default(400),
      })
      .prefault({}),
    env: z
      .strictObject({
        /** `question`: one question, one answer, for cases of a file. */
        name: z.enum(['consultation', 'question']).default('consultation'),
        /** A published environment; it gives every key of `env`, and the reward, that is not written here. */
        preset: z.enum(publishedEnvNames).optional(),
        /** Budgets; the tier's own by default. Of turns also a range, from which each patient's number is drawn. */
        maxTurns: z.union([Count, TurnRange], { error: turnsExpected }).optional(),
        money: z.number().min(0).optional(),
        minutes: z.number().positive().optional(),
        /** Patient, a name or a module; by default chosen to fit the cases. */
        patient: z.string().optional(),
        /** Exam simulators, names and modules, asked until one has a result. */
        exams: z.array(z.string()).min(1).optional(),
      })
      .prefault({}),
    /** Language models of the roles, with prices, budget and cassette. */
    models: Models.optional(),
    /** A reward's name, or a module that exports `reward`. */
    reward: z.string().default('default'),
    /** Backend: `embedded`, `sidecar`, a registered name, or a module that exports `backend`. */
    backend: z.string().default('embedded'),
    /** Language model of the backends that train one. */
    policy: Policy.optional(),
    /** Where and how `slime` or `verl` runs. */
    cluster: Cluster.optional(),
    training: Training,
    /** How `bedside train` makes files of the recipe that are missing. */
    prepare: Prepare.optional(),
    /** Whether to print, when training is done, one case played before and after training. */
    showConsultations: z.boolean().default(false),
    /** Checkpoint to start from; also the reference policy of a KL penalty. */
    init: z.string().optional(),
    /** Parts that a program passed to `train`; required again on resume. Written by the run. */
    own: z.array(z.enum(ownPartNames)).optional(),
    /** Files that the run reads, with their hashes; the same are required on resume. Written by the run. */
    inputs: z.array(z.strictObject({ file: z.string(), sha256: z.string() })).optional(),
  })
  .refine((fields) => isRead(fields, 'policy', modelBackends), notRead('policy', modelBackends))
  .refine((fields) => isRead(fields, 'cluster', jobBackends), notRead('cluster', jobBackends))

/** A recipe in another published environment, whose reward it then has. @throws Fault `bad-input` for an unknown name */
export function withPreset(recipe: Recipe, name: string): Recipe {
  const { env, reward } = presetKeys(name)
  const { patient } = recipe.env
  const kept = patient === undefined ? {} : { patient }
  return Recipe.parse({ ...recipe, reward, env: { ...env, ...kept } })
}

/** Schema of a recipe; `policy` is filled in for the sidecar backend. */
export const Recipe = z.preprocess((raw) => {
  const laid = layPreset(raw)
  if (!isRecord(laid)) return laid
  if (isJobBackend(laid.backend)) return layJobSections(laid)
  return laid.backend === 'sidecar' && laid.policy === undefined ? { ...laid, policy: {} } : laid
}, Fields)
/** Checked recipe, with defaults filled in. */
export type Recipe = z.infer<typeof Recipe>

/** Recipe as written: keys with a default are optional. */
export type RecipeInput = Omit<z.input<typeof Fields>, 'training'> & { training?: TrainingInput }

/** Gives a recipe of an earlier version its own split of a file: by `seed`, each case by chance. */
function addSplitSeed(raw: unknown): unknown {
  if (!isRecord(raw) || !isRecord(raw.cases)) return raw
  if (raw.cases.file === undefined || 'splitSeed' in raw.cases) return raw
  return { ...raw, cases: { ...raw.cases, splitSeed: raw.seed ?? 0, exactSplit: false } }
}

/**
 * Schema of a stored recipe. Earlier versions stored every key, including those without effect under the recipe's
 * algorithm, loss or backend; such keys are dropped. They split a file by `seed`; such a recipe keeps its split.
 */
export const StoredRecipe = z.preprocess((raw) => {
  const { policy, ...known } = isRecord(raw) ? raw : {}
  const trains = isRecord(raw) && (raw.backend === 'sidecar' || isJobBackend(raw.backend))
  const idle = isRecord(raw) && !trains && policy !== undefined
  return removeIdleKeys(Fields, addSplitSeed(idle ? known : raw))
}, Recipe)

type RecipeSchema = typeof Recipe | typeof StoredRecipe

/** A recipe that has every section, with nothing written in it. */
const allDefaults = () => Recipe.parse({ backend: 'sidecar', training: { algorithm: 'sft' } })

const namedPart = (kind: PartKind, key: PartKey, name: string | undefined, ...index: number[]) =>
  name === undefined ? [] : [{ kind, key, path: [...key.split('.'), ...index], name }]

/** Every part that a recipe names, by a name or a module, with its kind and its key. */
export const namedParts = ({ reward, env, backend, training }: Recipe) => [
  ...namedPart('reward', 'reward', reward),
  ...namedPart('patient', 'env.patient', env.patient),
  ...(env.exams ?? []).flatMap((exams, i) => namedPart('exams', 'env.exams', exams, i)),
  ...namedPart('backend', 'backend', backend),
  ...(training.algorithm === 'sft'
    ? namedPart('agent', 'training.sft.agent', training.sft.agent)
    : []),
]

/** Finds unknown part names. @param agents that a program gives; where nobody can say yet, agents pass */
const partProblems = (recipe: Recipe, agents?: readonly string[]): readonly RecipeProblem[] =>
  namedParts(recipe).flatMap(({ kind, path, name }) => {
    const own = kind === 'agent' ? agents : []
    const chat = kind === 'agent' ? ['chat'] : []
    const names = [
      ...(kind === 'backend' ? backendNames() : partNames(kind)),
      ...chat,
      ...(own ?? []),
    ]
    if (!own || isModule(name) || names.includes(name)) return []
    return [{ path, expected: expectedPart(kind, name, names) }]
  })

/** Parses an unchecked recipe. @throws Fault `bad-input` listing the problems, each with its place */
function checkRecipe(
  raw: unknown,
  placeOf: (path: readonly (string | number)[]) => string,
  { schema = Recipe, agents }: { schema?: RecipeSchema; agents?: readonly string[] },
): Recipe {
  const parsed = schema.safeParse(raw)
  // Names in a stored recipe may be registered later, or never be needed.
  if (parsed.success && schema === StoredRecipe) return parsed.data
  const problems = parsed.success
    ? [
        ...partProblems(parsed.data, agents),
        ...modelProblems(parsed.data),
        ...idleProblems(parsed.data, allDefaults()),
        ...jobProblems(parsed.data, allDefaults()),
        ...prepareProblems(parsed.data),
      ]
    : recipeProblems(Fields, parsed.error, raw)
  if (parsed.success && problems.length === 0) return parsed.data
  const lines = problems.map(({ path, expected }) => {
    const got = mayBeKey(path) ? '[hidden]' : JSON.stringify(valueAt(raw, path))
    return `${placeOf(path)}: ${path.join('.') || 'recipe'}: ${expected}, got \`${got}\``
  })
  throw new Fault('bad-input', firstLines(lines).join('\n'))
}

/** Makes a document's paths relative to the shell's folder; each keeps its line. */
function resolvePaths(document: Document, folder: string): void {
  for (const { at, file } of recipePaths(document.toJS())) {
    const node = document.getIn(at, true)
    if (isScalar(node)) node.value = pathFrom(folder, file)
  }
}

/** Options of `parseRecipe`. */
interface ParseOptions {
  /** `StoredRecipe` for the recipe in a run directory. @default `Recipe` */
  readonly schema?: RecipeSchema
  /** What relative paths in the text are relative to; those of overrides never are. @default the shell's folder */
  readonly folder?: string
}

/**
 * Reads a recipe from YAML text.
 * @param source file name for messages
 * @param overrides `path=value` assignments, the value in YAML
 * @throws Fault `bad-input` naming file, line, path, and what was expected
 */
export function parseRecipe(
  text: string,
  source: string,
  overrides: readonly string[] = [],
  { schema = Recipe, folder }: ParseOptions = {},
): Recipe {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true })
  const wrong = document.errors[0] ?? document.warnings[0]
  if (wrong) throw new Fault('bad-input', `${source}: ${wrong.message}`)
  renameModelKeys(document)
  if (folder !== undefined) resolvePaths(document, folder)
  for (const override of overrides) {
    const at = override.indexOf('=')
    if (at < 1) throw new Fault('bad-input', `--set: expected path=value, got \`${override}\``)
    const value = parseDocument(override.slice(at + 1))
    if (value.errors[0])
      throw new Fault('bad-input', `--set ${override}: ${value.errors[0].message}`)
    document.setIn(modelPath(override.slice(0, at).split('.')), value.toJS())
  }
  // A value from `--set` may hold keys of its own.
  renameModelKeys(document)
  const raw: unknown = document.toJS() ?? {}
  const placeOf = (path: readonly (string | number)[]) => {
    // A value from `--set` has no line.
    const node = document.getIn(path, true) as { range?: number[] } | undefined
    return `${source}${node?.range ? `:${lines.linePos(node.range[0] ?? 0).line}` : ''}`
  }
  return checkRecipe(raw, placeOf, { schema })
}

/**
 * Checks a recipe that a program wrote and fills in its defaults.
 * @param agents names of the agents that the program gives beside it
 * @throws Fault `bad-input` naming path, what was expected and what was received
 */
export const resolveRecipe = (recipe: RecipeInput, agents: readonly string[] = []): Recipe =>
  checkRecipe(recipe, () => 'the recipe', { agents })
