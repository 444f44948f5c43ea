/**
 * Backends by name: what a recipe's `backend` and `policy` stand for. With `doctors.ts` and `setting.ts` one of the
 * composition roots.
 */
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Grammar } from '../agent.js'
import { huatuo } from '../agents/grammars/huatuo.js'
import { labelled } from '../agents/grammars/labelled.js'
import type { Backend } from '../backend.js'
import { Fault } from '../error.js'
import type { Task } from '../tasks/task.js'
import { embedded } from '../trainers/embedded/embedded.js'
import type { TinkerService } from '../trainers/tinker/service.js'
import type { MakeBackend } from './own-backends.js'
import { checkedBackend, openNamedBackend } from './own-backends.js'
import type { Recipe } from './recipe.js'
import { policyOf } from './recipe.js'

export interface OpenBackendOptions {
  /** In place of what the recipe names: a backend, which its owner closes, or what opens one. */
  readonly backend?: Backend | MakeBackend
  /** Where a server that the run starts keeps its files while it runs: a folder of its own is made there. */
  readonly folder: string
  /** Is told in a line what goes on, where that takes a while. */
  readonly tell?: (line: string) => void
  readonly signal?: AbortSignal | undefined
}

/** How a language model's replies are written. */
export const grammarOf = (recipe: Recipe): Grammar =>
  ({ labelled, brief: () => labelled({ rules: 'brief' }), huatuo })[policyOf(recipe).grammar]()

/** The model folder of a recipe. @throws Fault `bad-input` where it names none */
function modelOf(recipe: Recipe): string {
  const { model } = policyOf(recipe)
  if (model === undefined)
    throw new Fault(
      'bad-input',
      'policy.model: expected a model folder for the sidecar backend (`bedside sidecar tiny-model` makes a small one), got none',
    )
  return model
}

/** A server, its address, and how it ends. */
interface Server extends AsyncDisposable {
  readonly address: string
  readonly token: string
  /** Aborted with a Fault `backend-lost` when the process is gone before it was closed. */
  readonly lost: AbortSignal
}

/** Runs the start of something with a signal that is aborted during the start alone. */
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

/** Starts a sidecar whose files are under `folder` and go with it. */
async function startServer(
  recipe: Recipe,
  { folder, tell = () => undefined, signal }: OpenBackendOptions,
): Promise<Server> {
  const { findPython } = await import('../trainers/sidecar/environment.js')
  const { startSidecar } = await import('../trainers/sidecar/process.js')
  const { engine, dtype, device, threads } = policyOf(recipe)
  const model = modelOf(recipe)
  const python = await findPython(engine)
  if (!python.found) throw new Fault('bad-input', `the sidecar (${engine}): ${python.reason}`)
  const state = join(folder, 'sidecar')
  const clear = async () => {
    await rm(state, { recursive: true, force: true })
    // Left alone where it holds anything.
    await rmdir(folder).catch(() => undefined)
  }
  tell(`starting the sidecar (${engine}) with ${model}`)
  const options = { model, engine, state, dtype, device, python: python.python }
  // What is done on Ctrl-C, keeping the last steps, needs the server: only its start can be aborted.
  const server = await whileStarting(signal, (starting) =>
    startSidecar({ ...options, ...(threads === undefined ? {} : { threads }), signal: starting }),
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

/** Runs the work; what it opened is closed when it fails, and by whatever it gives when that is closed. */
async function owning<T extends AsyncDisposable>(
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

/** How many tokens the served model can hold. @throws Fault `bad-input` where the server does not say */
function contextOf({ extensions, models }: TinkerService): number {
  const known = extensions?.model.contextLength ?? models[0]?.contextLength
  if (known !== undefined) return known
  throw new Fault(
    'bad-input',
    'policy.contextLength: expected the tokens that the model can hold, which this server does not say, got none',
  )
}

const openSidecar = (recipe: Recipe, options: OpenBackendOptions): Promise<Backend> =>
  owning(async (own) => {
    const { connectTinker } = await import('../trainers/tinker/service.js')
    const { openChatTokenizer } = await import('../trainers/tokens/chat-tokenizer.js')
    const { sidecar } = await import('../trainers/sidecar/sidecar.js')
    const policy = policyOf(recipe)
    const { url, profile, mode, rank, alpha, maxTokens, history } = policy
    const tokenizer = await openChatTokenizer(modelOf(recipe))
    const server = url === undefined ? own(await startServer(recipe, options)) : undefined
    const at = server
      ? { baseUrl: server.address, token: server.token, profile: 'bedside', signal: server.lost }
      : { baseUrl: url ?? '', profile }
    const service = own(await connectTinker(at))
    const contextLength = policy.contextLength ?? contextOf(service)
    const model = { mode, rank, alpha, seed: recipe.seed }
    return sidecar({
      ...{ service, tokenizer, model, maxTokens, contextLength, history },
      grammar: grammarOf(recipe),
    })
  })

/** A run's backend, and how what was opened for it is closed. */
export interface OpenedBackend extends AsyncDisposable {
  readonly backend: Backend
}

async function openOwn(backend: Backend | MakeBackend, task: Task): Promise<OpenedBackend> {
  if (typeof backend !== 'function')
    // Its owner closes it.
    return { backend: checkedBackend(backend), async [Symbol.asyncDispose]() {} }
  const opened = checkedBackend(await backend(task), 'What `backend` made')
  return { backend: opened, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

/**
 * Opens the backend a recipe names, or the one a program gives in its place; closing it stops what was started for it.
 * @throws Fault `bad-input` for a recipe, a module or a model folder that cannot be served
 */
export async function openBackend(
  recipe: Recipe,
  task: Task,
  { backend: own, ...options }: OpenBackendOptions,
): Promise<OpenedBackend> {
  if (own !== undefined) return openOwn(own, task)
  const { actionSpace } = task
  const named = {
    embedded: () => embedded({ actionSpace }),
    sidecar: () => openSidecar(recipe, options),
  }
  const backend = await (recipe.backend === 'embedded' || recipe.backend === 'sidecar'
    ? named[recipe.backend]()
    : openNamedBackend(recipe.backend, task))
  return { backend, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() }
}
