/** `bedside/evaluation`: evaluate an agent, audit a reward for reward hacking, attribute advantages, saved episodes. */
export { type SignalReport, signalReport } from '../evaluation/advantage-attribution.js'
export type { Audit, Exploit, PolicyAudit } from '../evaluation/audit/audit.js'
export type { Estimate, EstimateOptions, ValueBounds } from '../evaluation/bootstrap.js'
export { estimate } from '../evaluation/bootstrap.js'
export type {
  AccuracyBound,
  EvaluateOptions,
  Evaluation,
  EvaluationTask,
  References,
  Yardstick,
} from '../evaluation/evaluate.js'
export { buildEvaluation, evaluate, evaluateReferences } from '../evaluation/evaluate.js'
export type {
  JudgeCheck,
  JudgeCheckOptions,
  Kappa,
  LabelCheck,
  LabelledRequest,
} from '../evaluation/judge-check.js'
export { checkJudge } from '../evaluation/judge-check.js'
export {
  type EpisodeFromOptions,
  episodeFrom,
  type LoggedMessage,
} from '../evaluation/logged-dialogue.js'
export type { Measures, PlayCasesOptions, PlayedCase } from '../evaluation/play-cases.js'
export { playCases } from '../evaluation/play-cases.js'
export type { Payment } from '../evaluation/reward-attribution.js'
export type { Anchor, EvaluationSummary, ReferenceAnchor } from '../evaluation/summary.js'
export { summarise } from '../evaluation/summary.js'
export type { PlayCaseOptions, RolloutOptions } from '../rollout.js'
export { type EpisodeSeeds, evaluationSeeds } from '../seed.js'
export { episodeWriter, readSavedEpisodes, type SavedEpisode } from '../storage/episode-files.js'
export type { AuditedReward, RewardAudit, RewardAuditOptions } from '../tasks/audit-rewards.js'
export { auditRewards } from '../tasks/audit-rewards.js'
