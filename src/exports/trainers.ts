/** `bedside/trainers`: training loops, advantage estimators, losses, batches, the embedded backend, trajectories. */

export {
  assertSteppable,
  type Checkpoints,
  type Learner,
  type LossTerm,
  lossTerms,
  type Sampler,
  type SamplerOptions,
} from '../backend.js'
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
  OffPolicyMask,
} from '../batch.js'
export {
  assertBatch,
  countDrawnTokens,
  makeNormaliser,
  normaliserKinds,
  objectiveKinds,
} from '../batch.js'
export {
  type Draw,
  drawVersions,
  encodeDraw,
  findDraw,
  type ReplyUsage,
  type Role,
} from '../episode.js'
export type {
  AdvantageName,
  BatchEstimator,
  GroupPolicy,
  ScoredGroup,
  Standing,
} from '../group.js'
export {
  advantageNames,
  assertSiblings,
  estimateAcrossGroups,
  formGroup,
  isTruncated,
} from '../group.js'
export { recipeOfRun } from '../runs/directory.js'
export { train } from '../runs/late-train.js'
export type { TrainingStep } from '../runs/loops.js'
export { type MakeBackend, registerBackend } from '../runs/own-backends.js'
export type { OwnParts, TrustOptions } from '../runs/own-parts.js'
export type { OwnPartName, RecipeInput } from '../runs/recipe.js'
export type { PartKey } from '../runs/recipe-paths.js'
export { taskOf } from '../runs/task-of-recipe.js'
export type { TrainingReport, TrainingResult, TrainOptions } from '../runs/train.js'
export type { TokenAdvantages, ValueRow } from '../trainers/advantages/gae.js'
export { gae, reinforcePlusPlus } from '../trainers/advantages/gae.js'
export { type AdvantageMethod, namedAdvantages } from '../trainers/advantages/method.js'
export type { GdpoOptions } from '../trainers/advantages/per-batch.js'
export {
  gdpoAdvantages,
  litePpoAdvantages,
  opoAdvantages,
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../trainers/advantages/per-batch.js'
export type { GrpoVariant } from '../trainers/advantages/per-group.js'
export {
  advantageEstimators,
  drGrpoAdvantages,
  grpoAdvantages,
  grpoVariants,
  maxRlAdvantages,
  passKAdvantages,
  remaxAdvantages,
  rlooAdvantages,
} from '../trainers/advantages/per-group.js'
export type { TokenRow } from '../trainers/advantages/token-rewards.js'
export {
  discountedReturns,
  klPenalisedRewards,
  terminalReward,
} from '../trainers/advantages/token-rewards.js'
export {
  spreadTurns,
  turnAdvantages,
  turnReturns,
  turnRewards,
} from '../trainers/advantages/turn-rewards.js'
export type { AdamSchedule } from '../trainers/batches/adam-schedule.js'
export { adamSettingsAt, learningRateFactor } from '../trainers/batches/adam-schedule.js'
export type { BatchOptions, OffPolicyOptions } from '../trainers/batches/group-batch.js'
export { correctOffPolicy, toTrainBatch } from '../trainers/batches/group-batch.js'
export { episodeSegments, type SegmentOptions } from '../trainers/batches/segments.js'
export { type EmbeddedOptions, embedded } from '../trainers/embedded/embedded.js'
export type {
  HeldOutMetrics,
  StepMetrics,
  TrainingEmitter,
  TrainingEvents,
} from '../trainers/events.js'
export { trainingEmitter } from '../trainers/events.js'
export { trainGrpo } from '../trainers/loops/grpo.js'
export type { GrpoOptions, GrpoStep } from '../trainers/loops/grpo-options.js'
export type { LoopOptions, LoopSummary, StepResult, WorldOptions } from '../trainers/loops/loop.js'
export type { PpoCriticOptions, PpoOptions, PpoStep } from '../trainers/loops/ppo.js'
export { trainPpo } from '../trainers/loops/ppo.js'
export { type SftOptions, type SftStep, trainSft } from '../trainers/loops/sft.js'
export type {
  BatchLoss,
  BatchLossOptions,
  LossBatch,
  TokenRows,
} from '../trainers/losses/batch-loss.js'
export { batchLoss } from '../trainers/losses/batch-loss.js'
export { type ValueLoss, valueLoss } from '../trainers/losses/critic-targets.js'
export type { LossRow } from '../trainers/losses/importance-correction.js'
export {
  correctionWeights,
  icepop,
  mis,
  scaleCorrection,
  tis,
} from '../trainers/losses/importance-correction.js'
export { linearise } from '../trainers/losses/linearise.js'
export type { SegmentLoss, TokenLoss } from '../trainers/losses/policy.js'
export { klEstimate, segmentLoss, tokenLoss } from '../trainers/losses/policy.js'
export { type RejectedRow, type Rejection, rejectOffPolicy } from '../trainers/losses/rejection.js'
export { type ReadSegment, type StepTotals, stepReport } from '../trainers/losses/step-report.js'
export type {
  Demonstrations,
  PlayDemonstrationsOptions,
  RejectionSamplingOptions,
} from '../trainers/rollouts/demonstrations.js'
export { playDemonstrations, rejectionSample } from '../trainers/rollouts/demonstrations.js'
export { planResampling, type ResamplingPlan } from '../trainers/rollouts/dynamic-sampling.js'
export type { PlayOptions } from '../trainers/rollouts/group-rollouts.js'
export {
  type PlayedSiblings,
  type PlayGroupOptions,
  playGroup,
} from '../trainers/rollouts/play-group.js'
export {
  type Lease,
  type LeaseOptions,
  openRolloutSource,
  type RolloutSource,
  type RolloutSourceOptions,
} from '../trainers/rollouts/rollout-source.js'
export type { ExportOptions, ExportReport } from '../trainers/trajectories/export.js'
export { exportTraining } from '../trainers/trajectories/export.js'
export type { ExportFormat } from '../trainers/trajectories/export-rows.js'
export type { TrajectoryInfo } from '../trainers/trajectories/reader.js'
export { readTrajectories, trajectoryInfo } from '../trainers/trajectories/reader.js'
export type { EpisodeTrajectoriesOptions, Trajectory } from '../trainers/trajectories/trajectory.js'
export { episodeTrajectories, trajectorySchema } from '../trainers/trajectories/trajectory.js'
export type { TrajectoryWriter, TrajectoryWriterOptions } from '../trainers/trajectories/writer.js'
export { trajectoryWriter } from '../trainers/trajectories/writer.js'
