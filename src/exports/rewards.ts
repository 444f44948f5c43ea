/** `bedside/rewards`: define a custom reward, combine rewards, components, presets, judges. */

export { diagnosisOf } from '../episode.js'
export type { RewardSet, ScoresOf } from '../reward.js'
export { notApplicable, ok, scoreEpisode, unavailable } from '../reward.js'
export type {
  GateOptions,
  WeightedReward,
} from '../rewards/combinators/compose.js'
export { clip, gate, multiply, otherwise, weigh } from '../rewards/combinators/compose.js'
export type {
  PerTurnDeclaration,
  TurnContext,
  TurnFunction,
} from '../rewards/combinators/per-turn.js'
export { perTurn } from '../rewards/combinators/per-turn.js'
export type { Potential, ShapeOptions } from '../rewards/combinators/shaping.js'
export { potentialFromReward, shapeReward } from '../rewards/combinators/shaping.js'
export type {
  CombinatorOptions,
  ScheduledReward,
  WeightSchedule,
} from '../rewards/combinators/weighted-mean.js'
export { schedule } from '../rewards/combinators/weighted-mean.js'
export type { RewardDeclaration, RewardFunction } from '../rewards/define.js'
export { asReward, defineReward } from '../rewards/define.js'
export { type AskOptions, askJudge } from '../rewards/judges/ask-judge.js'
export { type CachedJudgeOptions, cachedJudge } from '../rewards/judges/cached-judge.js'
export { type ChatJudgeOptions, chatJudge } from '../rewards/judges/chat-judge.js'
export type {
  ConductCounts,
  GradedAspect,
  Judge,
  JudgeAnswers,
  JudgeContext,
  JudgedLine,
  JudgeRequest,
  JudgeTask,
} from '../rewards/judges/judge.js'
export { type JuryOptions, jury } from '../rewards/judges/jury.js'
export type {
  JudgePrompt,
  JudgePrompts,
  PublishedPrompts,
} from '../rewards/judges/published-prompts.js'
export { judgePromptsOf, publishedPrompts } from '../rewards/judges/published-prompts.js'
export { type RuleJudgeOptions, ruleJudge } from '../rewards/judges/rule-judge.js'
export { namedReward, presetNames, type RewardName, rewardNames } from '../rewards/named.js'
export { type CalibrationOptions, calibration } from '../rewards/outcome/calibration.js'
export {
  differentialAgreement,
  differentialBrier,
  differentialF1,
  differentialSpherical,
} from '../rewards/outcome/differential.js'
export { type Formulary, type FormularyEntry, formularyOf } from '../rewards/outcome/formulary.js'
export { diagnosisAccuracy, partialCredit } from '../rewards/outcome/partial-credit.js'
export type {
  ClassifierVerifierOptions,
  LogprobVerifierOptions,
} from '../rewards/outcome/probability-verifiers.js'
export {
  classifierVerifier,
  logprobVerifier,
} from '../rewards/outcome/probability-verifiers.js'
export type { RankedOptions } from '../rewards/outcome/ranked.js'
export { discountedRank, reciprocalRank, topK } from '../rewards/outcome/ranked.js'
export type { ActionBank, TreatmentOptions } from '../rewards/outcome/treatment.js'
export { actionBankOf, treatment } from '../rewards/outcome/treatment.js'
export { type TriageOptions, triage, triageFrequency } from '../rewards/outcome/triage.js'
export { type VerifiedAnswerOptions, verifiedAnswer } from '../rewards/outcome/verified-answer.js'
export { chatVerifier, exactVerifier, type Verifier } from '../rewards/outcome/verifier.js'
export type { SafetyFirstOptions } from '../rewards/presets.js'
export { defaultReward, efficiencyPreset, safetyFirst } from '../rewards/presets.js'
export type { OneQuestionOptions } from '../rewards/process/conduct.js'
export {
  communication,
  oneQuestion,
  questionSpecificity,
  repetition,
  replyFormat,
} from '../rewards/process/conduct.js'
export type { ExamAgreementOptions, ExamMeasure } from '../rewards/process/exam-f1.js'
export { examAgreement, examF1 } from '../rewards/process/exam-f1.js'
export { historyCoverage } from '../rewards/process/history-coverage.js'
export type { CaseWorld, InformationGainOptions } from '../rewards/process/information-gain.js'
export {
  informationGain,
  informationPotentials,
  informationShaping,
} from '../rewards/process/information-gain.js'
export { type PlainLanguageOptions, plainLanguage } from '../rewards/process/plain-language.js'
export type {
  InvasivenessOptions,
  MoneySavingsOptions,
  TimeSavingsOptions,
} from '../rewards/process/savings.js'
export { efficiency, invasiveness, moneySavings, timeSavings } from '../rewards/process/savings.js'
export { escalation } from '../rewards/safety/escalation.js'
export { noContraindicated, noHarm, redFlagRecall, safety } from '../rewards/safety/safety.js'
export type { ClaimsOptions } from '../rewards/safety/unsupported-claims.js'
export { groundedClaims, noFalseClaims } from '../rewards/safety/unsupported-claims.js'
export { type MakeReward, registerReward } from '../tasks/reward-modules.js'
