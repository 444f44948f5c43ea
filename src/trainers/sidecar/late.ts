/** The parts of the sidecar that take long to load, loaded when they are first called. */
import type { ConnectOptions, TinkerService } from '../tinker/service.js'
import type { EngineName, FindOptions, FoundPython } from './environment.js'
import type { SidecarOptions, SidecarProcess } from './process.js'

/** {@link import('../tinker/service.js').connectTinker} */
export const connectTinker = async (options: ConnectOptions): Promise<TinkerService> =>
  (await import('../tinker/service.js')).connectTinker(options)

/** {@link import('./process.js').startSidecar} */
export const startSidecar = async (options: SidecarOptions): Promise<SidecarProcess> =>
  (await import('./process.js')).startSidecar(options)

/** {@link import('./environment.js').findPython} */
export const findPython = async (engine: EngineName, options?: FindOptions): Promise<FoundPython> =>
  (await import('./environment.js')).findPython(engine, options)
