/** Backends of a user's own: registered names and modules, and objects that a program gives. */
import type { Backend } from '../backend.js'
import { Fault, rethrowAsFault } from '../error.js'
import { isModule, loadPart, partPlaces, partRegistry, unknownPart } from '../tasks/modules.js'
import { backendProblem, functionProblem } from '../tasks/shapes.js'
import type { Task } from '../tasks/task.js'

/** Opens a backend for a task; the run that opened it closes it. */
export type MakeBackend = (task: Task) => Backend | PromiseLike<Backend>

/** The backends that come with the package. */
const packaged = ['embedded', 'sidecar'] as const

const makers = partRegistry<MakeBackend>('backend', packaged)

/** Makes a backend's name known to recipes. @throws TypeError when it is taken */
export const registerBackend = (name: string, make: MakeBackend): void =>
  makers.register(name, make)

/** Every name a recipe's `backend` can have. */
export const backendNames = (): readonly string[] => [...packaged, ...makers.names()]

/** A backend that a program gave or made. @throws TypeError listing what is missing */
export function checkedBackend(backend: Backend, what = '`backend`'): Backend {
  const problem = backendProblem(backend)
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`)
  return backend
}

/** @throws Fault `bad-input` for a module without a backend, TypeError for a registered maker of something else */
export async function openNamedBackend(name: string, task: Task): Promise<Backend> {
  const at = partPlaces.backend
  const make = makers.get(name)
  if (make) return checkedBackend(await make(task), `The registered backend \`${name}\``)
  if (!isModule(name)) throw unknownPart('backend', name, { at, names: backendNames() })
  const problemOf = functionProblem
  const open = (await loadPart('backend', name, { at, problemOf })) as MakeBackend // what it makes is checked below
  const backend: unknown = await rethrowAsFault('bad-input', `${at} ${name}`, () => open(task))
  const problem = backendProblem(backend)
  if (problem !== undefined) throw new Fault('bad-input', `${at} ${name}: ${problem}`)
  return backend as Backend // its shape is checked
}
