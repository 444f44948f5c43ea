/** `bedside/rewards/text`: text overlap (bag F1, ROUGE, BLEU, LCS) equal to the published Python numbers. */
export { bagF1, wordF1 } from '../../rewards/text/bag-f1.js'
export { characterLcs } from '../../rewards/text/common-subsequence.js'
export type { OverlapMeasure } from '../../rewards/text/overlap-measures.js'
export type {
  OverlapPair,
  OverlapWorkers,
  OverlapWorkersOptions,
} from '../../rewards/text/overlap-workers.js'
export { overlapWorkers } from '../../rewards/text/overlap-workers.js'
export type { RougeKind } from '../../rewards/text/rouge.js'
export { doctorAgentBleu, doctorAgentRouge, googleRouge, rouge } from '../../rewards/text/rouge.js'
export { segmentChinese } from '../../rewards/text/segment-chinese.js'
export type {
  GoldTextReader,
  OverlapTarget,
  TextOverlapOptions,
} from '../../rewards/text/text-overlap.js'
export { textOverlap } from '../../rewards/text/text-overlap.js'
export type { PrecisionRecall } from '../../rewards/text/tokens.js'
