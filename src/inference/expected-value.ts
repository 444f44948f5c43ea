/**
 * Value of a question or an examination before it is made: expected information gain in nats, and expected utility
 * of the best diagnosis afterwards.
 *
 * Approximation: ignores comorbidity and how the complaint was chosen, which the posterior sums over too. That is
 * a hundred times cheaper, and may misjudge a question, never an answer.
 */
import type { Case } from '../case.js'
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import { memoizeByIdentity } from '../platform/memoize.js'
import type { Evidence } from './evidence.js'
import type { DoneExams, ExamOutcomes } from './exam-outcomes.js'
import { expectOverAvailability, indexExamOutcomes } from './exam-outcomes.js'
import { diseaseFamilies, likelihoodFunction } from './finding-families.js'
import { isUnforgettable, type Model } from './generative-model.js'
import { informationBatch } from './information-batch.js'
import type { OutcomeTables } from './outcome-tables.js'
import {
  expectedBestUtility,
  mutualInformation,
  outcomeProbabilities,
  outcomeTables,
} from './outcome-tables.js'
import { accuracyUtility, type DiagnosisRanking, rankDiagnoses, type Utility } from './utility.js'

/** Disease probabilities and evidence: the part of a belief that the value of a question depends on. */
export interface DiseaseBelief {
  /** P(disease | evidence), in the order of `knowledge.diseases`; sums to 1. */
  readonly probabilities: Float64Array
  readonly evidence: Evidence
}

/** Expected information gain, in nats: mutual information of the disease and what would be revealed. */
export interface ExpectedInformation {
  /** Of asking about (or examining) one finding; exact. 0 where its state is known. */
  expectedInformation(known: DiseaseBelief, finding: string): number
  /**
   * Of an examination or panel, averaged over what may be unavailable: exact (jointly) up to 4 findings still
   * unknown; above, the sum over families of findings, an upper bound.
   * @param least an upper bound suffices where it is below this, which is faster @default 0
   */
  expectedInformationOfExam(
    known: DiseaseBelief,
    exam: string,
    done?: DoneExams,
    least?: number,
  ): number
}

/** Expected utility of the best diagnosis. */
export interface ExpectedUtility {
  /**
   * Once a finding has been asked about; exact.
   * @param utility @default 1 for the right disease and 0 for others, so that this is P(right)
   */
  expectedBestUtility(known: DiseaseBelief, finding: string, utility?: Utility): number
  /**
   * After an examination or panel: exact (jointly) up to 4 findings still unknown; above, that of the 4 most
   * informative by themselves, a lower bound.
   */
  expectedBestUtilityOfExam(
    known: DiseaseBelief,
    exam: string,
    done?: DoneExams,
    utility?: Utility,
  ): number
  /** The diagnosis of highest expected utility now (the first of equals), and that utility. */
  bestDiagnosis(
    known: DiseaseBelief,
    utility?: Utility,
  ): { readonly disease: Disease; readonly worth: number }
}

/** Value of questions and examinations under a tier. */
export interface ExpectedValues extends ExpectedInformation, ExpectedUtility {
  /** P(reported as present, or in another than the normal state | remembered); 0 where its state is known. */
  presenceProbability(known: DiseaseBelief, finding: string): number
}

const maxJoint = 4 // findings whose joint distribution is computed

/** Ranks the diagnoses, and keeps the last result: all questions of a turn share probabilities and utility. */
function rankingCache(): (known: DiseaseBelief, utility: Utility) => DiagnosisRanking {
  let last: { p: Float64Array; utility: Utility; ranking: DiagnosisRanking } | undefined
  return ({ probabilities: p }, utility) => {
    if (last?.p !== p || last.utility !== utility)
      last = { p, utility, ranking: rankDiagnoses(utility, p) }
    return last.ranking
  }
}

type Subsets = Map<number, readonly number[]> // by bit mask
const subsets = memoizeByIdentity((_findings: readonly number[]): Subsets => new Map())

/** The findings without evidence; the same array for the same subset of one list, so that results can be cached. */
function unknownFindings(
  { evidence }: DiseaseBelief,
  findings: readonly number[],
): readonly number[] {
  // The mask of more does not fit into one number.
  if (findings.length > 50) return findings.filter((f) => evidence[f] === 0)
  let mask = 0
  for (let i = 0; i < findings.length; i++) mask = 2 * mask + (evidence[findings[i]!] === 0 ? 1 : 0)
  if (mask === 2 ** findings.length - 1) return findings
  const known = subsets(findings)
  const part = known.get(mask) ?? findings.filter((f) => evidence[f] === 0)
  known.set(mask, part)
  return part
}

/** Mutual information of the disease and single findings; the batch is kept while the same belief is asked about. */
function singleInformation(
  model: Model,
  tables: OutcomeTables,
): (known: DiseaseBelief, finding: number) => number {
  const sweep = informationBatch(model, tables)
  let last: DiseaseBelief | undefined
  let all: Float64Array = new Float64Array(0)
  return (known, f) => {
    const { probabilities, evidence } = known
    if (last?.probabilities !== probabilities || last.evidence !== evidence) {
      last = known
      all = sweep(probabilities, evidence)
    }
    return all[f]!
  }
}

function jointInformation(
  tables: OutcomeTables,
  known: DiseaseBelief,
  all: readonly number[],
): number {
  const { probabilities, evidence } = known
  const findings = unknownFindings(known, all)
  if (findings.length === 0) return 0
  if (findings.length <= maxJoint)
    return mutualInformation(tables.joint(findings, evidence), probabilities)
  let sum = 0
  for (const table of tables.families(findings, evidence))
    sum += mutualInformation(table, probabilities)
  return sum
}

/** Functions and tables fixed for a knowledge base and a tier. */
function valueContext(knowledge: Knowledge, model: Model, noise: Case['noise']) {
  const families = diseaseFamilies(knowledge, model)
  const tables = outcomeTables(families, likelihoodFunction(families, noise))
  /** Node index of a finding whose state is unknown, else -1. */
  const open = (known: DiseaseBelief, finding: string): number => {
    const f = model.index.get(finding) ?? -1
    return f >= 0 && known.evidence[f] === 0 ? f : -1
  }
  /** P(the finding's state is revealed): below 1 where a patient may have forgotten it. */
  const revealed = (f: number): number => {
    const { finding } = model.nodes[f]!
    return finding.knownBy === 'patient' && !isUnforgettable(finding) ? 1 - noise.forget : 1
  }
  const order = indexExamOutcomes({ knowledge, model })
  return { knowledge, tables, open, revealed, order, single: singleInformation(model, tables) }
}

type ValueContext = ReturnType<typeof valueContext>

function expectedInformation(context: ValueContext): ExpectedInformation {
  const { tables, order, single, open, revealed } = context
  /** Findings of different families are independent given the disease: jointly no more informative than summed. */
  const upperBound = (known: DiseaseBelief, { independent: apart }: ExamOutcomes): number => {
    if (!apart) return Number.POSITIVE_INFINITY
    let sum = 0
    for (const [f, chance] of apart) if (known.evidence[f] === 0) sum += chance * single(known, f)
    return sum
  }
  return {
    expectedInformation(known, finding) {
      const f = open(known, finding)
      if (f < 0) return 0
      return revealed(f) * single(known, f)
    },
    expectedInformationOfExam(known, exam, done, least = 0) {
      const ordered = order(exam, done)
      if (!ordered) return 0
      const bound = least > 0 ? upperBound(known, ordered) : Number.POSITIVE_INFINITY
      if (bound < least) return bound
      return expectOverAvailability(ordered, (findings) =>
        jointInformation(tables, known, findings),
      )
    },
  }
}

function expectedUtility(context: ValueContext): ExpectedUtility {
  const { knowledge, tables, order, single, open, revealed } = context
  const rank = rankingCache()
  const right = accuracyUtility(knowledge)
  const mostInformative = (known: DiseaseBelief, findings: readonly number[]): readonly number[] =>
    [...findings].sort((a, b) => single(known, b) - single(known, a)).slice(0, maxJoint)
  const now = (ranking: DiagnosisRanking): number => ranking.worth[ranking.order[0]!]!
  return {
    expectedBestUtility(known, finding, utility = right) {
      const f = open(known, finding)
      const ranking = rank(known, utility)
      if (f < 0) return now(ranking)
      const table = tables.single(f, known.evidence)
      const then = expectedBestUtility(table, known.probabilities, utility, ranking)
      return revealed(f) * then + (1 - revealed(f)) * now(ranking)
    },
    expectedBestUtilityOfExam(known, exam, done, utility = right) {
      const ranking = rank(known, utility)
      const best = (all: readonly number[]): number => {
        const unknown = unknownFindings(known, all)
        if (unknown.length === 0) return now(ranking)
        const findings = unknown.length <= maxJoint ? unknown : mostInformative(known, unknown)
        const table = tables.joint(findings, known.evidence)
        return expectedBestUtility(table, known.probabilities, utility, ranking)
      }
      const ordered = order(exam, done)
      return ordered ? expectOverAvailability(ordered, best) : now(ranking)
    },
    bestDiagnosis(known, utility = right) {
      const { worth, order: ranked } = rank(known, utility)
      const d = ranked[0]!
      return { disease: knowledge.diseases[d]!, worth: worth[d]! }
    },
  }
}

/** Expected information and utility of every question and examination of a knowledge base, under a tier's noise. */
export function expectedValues(
  knowledge: Knowledge,
  model: Model,
  noise: Case['noise'],
): ExpectedValues {
  const context = valueContext(knowledge, model, noise)
  const { tables, open } = context
  return {
    ...expectedInformation(context),
    ...expectedUtility(context),
    presenceProbability(known, finding) {
      const f = open(known, finding)
      if (f < 0) return 0
      const chances = outcomeProbabilities(tables.single(f, known.evidence), known.probabilities)
      const { normal, closed } = model.nodes[f]!
      return 1 - chances[normal]! - (chances[closed] ?? 0)
    },
  }
}
