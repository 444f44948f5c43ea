/** `bedside/trainers`: advantages, losses, loops, tokens, trajectories, the embedded backend and the sidecar. */

export type { TrainingStep } from '../runs/loops.js'
export type { TrainingReport, TrainingResult, TrainOptions } from '../runs/train.js'
export { train } from '../runs/train.js'
export type { TokenAdvantages, ValueRow } from '../trainers/advantages/gae.js'
export { gae, reinforcePlusPlus } from '../trainers/advantages/gae.js'
export type { AdvantageMethod } from '../trainers/advantages/method.js'
export { namedAdvantages } from '../trainers/advantages/method.js'
export type { GdpoOptions } from '../trainers/advantages/per-batch.js'
export {
  gdpoAdvantages,
  litePpoAdvantages,
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../trainers/advantages/per-batch.js'
export type { GrpoVariant } from '../trainers/advantages/per-group.js'
export {
  advantageEstimators,
  drGrpoAdvantages,
  grpoAdvantages,
  grpoVariants,
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
export type { BatchOptions } from '../trainers/batches/group-batch.js'
export { toTrainBatch } from '../trainers/batches/group-batch.js'
export { episodeSegments } from '../trainers/batches/segments.js'
export type { EmbeddedOptions } from '../trainers/embedded/embedded.js'
export { embedded } from '../trainers/embedded/embedded.js'
export type { AdamSchedule } from '../trainers/loops/adam-schedule.js'
export { rateAt, settingsAt } from '../trainers/loops/adam-schedule.js'
export type { GrpoOptions, GrpoStep } from '../trainers/loops/grpo.js'
export { trainGrpo } from '../trainers/loops/grpo.js'
export type { LoopOptions, LoopSummary, StepResult, WorldOptions } from '../trainers/loops/loop.js'
export type { PpoCriticOptions, PpoOptions, PpoStep } from '../trainers/loops/ppo.js'
export { trainPpo } from '../trainers/loops/ppo.js'
export type { SftOptions, SftStep } from '../trainers/loops/sft.js'
export { trainSft } from '../trainers/loops/sft.js'
export type {
  BatchLoss,
  BatchLossOptions,
  LossBatch,
  TokenRows,
} from '../trainers/losses/batch-loss.js'
export { batchLoss } from '../trainers/losses/batch-loss.js'
export { correctionWeights, icepop, mis, tis } from '../trainers/losses/importance-correction.js'
export { linearise } from '../trainers/losses/linearise.js'
export type { LossRow, SegmentLoss, TokenLoss } from '../trainers/losses/policy.js'
export { klEstimate, segmentLoss, tokenLoss } from '../trainers/losses/policy.js'
export type { ReadSegment, StepTotals } from '../trainers/losses/step-report.js'
export { stepReport } from '../trainers/losses/step-report.js'
export type { ValueLoss } from '../trainers/losses/value.js'
export { valueLoss } from '../trainers/losses/value.js'
export type {
  Demonstrations,
  FromAgentOptions,
  RejectionOptions,
} from '../trainers/rollouts/demonstrations.js'
export { fromAgent, rejectionSampled } from '../trainers/rollouts/demonstrations.js'
export type { Resampling } from '../trainers/rollouts/dynamic-sampling.js'
export { shouldResample } from '../trainers/rollouts/dynamic-sampling.js'
export type { PlayOptions } from '../trainers/rollouts/group-rollouts.js'
export type { EngineName, FoundPython } from '../trainers/sidecar/environment.js'
export { connectTinker, findPython, startSidecar } from '../trainers/sidecar/late.js'
export type {
  SidecarOptions as StartSidecarOptions,
  SidecarProcess,
} from '../trainers/sidecar/process.js'
export type { SidecarModel, SidecarOptions } from '../trainers/sidecar/sidecar.js'
export { sidecar } from '../trainers/sidecar/sidecar.js'
export type { DialectName, WireProfile } from '../trainers/tinker/profile.js'
export { profileNames, profileOf } from '../trainers/tinker/profile.js'
export type { ConnectOptions, TinkerService } from '../trainers/tinker/service.js'
export type {
  Datum,
  ForwardOutput,
  Sampled,
  SampledSequence,
  SampleOptions,
  SamplingSession,
  TrainingModel,
  WireAdam,
  WireLoss,
  WireModelSpec,
} from '../trainers/tinker/wire.js'
export type { ChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
export { openChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
export type { LanguageDemonstrationOptions } from '../trainers/tokens/language-demonstration.js'
export { languageDemonstration } from '../trainers/tokens/language-demonstration.js'
export type { DrawTokens, LanguageDoctorOptions } from '../trainers/tokens/language-doctor.js'
export { languageDoctor } from '../trainers/tokens/language-doctor.js'
export type { TemplateCheck } from '../trainers/tokens/template-check.js'
export { checkTemplate } from '../trainers/tokens/template-check.js'
export type {
  Draw,
  DrawnReply,
  TokenStream,
  TokenStreamOptions,
} from '../trainers/tokens/token-stream.js'
export {
  appendDrawn,
  appendHeard,
  startStream,
} from '../trainers/tokens/token-stream.js'
export type { ExportOptions, ExportReport } from '../trainers/trajectories/export.js'
export { exportTraining } from '../trainers/trajectories/export.js'
export type { ExportFormat } from '../trainers/trajectories/export-rows.js'
export type { TrajectoryInfo } from '../trainers/trajectories/reader.js'
export { readTrajectories, trajectoryInfo } from '../trainers/trajectories/reader.js'
export type { EpisodeTrajectoriesOptions, Trajectory } from '../trainers/trajectories/trajectory.js'
export { episodeTrajectories, trajectorySchema } from '../trainers/trajectories/trajectory.js'
export type { TrajectoryWriter, TrajectoryWriterOptions } from '../trainers/trajectories/writer.js'
export { trajectoryWriter } from '../trainers/trajectories/writer.js'
