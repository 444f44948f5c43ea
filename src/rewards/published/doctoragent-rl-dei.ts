/** DoctorAgent-RL's diagnostic efficiency index (DEI), parity and fixed: result quality over turns and tokens. */
import { diagnosisOf, type EpisodeTurn, findDraw } from '../../episode.js'
import { Fault } from '../../error.js'
import { ok, type Reward } from '../../reward.js'
import { defineReward, type RewardArguments } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { ruleJudge } from '../judges/rule-judge.js'
import type { FormularyOptions } from '../outcome/formulary.js'
import { pythonBlank, pythonNumber, strip } from '../text/python-text.js'
import { doctorAgentRouge } from '../text/rouge.js'
import { charactersOrWords } from '../text/tokens.js'
import { judgedDiagnosisPart, judgedRecommendationPart } from './doctoragent-rl-fixed.js'
import { goldTexts, rawReply, readAnswerTag, readLabels } from './doctoragent-rl-texts.js'

/** Options of {@link deiMetric}. */
export interface DeiOptions extends FormularyOptions {
  /** Whether to reproduce the released evaluation. @default false */
  readonly parity?: boolean
  /** Cost α of a turn, above 0. @default 1 */
  readonly alpha?: number
  /** Cost β of a token of the mean turn, at least 0. @default 0.01 */
  readonly beta?: number
  /** @default ruleJudge({ formulary }) */
  readonly judge?: Judge

  /**
   * Counts the tokens of a doctor's turn. The released code counts the length of its batch, padding included. @default
   * the tokens sampled, else the characters or words of its text
   */
  readonly tokensOf?: (turn: EpisodeTurn) => number
}

const countTokens = (turn: EpisodeTurn): number =>
  findDraw(turn)?.tokens.length ?? charactersOrWords(rawReply(turn, { tagged: false })).length

const textAfter = (text: string, label: string): string => text.split(label)[1] ?? ''

/** The two texts that the evaluation reads from a final turn; an empty diagnosis becomes all text after its label. */
function readEvaluatedTexts(content: string): readonly [diagnosis: string, recommendation: string] {
  const rest = textAfter(content, 'Diagnosis:')
  const end = ['Recommendation:', 'Treatment:', 'Prescription:', 'Plan:', '\n\n'].find((mark) =>
    rest.includes(mark),
  )
  const diagnosis = end === undefined ? '' : strip(rest.split(end)[0] ?? '')
  const advised = ['Recommendation:', 'Treatment:', 'Plan:'].find((mark) => content.includes(mark))
  return [diagnosis || strip(rest), advised === undefined ? '' : strip(textAfter(content, advised))]
}

/** Python's \d matches digits of any script. */
const lastNumber = new RegExp(`(\\p{Nd}{1,3})(?:[${pythonBlank}]*/[${pythonBlank}]*5)?$`, 'u')

/** Reads a judge's reply as the evaluation does: a number at its very end, else the first one up to 5 anywhere. */
export function readSemanticParity(words: string): number {
  const answer = readAnswerTag(words)
  const place = answer === undefined ? strip(words) : `<answer>${answer}</answer>`
  const last = lastNumber.exec(place)?.[1]
  if (last !== undefined) return Math.min(5, pythonNumber(last))
  // For Python's `\b`, a digit beside a letter of any script is not a number.
  const numbers = words.match(/(?<![\p{L}\p{N}_])\p{Nd}{1,3}(?![\p{L}\p{N}_])/gu) ?? []
  return numbers.map(pythonNumber).find((number) => number <= 5) ?? 0
}

/** ½·(mean ROUGE-L F1 + mean semantic score / 5), of the texts as the released inference records them. */
async function combineParity(
  [episode, truth, context]: RewardArguments,
  judge: Judge,
): Promise<number> {
  const last = episode.turns.at(-1)
  if (last?.action.kind !== 'diagnose')
    throw new Fault('component-failed', 'the released evaluation raises without a diagnosis')
  const reply = rawReply(last, { tagged: true })
  const read = readLabels(readAnswerTag(reply) ?? reply)
  const { diagnosis, recommendation = '' } = read.diagnosis === undefined ? last.action : read
  const given = readEvaluatedTexts(`Diagnosis: ${diagnosis}\nRecommendation: ${recommendation}`)
  const gold = goldTexts(truth, episode.language)
  let [rouge, semantic] = [0, 0]
  for (const [i, of] of (['diagnosis', 'recommendation'] as const).entries()) {
    const [answer, reference] = [given[i] ?? '', gold[of]]
    rouge += doctorAgentRouge(answer, reference, 'l').f1
    if (answer !== '' && reference !== '')
      semantic += readSemanticParity(
        await judge({ task: 'similarity', of, reference, answer }, context),
      )
  }
  return (rouge / 2 + semantic / 10) / 2
}

/** right × (1 + recommendation) / 2; without the recommendation where the case has none. */
async function combineFixed(scored: RewardArguments, judge: Judge): Promise<number> {
  if (!diagnosisOf(scored[0])) return 0
  const { value } = await judgedDiagnosisPart(scored, judge)
  const advised = await judgedRecommendationPart(scored, judge)
  return advised.status === 'ok' ? (value * (1 + advised.value)) / 2 : value
}

/**
 * combined² / (α·turns + β·mean tokens of a doctor's turn), in [0, 1/α]. Parity: combined is ½·(ROUGE-L + a judge's
 * score, read from its chain of thought), each the mean of diagnosis and recommendation; unavailable without a
 * diagnosis, where the evaluation raises. Fixed: right × (1 + recommendation) / 2, by a judge parsed strictly; 0 without
 * a diagnosis. A metric for comparing doctors: as a reward it pays for asking nothing.
 * @throws RangeError for an `alpha` not above 0 or a negative `beta`
 */
export function deiMetric({
  parity = false,
  alpha = 1,
  beta = 0.01,
  formulary = [],
  judge = ruleJudge({ formulary }),
  tokensOf = countTokens,
}: DeiOptions = {}): Reward {
  if (!(alpha > 0 && Number.isFinite(alpha)))
    throw new RangeError(`Expected \`alpha\` to be above 0, got ${alpha}`)
  if (!(beta >= 0 && Number.isFinite(beta)))
    throw new RangeError(`Expected \`beta\` to be at least 0, got ${beta}`)
  const name = parity ? 'dei-parity' : 'dei'
  const source = `DoctorAgent-RL evaluation (arXiv 2505.19630), ${parity ? 'as released' : 'fixed'}`
  return defineReward(
    { name, bounds: [0, 1 / alpha], source, parity },
    async (episode, truth, context) => {
      const combine = parity ? combineParity : combineFixed
      const combined = await combine([episode, truth, context], judge)
      const { turns } = episode
      if (turns.length === 0) return ok(0, 'no turn')
      const tokens = turns.reduce((sum, turn) => sum + tokensOf(turn), 0) / turns.length
      const index = combined ** 2 / (alpha * turns.length + beta * tokens)
      const evidence = `combined ${combined.toFixed(3)}, ${turns.length} turns of ${tokens.toFixed(1)} tokens`
      return ok(index, `${judge.judgeName}: ${evidence}`)
    },
  )
}
