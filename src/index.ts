/** Bedside: a gym for medical consultations. Every public name. */
export type {
  Agent,
  AgentContext,
  AnyAgent,
  Grammar,
  Move,
  PrivilegedAgent,
} from './agent.js'
export { agentFor } from './agent.js'
export type { Backend, Capabilities, SamplerOptions, StepReport } from './backend.js'
export { assertSteppable } from './backend.js'
export type {
  AdamSettings,
  ClipBounds,
  CriticTargets,
  ImportanceCorrection,
  KlPenalty,
  Loss,
  Normaliser,
  NormaliserKind,
  Objective,
  TokenSegment,
  TrainBatch,
} from './batch.js'
export {
  assertBatch,
  countDrawnTokens,
  makeNormaliser,
  normaliserKinds,
  objectiveKinds,
} from './batch.js'
export type { Case, DoctorView, ExaminerView, GraderView, PatientView } from './case.js'
export { doctorView, examinerView, graderView, patientView, primaryDiagnosis } from './case.js'
export { caseSource, generateCase, twin } from './cases/generator/generate.js'
export type { ImportReport } from './cases/importers/import.js'
export { importers } from './cases/importers/import.js'
export { mineActionSpace } from './cases/importers/mine-action-space.js'
export { leaks } from './cases/leaks/leak.js'
export { splitCases } from './cases/split.js'
export type { Chat, ChatOptions, ChatReply, Message, Usage } from './chat.js'
export { openaiChat } from './chats/openai.js'
export type { Env, Info, Observation, Reset, ResetOptions, Step } from './env.js'
export { ended, termination, transition, truncation } from './env.js'
export type { Episode, EpisodeTurn, Sample } from './episode.js'
export { diagnosisOf } from './episode.js'
export type { FaultCode } from './error.js'
export { Fault, rethrowAsFault } from './error.js'
export type { SignalReport } from './evaluation/advantage-attribution.js'
export { signalReport } from './evaluation/advantage-attribution.js'
export type { Payment } from './evaluation/audit/attribution.js'
export type { Audit, Exploit, PolicyAudit } from './evaluation/audit/audit.js'
export type { Estimate, EstimateOptions, ValueBounds } from './evaluation/bootstrap.js'
export { estimate } from './evaluation/bootstrap.js'
export type { EvaluateOptions, EvaluationTask } from './evaluation/evaluate.js'
export { evaluate } from './evaluation/evaluate.js'
export type { Measures, PlayCasesOptions, PlayedCase } from './evaluation/play-cases.js'
export { playCases } from './evaluation/play-cases.js'
export type { Bound, Evaluation, Reference, Yardstick } from './evaluation/report.js'
export { evaluationOf, referencesOf } from './evaluation/report.js'
export type { Anchor, ReferenceAnchor, Summary } from './evaluation/summary.js'
export { summarise } from './evaluation/summary.js'
export type { ExamContext, ExamReport, ExamSimulator } from './exam.js'
export { combineExamSimulators } from './exam.js'
export * from './exports/agents.js'
export * from './exports/envs.js'
export * from './exports/rewards.js'
export * from './exports/trainers.js'
export type {
  AdvantageEstimator,
  AdvantageName,
  BatchEstimator,
  Group,
  GroupPolicy,
  ScoredGroup,
  Standing,
} from './group.js'
export {
  advantageNames,
  assertSiblings,
  estimateAcrossGroups,
  formGroup,
  isTruncated,
} from './group.js'
export type { Belief } from './inference/belief.js'
export { beliefTrace, logProbabilityGains } from './inference/belief-trace.js'
export type { PredictedOutcome } from './inference/lookahead.js'
export type { Posterior, PosteriorOptions } from './inference/posterior.js'
export { buildPosterior, fullInformationBelief, getPosterior } from './inference/posterior.js'
export type { Utility } from './inference/utility.js'
export { utilityTable } from './inference/utility.js'
export type { ActionSpace } from './knowledge/action-space.js'
export { actionSpace, knowledgeActionSpace } from './knowledge/action-space.js'
export type {
  Disease,
  ExamDefinition,
  FindingDefinition,
  Knowledge,
} from './knowledge/knowledge.js'
export { clinic } from './knowledge/knowledge.js'
export { loadKnowledge } from './knowledge/load.js'
export type { Tier, TierName } from './knowledge/tiers.js'
export { tiers } from './knowledge/tiers.js'
export type { Exchange, Patient, PatientContext, Reply } from './patient.js'
export type { Part, Reward, RewardContext, RewardSet, Score, ScoresOf } from './reward.js'
export { notApplicable, ok, scoreEpisode, unavailable } from './reward.js'
export type { PlayCaseOptions, RolloutOptions, ScoredEpisode } from './rollout.js'
export { play, rollout } from './rollout.js'
export { readRecipe, recipeOfRun } from './runs/directory.js'
export type { MakeBackend } from './runs/own-backends.js'
export { registerBackend } from './runs/own-backends.js'
export type { OwnParts } from './runs/own-parts.js'
export type { OwnPartName, Recipe, RecipeInput } from './runs/recipe.js'
export { taskOf } from './runs/task-of-recipe.js'
export type { PartKey, TrustOptions } from './runs/trust.js'
export type { EpisodeSeeds, Key } from './seed.js'
export { evaluationSeeds, fork, pick, pickWeighted, shuffle, uniform, uniformInt } from './seed.js'
export { readCases, streamCases, writeCases } from './storage/case-files.js'
export type { SavedEpisode } from './storage/episode-files.js'
export { episodeWriter, readSavedEpisodes } from './storage/episode-files.js'
export type { Audited, RewardAudit, RewardAuditOptions } from './tasks/audit-rewards.js'
export { auditRewards } from './tasks/audit-rewards.js'
export type {
  AgentInputs,
  ExamsOption,
  MakeAgent,
  MakeExams,
  MakePatient,
  PartInputs,
} from './tasks/parts.js'
export { registerAgent, registerExams, registerPatient } from './tasks/parts.js'
export type { MakeReward } from './tasks/reward-modules.js'
export { registerReward } from './tasks/reward-modules.js'
export type { Task, TaskOptions } from './tasks/task.js'
export { task } from './tasks/task.js'
export type {
  HeldOutMetrics,
  StepMetrics,
  TrainingEmitter,
  TrainingEvents,
} from './trainers/events.js'
export { trainingEmitter } from './trainers/events.js'
export type {
  Action,
  FindingState,
  Language,
  Outcome,
  RevealedFinding,
  Stop,
  Turn,
  TurnFacts,
  Understanding,
} from './turn.js'
