/** Opens the backend of a recipe (`backend`, `policy`), starting a sidecar server where one is needed. */

import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Grammar } from '../agent.js'
import { namedGrammar } from '../agents/grammars/named.js'
import type { Backend } from '../backend.js'
import { Fault } from '../error.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import { publishedEnvs } from '../tasks/published.js'
import type { Task } from '../tasks/task.js'
import { embedded } from '../trainers/embedded/embedded.js'
import type { TinkerService } from '../trainers/tinker/service.js'
import { checkBackend, type MakeBackend, openNamedBackend } from './own-backends.js'
import type { Recipe } from './recipe.js'
import type { LanguageModelPolicy } from './recipe-policy.js'

/** Options of `openBackend`. */
export interface OpenBackendOptions {
  /** Replaces the recipe's backend: an open backend, which its owner closes, or a factory. */
  readonly backend?: Backend | MakeBackend
  /** Parent folder of a started server's temporary files; they go into a subfolder. */
  readonly folder: string
  /** Receives one-line status messages during slow steps. */
  readonly onStatus?: (line: string) => void
  readonly signal?: AbortSignal | undefined
}

/** Grammar of a recipe's language model: the format of its replies. */
export const recipeGrammar = ({ policy }: Recipe): Grammar =>
  namedGrammar(policy?.grammar ?? 'labelled')

/** Grammar of a recipe's chat doctor: its own, or that of the published environment. */
export const doctorGrammar = (recipe: Recipe): Grammar => {
  const named = recipe.models?.doctor?.grammar
  const { preset } = recipe.env
  const usual = named ?? (preset && publishedEnvs[preset].grammar)
  return usual ? namedGrammar(usual) : recipeGrammar(recipe)
}

/** A running sidecar server; disposing it stops the process and removes its files. */
interface Server extends AsyncDisposable {
  readonly address: string
  readonly token: string
  /** Aborted with a Fault `backend-lost` when the process ends before it is closed. */
  readonly lost: AbortSignal
}

/** Runs `start` with a signal that follows `signal` only until the start is done. */
async function whileStarting<T>(
  signal: AbortSignal | undefined,
  start: (starting: AbortSignal) => Promise<T>,
): Promise<T> {
  const starting = new AbortController()
  const stop = () => starting.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await start(starting.signal)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Starts a sidecar with its files under `folder`; they are removed when it stops. */
async function startServer(
  model: string,
  { engine, dtype, device, threads }: LanguageModelPolicy,
  { folder, onStatus: tell = () => undefined, signal }: OpenBackendOptions,
): Promise<Server> {
  const { findPython } = await import('../trainers/sidecar/environment.js')
  const { startSidecar } = await import('../trainers/sidecar/process.js')
  const python = await findPython(engine)
  if (!python.found) throw new Fault('bad-input', `the sidecar (${engine}): ${python.reason}`)
  const state = join(folder, 'sidecar')
  const clear = async () => {
    await rm(state, { recursive: true, force: true })
    // Fails, and is left, where the folder holds anything else.
    await rmdir(folder).catch(() => undefined)
  }
  tell(`starting the sidecar (${engine}) with ${model}`)
  const options = { model, engine, state, dtype, device, python: python.python }
  // Ctrl-C aborts only the start: saving the last steps still needs the server.
  const server = await whileStarting(signal, (starting) =>
    startSidecar({ ...options, ...withoutUndefined({ threads }), signal: starting }),
  ).catch(async (error) => {
    await clear()
    throw error
  })
  tell(`the sidecar listens at ${server.address}`)
  return {
    address: server.address,
    token: server.token,
    lost: server.died,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await clear()
    },
  }
}

/** Runs `work`. Resources passed to `own` are closed when it fails, or together with its result. */
async function closeTogether<T extends AsyncDisposable>(
  work: (own: <R extends AsyncDisposable>(resource: R) => R) => Promise<T>,
): Promise<T> {
  const owned: AsyncDisposable[] = []
  const close = async () => {
    for (const one of owned.splice(0).reverse()) await one[Symbol.asyncDispose]()
  }
  try {
    const made = await work((resource) => {
      owned.push(resource)
      return resource
    })
    const last = made[Symbol.asyncDispose].bind(made)
    owned.push({ [Symbol.asyncDispose]: last })
    return Object.assign(made, { [Symbol.asyncDispose]: close })
  } catch (error) {
    await close()
    throw error
  }
}

/** Context length of the served model, in tokens. @throws Fault `bad-input` where the server does not report it */
function servedContextLength({ extensions, models }: TinkerService): number {
  const known = extensions?.model.contextLength ?? models[0]?.contextLength
  if (known !== undefined) return known
  throw new Fault(
    'bad-input',
    'policy.contextLength: expected the tokens that the model can hold, which this server does not say, got none',
  )
}

/** Connects to the server of a policy, or starts one. @throws Fault `bad-input` for a policy without a model folder */
const openSidecar = (recipe: Recipe, options: OpenBackendOptions): Promise<Backend> =>
  closeTogether(async (own) => {
    const { connectTinker } = await import('../trainers/tinker/service.js')
    const { openChatTokenizer } = await import('../trainers/tokens/chat-tokenizer.js')
    const { sidecar } = await import('../trainers/sidecar/sidecar.js')
    const { policy, seed } = recipe
    if (policy?.model === undefined)
      throw new Fault(
        'bad-input',
        'policy.model: expected a model folder for the sidecar backend (`bedside sidecar tiny-model` makes a small one), got none',
      )
    const { model: folder, url, profile, mode, rank, alpha, maxTokens, history } = policy
    const tokenizer = await openChatTokenizer(folder)
    const server = url === undefined ? own(await startServer(folder, policy, options)) : undefined
    const at = server
      ? { baseUrl: server.address, token: server.token, profile: 'bedside', signal: server.lost }
      : { baseUrl: url ?? '', profile }
    const service = own(await connectTinker(at))
    for (const note of service.extensions?.notes ?? []) options.onStatus?.(note)
    const contextLength = policy.contextLength ?? servedContextLength(service)
    const model = { mode, rank, alpha, seed }
    return sidecar({
      ...{ service, tokenizer, model, maxTokens, contextLength, history },
      grammar: recipeGrammar(recipe),
    })
  })

/** A run saves and loads checkpoints; a trainer that owns its process may keep them to itself. */
function assertOwnsCheckpoints({ name, capabilities: { owns } }: Backend): void {
  if (owns?.checkpoints === false || owns?.optimiser === false)
    throw new Fault(
      'bad-input',
      `backend: expected one that keeps its checkpoints and its optimiser, got \`${name}\`, whose trainer keeps them; use its sampler and learner in a loop (\`trainGrpo\`)`,
    )
}

/** A run's backend; disposing this closes what was opened for it. */
export interface OpenedBackend extends AsyncDisposable {
  readonly backend: Backend
}

/**
 * Opens the backend a recipe names, or the one given in its place; disposing it stops what was started for it.
 * @throws Fault `bad-input` for a recipe, module or model folder that cannot be served
 */
export async function openBackend(
  recipe: Recipe,
  task: Task,
  { backend: own, ...options }: OpenBackendOptions,
): Promise<OpenedBackend> {
  // Its owner closes it.
  if (own !== undefined && typeof own !== 'function') {
    assertOwnsCheckpoints(checkBackend(own))
    return { backend: own, async [Symbol.asyncDispose]() {} }
  }
  const open = {
    embedded: async () => embedded({ actionSpace: task.actionSpace }),
    sidecar: () => openSidecar(recipe, options),
  }
  const backend = own
    ? checkBackend(await own(task), 'What `backend` made')
    : await (recipe.backend === 'embedded' || recipe.backend === 'sidecar'
        ? open[recipe.backend]()
        : openNamedBackend(recipe.backend, task))
  assertOwnsCheckpoints(backend)
  return { backend, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() }
}
