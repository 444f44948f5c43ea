/** `bedside/trainers`: advantages, losses, loops, tokens, trajectories, the embedded backend and the sidecar. */
export type { AdamSchedule } from '../trainers/adam-schedule.js'
export { rateAt, settingsAt } from '../trainers/adam-schedule.js'
export type { GrpoVariant } from '../trainers/advantages.js'
export {
  advantageEstimators,
  drGrpo,
  grpo,
  grpoVariants,
  remax,
  rloo,
} from '../trainers/advantages.js'
export type { GdpoOptions } from '../trainers/advantages-batch.js'
export {
  gdpo,
  litePpo,
  reinforcePlusPlusBaseline,
  reinforcePlusPlusTotals,
} from '../trainers/advantages-batch.js'
export { correctionWeights, icepop, mis, tis } from '../trainers/correction.js'
export type { TokenRow } from '../trainers/credit.js'
export { discountedReturns, klPenalised, terminalReward } from '../trainers/credit.js'
export type {
  Demonstrations,
  FromAgentOptions,
  RejectionOptions,
} from '../trainers/demonstrations.js'
export { fromAgent, rejectionSampled } from '../trainers/demonstrations.js'
export type { EmbeddedOptions } from '../trainers/embedded/embedded.js'
export { embedded } from '../trainers/embedded/embedded.js'
export type { TokenAdvantages, ValueRow } from '../trainers/gae.js'
export { gae, reinforcePlusPlus } from '../trainers/gae.js'
export type { BatchOptions } from '../trainers/group-batch.js'
export { batchOf } from '../trainers/group-batch.js'
export type { GrpoOptions } from '../trainers/grpo.js'
export { trainGrpo } from '../trainers/grpo.js'
export { linearise } from '../trainers/linearise.js'
export type { SegmentLoss, TokenLoss } from '../trainers/losses.js'
export { klEstimate, segmentLoss, tokenLoss } from '../trainers/losses.js'
export type { PlayOptions } from '../trainers/playing.js'
export type { PpoOptions } from '../trainers/ppo.js'
export { trainPpo } from '../trainers/ppo.js'
export type { Resampling } from '../trainers/resample.js'
export { shouldResample } from '../trainers/resample.js'
export { episodeSegments } from '../trainers/segments.js'
export type { SftOptions } from '../trainers/sft.js'
export { trainSft } from '../trainers/sft.js'
export type { EngineName, FoundPython } from '../trainers/sidecar/environment.js'
export { connectTinker, findPython, startSidecar } from '../trainers/sidecar/late.js'
export type {
  SidecarOptions as StartSidecarOptions,
  SidecarProcess,
} from '../trainers/sidecar/process.js'
export type { SidecarModel, SidecarOptions } from '../trainers/sidecar/sidecar.js'
export { sidecar } from '../trainers/sidecar/sidecar.js'
export type { ExportOptions, ExportReport } from '../trainers/store/export.js'
export { exportTraining } from '../trainers/store/export.js'
export type { ExportFormat } from '../trainers/store/export-rows.js'
export type { TrajectoryInfo } from '../trainers/store/reader.js'
export { readTrajectories, trajectoryInfo } from '../trainers/store/reader.js'
export type { EpisodeTrajectoriesOptions, Trajectory } from '../trainers/store/trajectory.js'
export { episodeTrajectories, trajectorySchema } from '../trainers/store/trajectory.js'
export type { TrajectoryWriter, TrajectoryWriterOptions } from '../trainers/store/writer.js'
export { trajectoryWriter } from '../trainers/store/writer.js'
export type { ReadSegment, Tally } from '../trainers/tally.js'
export { tally } from '../trainers/tally.js'
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
  Drawn,
  TokenStream,
  TokenStreamOptions,
} from '../trainers/tokens/token-stream.js'
export {
  drawn as appendDrawn,
  heard as appendHeard,
  startStream,
} from '../trainers/tokens/token-stream.js'
export { spreadTurns, turnAdvantages, turnReturns, turnRewards } from '../trainers/turn-credit.js'
export type { ValueLoss } from '../trainers/value-loss.js'
export { valueLoss } from '../trainers/value-loss.js'
export type { TrainingReport, TrainingResult, TrainOptions } from '../training-run.js'
export { train } from '../training-run.js'
