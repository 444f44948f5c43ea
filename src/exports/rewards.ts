/** `bedside/rewards`: define a custom reward, combine rewards, components, presets, judges. */

export { diagnosisOf } from '../episode.js'
export type { RewardSet, ScoresOf } from '../reward.js'
export { notApplicable, ok, scoreEpisode, unavailable } from '../reward.js'
export type {
  CombinatorOptions,
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
export type { ScheduledReward, WeightSchedule } from '../rewards/combinators/schedule.js'
export { schedule } from '../rewards/combinators/schedule.js'
export type { Potential, ShapeOptions } from '../rewards/combinators/shaping.js'
export { potentialFromReward, shapeReward } from '../rewards/combinators/shaping.js'
export type { RewardDeclaration, RewardFunction } from '../rewards/define.js'
export { asReward, defineReward } from '../rewards/define.js'
export { askJudge, type ConductCounts, type JudgeAnswers } from '../rewards/judges/ask-judge.js'
export { type ChatJudgeOptions, chatJudge } from '../rewards/judges/chat-judge.js'
export type {
  GradedAspect,
  Judge,
  JudgedLine,
  JudgeRequest,
  JudgeTask,
} from '../rewards/judges/judge.js'
export { type RuleJudgeOptions, ruleJudge } from '../rewards/judges/rule-judge.js'
export { namedReward, presetNames, type RewardName, rewardNames } from '../rewards/named.js'
export { type ActionBank, actionBankOf } from '../rewards/outcome/action-bank.js'
export { type CalibrationOptions, calibration } from '../rewards/outcome/calibration.js'
export { chatVerifier } from '../rewards/outcome/chat-verifier.js'
export { diagnosisAccuracy } from '../rewards/outcome/diagnosis-accuracy.js'
export {
  differentialAgreement,
  differentialBrier,
  differentialF1,
  differentialSpherical,
} from '../rewards/outcome/differential.js'
export { type Formulary, type FormularyEntry, formularyOf } from '../rewards/outcome/formulary.js'
export { partialCredit } from '../rewards/outcome/partial-credit.js'
export type { RankedOptions } from '../rewards/outcome/ranked.js'
export { discountedRank, reciprocalRank, topK } from '../rewards/outcome/ranked.js'
export { type TreatmentOptions, treatment } from '../rewards/outcome/treatment.js'
export { type TriageOptions, triage, triageFrequency } from '../rewards/outcome/triage.js'
export { type VerifiedAnswerOptions, verifiedAnswer } from '../rewards/outcome/verified-answer.js'
export { exactVerifier, type Verifier } from '../rewards/outcome/verifier.js'
export { defaultReward } from '../rewards/presets/default.js'
export { efficiencyPreset } from '../rewards/presets/efficiency.js'
export { type SafetyFirstOptions, safetyFirst } from '../rewards/presets/safety-first.js'
export { communication } from '../rewards/process/communication.js'
export { efficiency } from '../rewards/process/efficiency.js'
export type { ExamAgreementOptions, ExamMeasure } from '../rewards/process/exam-f1.js'
export { examAgreement, examF1 } from '../rewards/process/exam-f1.js'
export { historyCoverage } from '../rewards/process/history-coverage.js'
export type { CaseWorld, InformationGainOptions } from '../rewards/process/information-gain.js'
export { informationGain, informationPotentials } from '../rewards/process/information-gain.js'
export { informationShaping } from '../rewards/process/information-shaping.js'
export { type InvasivenessOptions, invasiveness } from '../rewards/process/invasiveness.js'
export { type MoneySavingsOptions, moneySavings } from '../rewards/process/money-savings.js'
export { type OneQuestionOptions, oneQuestion } from '../rewards/process/one-question.js'
export { type PlainLanguageOptions, plainLanguage } from '../rewards/process/plain-language.js'
export { questionSpecificity } from '../rewards/process/question-specificity.js'
export { repetition } from '../rewards/process/repetition.js'
export { replyFormat } from '../rewards/process/reply-format.js'
export { type TimeSavingsOptions, timeSavings } from '../rewards/process/time-savings.js'
export { escalation } from '../rewards/safety/escalation.js'
export { noContraindicated } from '../rewards/safety/no-contraindicated.js'
export { noHarm } from '../rewards/safety/no-harm.js'
export { redFlagRecall } from '../rewards/safety/red-flags.js'
export { safety } from '../rewards/safety/safety.js'
export type { ClaimsOptions } from '../rewards/safety/unsupported-claims.js'
export { groundedClaims, noFalseClaims } from '../rewards/safety/unsupported-claims.js'
export { type MakeReward, registerReward } from '../tasks/reward-modules.js'
