/** User-defined backends: registered names, modules, and objects passed in by a program. */
import type { Backend } from '../backend.js'
import { Fault, rethrowAsFault } from '../error.js'
import {
  backendProblem,
  functionProblem,
  isModule,
  loadPart,
  partPlaces,
  partRegistry,
  unknownPart,
} from '../tasks/modules.js'
import type { Task } from '../tasks/task.js'

/** Factory of a backend for a task; the run closes the backend. */
export type MakeBackend = (task: Task) => Backend | PromiseLike<Backend>

/** Names of the built-in backends. */
const packaged = ['embedded', 'sidecar', 'slime', 'verl'] as const

const makers = partRegistry<MakeBackend>('backend', packaged)

/** Registers a backend name for recipes. @throws TypeError when the name is taken */
export const registerBackend = (name: string, make: MakeBackend): void =>
  makers.register(name, make)

/** Names allowed as a recipe's `backend`. */
export const backendNames = (): readonly string[] => [...packaged, ...makers.names()]

/** Checks the shape of a backend and returns it. @throws TypeError listing the missing members */
export function checkBackend(backend: Backend, what = '`backend`'): Backend {
  const problem = backendProblem(backend)
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`)
  return backend
}

/**
 * Opens a backend by registered name or module.
 * @throws Fault `bad-input` for a module without a backend; TypeError where a registered factory returns no backend
 */
export async function openNamedBackend(name: string, task: Task): Promise<Backend> {
  const at = partPlaces.backend
  const make = makers.get(name)
  if (make) return checkBackend(await make(task), `The registered backend \`${name}\``)
  if (!isModule(name)) throw unknownPart('backend', name, { at, names: backendNames() })
  const problemOf = functionProblem
  const open = (await loadPart('backend', name, { at, problemOf })) as MakeBackend // its result is checked below
  const backend: unknown = await rethrowAsFault('bad-input', `${at} ${name}`, () => open(task))
  const problem = backendProblem(backend)
  if (problem !== undefined) throw new Fault('bad-input', `${at} ${name}: ${problem}`)
  return backend as Backend // its shape is checked
}
