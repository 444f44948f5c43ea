/** `bedside/server`: the server of consultations, for envs of your own. */
export type { Consultations, FileCases, OpenConsultation } from '../server/consultations.js'
export type { SessionOptions } from '../server/options.js'
export { Refusal, type RefusalCode } from '../server/refusal.js'
export { type RunningServer, type ServerOptions, startServer } from '../server/server.js'
