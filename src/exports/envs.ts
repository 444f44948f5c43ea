/** `bedside/envs`: the consultation, its patients and examinations, and what wraps and checks any env. */

export type { ResetOptions, StepOptions } from '../env.js'
export type {
  CaseSource,
  ConsultationOptions,
  ConsultationReset,
  MakeConsultationOptions,
} from '../envs/consultation.js'
export { consultation } from '../envs/consultation.js'
export {
  type DiagGymOptions,
  type DiagGymParityOptions,
  diagGym,
} from '../envs/exams/diaggym.js'
export { knowledgeExams, recordExams } from '../envs/exams/record.js'
export { type FreePatientOptions, freePatient } from '../envs/patients/free/free.js'
export type { FreePrompts } from '../envs/patients/free/prompts.js'
export type { ParsedUtterance } from '../envs/patients/nlu/parsed-utterance.js'
export { understand } from '../envs/patients/nlu/understand.js'
export {
  type PolicyPatientOptions,
  policyPatient,
  type ReplyStyle,
} from '../envs/patients/policy.js'
export { recordPatient } from '../envs/patients/recorded/record.js'
export { rulePatient } from '../envs/patients/rule.js'
export { type SkinPatientOptions, skinPatient } from '../envs/patients/skin/skin.js'
export { type QuestionOptions, question } from '../envs/question.js'
export { type EnvId, type EnvRegistry, register } from '../envs/register.js'
export {
  type EpisodeMachine,
  type TakenStep,
  type Transition,
  transactional,
} from '../envs/transaction.js'
export type { Autoreset } from '../envs/vector-types.js'
export type {
  VectorEnv,
  VectorizeOptions,
  VectorResetOptions,
  VectorStart,
  VectorStep,
} from '../envs/vectorize.js'
export { vectorize } from '../envs/vectorize.js'
export type { Wrapper } from '../envs/wrappers.js'
export { mapReward, onStep, recordEpisodes, timeLimit, wrap } from '../envs/wrappers.js'
export { rethrowAsFault } from '../error.js'
export {
  type AnyExamSimulator,
  combineExamSimulators,
  type InformedExamSimulator,
} from '../exam.js'
export type { Exchange } from '../patient.js'
export type { ExamsOption, MakeExams, MakePatient, PartInputs } from '../tasks/parts.js'
export { registerExams, registerPatient } from '../tasks/parts.js'
export {
  type PublishedEnv,
  type PublishedEnvName,
  publishedEnvNames,
  publishedEnvs,
} from '../tasks/published.js'
export { make, makeConsultation } from '../tasks/registry.js'
export { checkEnv } from '../testing/env.js'
export type { FindingState, RevealedFinding, Understanding } from '../turn.js'
