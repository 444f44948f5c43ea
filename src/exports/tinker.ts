/** `bedside/tinker`: the client of the Tinker wire, the sidecar backend, and the token streams of a language model. */
export type { EngineName, PythonLookup } from '../trainers/sidecar/environment.js'
export { connectTinker, findPython, startSidecar } from '../trainers/sidecar/lazy.js'
export type {
  SidecarProcess,
  StartSidecarOptions,
} from '../trainers/sidecar/process.js'
export { type SidecarModel, type SidecarOptions, sidecar } from '../trainers/sidecar/sidecar.js'
export type { DialectName, WireProfile } from '../trainers/tinker/profile.js'
export { getProfile, profileNames } from '../trainers/tinker/profile.js'
export type { ConnectOptions, TinkerService } from '../trainers/tinker/service.js'
export type {
  Datum,
  ForwardOutput,
  SampledSequence,
  SampleOptions,
  SampleResult,
  SamplingSession,
  TrainingModel,
  WireAdam,
  WireLoss,
  WireModelSpec,
} from '../trainers/tinker/wire.js'
export { type ChatTokenizer, openChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
export type { LanguageDemonstrationOptions } from '../trainers/tokens/language-demonstration.js'
export { languageDemonstration } from '../trainers/tokens/language-demonstration.js'
export type { DrawTokens, LanguageDoctorOptions } from '../trainers/tokens/language-doctor.js'
export { languageDoctor } from '../trainers/tokens/language-doctor.js'
export { checkTemplate, type TemplateCheck } from '../trainers/tokens/template-check.js'
export {
  type DrawnIds,
  openTokenSession,
  restoreTokenSession,
  type SessionEnd,
  type TokenSession,
  type TokenSessionOptions,
  type ToRead,
} from '../trainers/tokens/token-session.js'
export {
  appendDrawn,
  appendHeard,
  type DrawnReply,
  type DrawnTokens,
  startStream,
  type TokenStream,
  type TokenStreamOptions,
} from '../trainers/tokens/token-stream.js'
