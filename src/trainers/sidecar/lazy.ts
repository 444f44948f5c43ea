/** Functions of the sidecar whose modules are slow to load and are imported at the first call. */
import type { ConnectOptions, TinkerService } from '../tinker/service.js'
import type { EngineName, FindPythonOptions, PythonLookup } from './environment.js'
import type { SidecarProcess, StartSidecarOptions } from './process.js'

/** Connects to a Tinker server: {@link import('../tinker/service.js').connectTinker}. */
export const connectTinker = async (options: ConnectOptions): Promise<TinkerService> =>
  (await import('../tinker/service.js')).connectTinker(options)

/** Starts a sidecar process: {@link import('./process.js').startSidecar}. */
export const startSidecar = async (options: StartSidecarOptions): Promise<SidecarProcess> =>
  (await import('./process.js')).startSidecar(options)

/** Looks for an engine's environment: {@link import('./environment.js').findPython}. */
export const findPython = async (
  engine: EngineName,
  options?: FindPythonOptions,
): Promise<PythonLookup> => (await import('./environment.js')).findPython(engine, options)
