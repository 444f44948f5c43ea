/**
 * What a question or an examination would tell, before it is put: in nats, and in how well one could diagnose.
 *
 * Reckoned of the disease alone, without the companions and the choice of the complaint that the posterior
 * also sums over, which is a hundred times cheaper and may misjudge a question, never an answer.
 */
import type { Case } from '../case.js'
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import type { Done, Order } from './exam-outcomes.js'
import { ordersOf, overAvailability } from './exam-outcomes.js'
import { familiesOfDiseases, likelihoodOver } from './finding-families.js'
import type { Evidence, Model } from './generative-model.js'
import { sweepOver } from './information-batch.js'
import type { Tables } from './outcome-tables.js'
import { expectedBest, information, outcomeChances, tablesOf } from './outcome-tables.js'
import type { Standing, Utility } from './utility.js'
import { rightOnly, standingOf } from './utility.js'

/** What is known, as far as what may come of a question depends on it. */
export interface Known {
  /** In the order of `knowledge.diseases`; they sum to 1. */
  readonly probabilities: Float64Array
  readonly evidence: Evidence
}

export interface Outlook {
  /** Exact mutual information, in nats, of the disease and what the patient or examiner would tell of a finding. */
  expectedInformation(known: Known, finding: string): number
  /**
   * The same for an examination or panel and the chance that some of it is unavailable: exact (jointly) up to
   * 4 findings still unknown; above, the sum over families of findings, an upper bound.
   * @param least below which an upper bound, itself below it, will do, and is quicker @default 0
   */
  expectedInformationOfExam(known: Known, exam: string, done?: Done, least?: number): number
  /**
   * The expected worth of the best diagnosis once a finding has been asked about: exact.
   * @param utility @default that of naming the right disease, so that this is P(right)
   */
  expectedBest(known: Known, finding: string, utility?: Utility): number
  /**
   * The same for an examination or panel: exact (jointly) up to 4 findings still unknown; above, that of the
   * 4 which tell most by themselves, a lower bound.
   */
  expectedBestOfExam(known: Known, exam: string, done?: Done, utility?: Utility): number
  /** The diagnosis worth most as things stand, the first of equals, and what it is worth. */
  best(known: Known, utility?: Utility): { readonly disease: Disease; readonly worth: number }
  /** P(told for present, or in another state than the unremarkable one | remembered); 0 where it is known. */
  presence(known: Known, finding: string): number
}

/** Findings that are reckoned with jointly. */
const maxJoint = 4

/** How the diagnoses stood for the probabilities and utility asked about last: the same for every question. */
function standingKeeper(): (known: Known, utility: Utility) => Standing {
  let last: { p: Float64Array; utility: Utility; standing: Standing } | undefined
  return ({ probabilities: p }, utility) => {
    if (last?.p !== p || last.utility !== utility)
      last = { p, utility, standing: standingOf(utility, p) }
    return last.standing
  }
}

/** Everything that is fixed for a knowledge base and a tier. */
interface Ground {
  readonly knowledge: Knowledge
  readonly model: Model
  readonly tables: Tables
}

const parts = new WeakMap<readonly number[], Map<number, readonly number[]>>()

/** Those not told yet; for one list always the same list of them, so that what is made of it can be kept. */
function unknownOf({ evidence }: Known, findings: readonly number[]): readonly number[] {
  // More do not go into one number.
  if (findings.length > 50) return findings.filter((f) => evidence[f] === 0)
  let mask = 0
  for (let i = 0; i < findings.length; i++) mask = 2 * mask + (evidence[findings[i]!] === 0 ? 1 : 0)
  if (mask === 2 ** findings.length - 1) return findings
  const known = parts.get(findings) ?? new Map<number, readonly number[]>()
  parts.set(findings, known)
  const part = known.get(mask) ?? findings.filter((f) => evidence[f] === 0)
  known.set(mask, part)
  return part
}

/** What findings would tell one by one; kept while the same belief is asked about. */
function singlesOver({ model, tables }: Ground): (known: Known, finding: number) => number {
  const sweep = sweepOver(model, tables)
  let last: Known | undefined
  let told: Float64Array = new Float64Array(0)
  return (known, f) => {
    const { probabilities, evidence } = known
    if (last?.probabilities !== probabilities || last.evidence !== evidence) {
      last = known
      told = sweep(probabilities, evidence)
    }
    return told[f]!
  }
}

function informationOf({ tables }: Ground, known: Known, all: readonly number[]): number {
  const { probabilities, evidence } = known
  const findings = unknownOf(known, all)
  if (findings.length === 0) return 0
  if (findings.length <= maxJoint)
    return information(tables.joint(findings, evidence), probabilities)
  let sum = 0
  for (const table of tables.families(findings, evidence)) sum += information(table, probabilities)
  return sum
}

/** The outlook of a knowledge base under a tier's knobs. */
export function outlookOver(knowledge: Knowledge, model: Model, noise: Case['noise']): Outlook {
  const families = familiesOfDiseases(knowledge, model)
  const tables = tablesOf(families, likelihoodOver(families, noise))
  const ground: Ground = { knowledge, model, tables }
  const order = ordersOf(ground)
  const single = singlesOver(ground)
  /** Findings of different families are independent given the disease: together they tell no more than one by one. */
  const atMost = (known: Known, { apart }: Order): number => {
    if (!apart) return Number.POSITIVE_INFINITY
    let sum = 0
    for (const [f, chance] of apart) if (known.evidence[f] === 0) sum += chance * single(known, f)
    return sum
  }
  const mostTelling = (known: Known, findings: readonly number[]): readonly number[] =>
    [...findings].sort((a, b) => single(known, b) - single(known, a)).slice(0, maxJoint)
  const standing = standingKeeper()
  const right = rightOnly(knowledge)
  const open = (known: Known, finding: string): number => {
    const f = model.index.get(finding) ?? -1
    return f >= 0 && known.evidence[f] === 0 ? f : -1
  }
  const kept = (f: number): number =>
    model.nodes[f]!.finding.knownBy === 'patient' ? 1 - noise.forget : 1
  const now = (stands: Standing): number => stands.worth[stands.order[0]!]!
  return {
    expectedInformation(known, finding) {
      const f = open(known, finding)
      if (f < 0) return 0
      return kept(f) * single(known, f)
    },
    expectedInformationOfExam(known, exam, done, least = 0) {
      const ordered = order(exam, done)
      if (!ordered) return 0
      const bound = least > 0 ? atMost(known, ordered) : Number.POSITIVE_INFINITY
      if (bound < least) return bound
      return overAvailability(ordered, (findings) => informationOf(ground, known, findings))
    },
    expectedBest(known, finding, utility = right) {
      const f = open(known, finding)
      const stands = standing(known, utility)
      if (f < 0) return now(stands)
      const table = tables.single(f, known.evidence)
      const then = expectedBest(table, known.probabilities, utility, stands)
      return kept(f) * then + (1 - kept(f)) * now(stands)
    },
    expectedBestOfExam(known, exam, done, utility = right) {
      const stands = standing(known, utility)
      const best = (all: readonly number[]): number => {
        const open = unknownOf(known, all)
        if (open.length === 0) return now(stands)
        const findings = open.length <= maxJoint ? open : mostTelling(known, open)
        const table = tables.joint(findings, known.evidence)
        return expectedBest(table, known.probabilities, utility, stands)
      }
      const ordered = order(exam, done)
      return ordered ? overAvailability(ordered, best) : now(stands)
    },
    best(known, utility = right) {
      const { worth, order: ranked } = standing(known, utility)
      const d = ranked[0]!
      return { disease: knowledge.diseases[d]!, worth: worth[d]! }
    },
    presence(known, finding) {
      const f = open(known, finding)
      if (f < 0) return 0
      const chances = outcomeChances(tables.single(f, known.evidence), known.probabilities)
      const { normal, closed } = model.nodes[f]!
      return 1 - chances[normal]! - (chances[closed] ?? 0)
    },
  }
}
