/**
 * Hypotheses of the posterior: a disease, perhaps a second one beside it, and the time at which the patient spoke.
 *
 * The chief complaint is the winner of a race: each present finding has an exponential clock whose rate s is how
 * eagerly patients of that disease come with it, and so has staying at home (rate h), after which another patient is
 * drawn. P(complaint) is its rate over the sum of all rates and h. Given the winner's time t, the other findings are
 * independent again: absent with 1 - p, or present and not yet voiced with p · exp(-s · t), where p = P(present |
 * diseases). So a few columns, one per time, make the choice of the complaint exact up to a quadrature over t
 * (trapezoidal in log t; within 2 % of any weight); without it, findings never asked about would count as if they
 * had been as likely to be the complaint.
 *
 * Example, without staying at home: diseases A and B with P = 1/2 each; cough is certain in both, fever occurs in
 * half of A and never in B, rate 1 each. P(opens with cough | A) = 1/2 + 1/2 · 1/2 = 3/4, as cough wins half the
 * races against fever, and P(opens with cough | B) = 1. So P(A | opens with cough) = .375 / (.375 + .5) = .4286.
 *
 * Long because pairs of diseases and complaint times share one table of columns.
 */

import type { Disease, FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'
import type { Families, Family } from './finding-families.js'
import { diseasesWithFindings, isBanded, membersByRoot } from './finding-families.js'
import type { Demographics, DiseasePool, Model, Node } from './generative-model.js'
import {
  canBeComplaint,
  companionWeights,
  complaintChoice,
  generativeModel,
  isInapplicable,
  mapTables,
  mixWithBackground,
  priorWeights,
  stayHomeRate,
} from './generative-model.js'

/** Settings of a tier that the hypotheses depend on. */
export interface HypothesisOptions {
  readonly atypicality: number
  /** P(a second disease). */
  readonly comorbidity: number
  readonly drawn: DiseasePool
}

/** The columns of the posterior and their prior. Column `pair * times + time`. */
export interface Hypotheses {
  /** Likelihood classes of the columns, by family of findings. */
  readonly families: Families
  /** Index of each column's (first) disease. */
  readonly disease: Int16Array
  /** Every column index: 0, 1, 2, … */
  readonly allColumns: Int32Array
  /** Unnormalised P(column, complaint node | age, sex), or P(column | age, sex) without a possible complaint. */
  columnWeights(who: Demographics, complaint: number | undefined): Float64Array
  /** P(complaint | all findings present), by column; no race over times is needed where everything is known. */
  complaintChoice(complaint: number, present: readonly number[]): Float64Array
}

const step = 1.3 // spacing of the quadrature points in log t
/** Quadrature points. At time 0 nothing else can have been voiced: every finding keeps its probability. */
const times = [0, ...Array.from({ length: 6 }, (_, k) => Math.exp(step * k - 3))]
/** Lower edge of the quadrature cell of the first time after 0. */
const firstEdge = Math.exp(-3 - step / 2)

/** P(the race is won at each time by a finding of this rate, before the patient settles for home | present). */
function timeShares(rate: number): readonly number[] {
  const leaving = rate + stayHomeRate
  const weights = times.map((t) =>
    t === 0 ? 1 - Math.exp(-leaving * firstEdge) : step * t * leaving * Math.exp(-leaving * t),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => ((weight / sum) * rate) / leaving)
}

/** {@link timeShares}, each rate's computed once. */
function sharesByRate(): (rate: number) => readonly number[] {
  const known = new Map<number, readonly number[]>()
  return (rate) => {
    const shares = known.get(rate) ?? timeShares(rate)
    known.set(rate, shares)
    return shares
  }
}

interface DiseasePair {
  readonly disease: number
  /** -1 where there is none. */
  readonly companion: number
}

/** Every disease alone, then with each that may accompany it at some age and sex. */
function listPairs(knowledge: Knowledge, comorbidity: number): readonly DiseasePair[] {
  const pairs = knowledge.diseases.map((_, disease): DiseasePair => ({ disease, companion: -1 }))
  if (comorbidity === 0) return pairs
  knowledge.diseases.forEach((one, disease) => {
    companionWeights(knowledge, one, {}).forEach((weight, companion) => {
      if (weight > 0) pairs.push({ disease, companion })
    })
  })
  return pairs
}

/** P(state | pair) at `[state * pairs + pair]`; a companion changes only the findings it lists. */
function pairStateTable(
  finding: FindingDefinition,
  pairs: readonly DiseasePair[],
  chance: Float64Array,
  together: (pair: DiseasePair) => readonly number[] | undefined,
): Float64Array {
  const out = new Float64Array(finding.states.length * pairs.length)
  const diseases = chance.length / finding.states.length
  pairs.forEach((pair, h) => {
    const both = together(pair)
    for (let s = 0; s < finding.states.length; s++)
      out[s * pairs.length + h] = both?.[s] ?? chance[s * diseases + pair.disease]!
  })
  return out
}

/** A node with one column per pair. Patients come with a finding as eagerly as the more eager disease makes them. */
function pairNode(
  node: Node,
  { diseases }: Knowledge,
  pairs: readonly DiseasePair[],
  atypicality: number,
): Node {
  const { finding, rates } = node
  const mapped = mapTables(node, (chance, background) =>
    pairStateTable(finding, pairs, chance, ({ disease, companion }) => {
      const second = diseases[companion]
      const first = diseases[disease] as Disease // a pair's own index
      return second?.findings[finding.id] === undefined
        ? undefined
        : mixWithBackground([first, second], finding, atypicality, background)
    }),
  )
  if (!rates) return mapped
  const eager = pairs.map(({ disease, companion }) =>
    Math.max(rates[disease]!, companion < 0 ? 0 : rates[companion]!),
  )
  return { ...mapped, rates: Float64Array.from(eager) }
}

/** P(pair | age, sex), unnormalised. */
function pairWeights(
  knowledge: Knowledge,
  pairs: readonly DiseasePair[],
  { comorbidity, drawn }: HypothesisOptions,
  who: Demographics,
): Float64Array {
  const prior = priorWeights(knowledge, who, drawn)
  if (comorbidity === 0) return prior
  const companions = knowledge.diseases.map((disease) => companionWeights(knowledge, disease, who))
  const sums = companions.map((weights) => weights.reduce((sum, weight) => sum + weight, 0))
  return Float64Array.from(pairs, ({ disease, companion }) => {
    const accompanied = sums[disease]! > 0 ? comorbidity : 0
    const share =
      companion < 0
        ? 1 - accompanied
        : (accompanied * companions[disease]![companion]!) / (sums[disease]! || 1)
    return prior[disease]! * share
  })
}

/** Every disease alone and with each that may accompany it. */
export interface DiseasePairs {
  /** Generative model with one column per pair. */
  readonly model: Model
  /** Index of the first disease of each column. */
  readonly disease: Int16Array
  /** Index of the second one; -1 where there is none. */
  readonly companion: Int16Array
  /** P(pair | age, sex), unnormalised. Cached: do not modify. */
  weights(who: Demographics): Float64Array
}

const pairsCache = perKnowledge(() => new Map<string, DiseasePairs>())

/** The diseases and pairs of diseases that a patient may have under a tier, memoised. */
export function diseasePairs(knowledge: Knowledge, options: HypothesisOptions): DiseasePairs {
  const { atypicality, comorbidity, drawn } = options
  const cache = pairsCache(knowledge)
  const key = `${atypicality} ${comorbidity} ${drawn}`
  const known = cache.get(key)
  if (known) return known
  const base = generativeModel(knowledge, atypicality)
  const list = listPairs(knowledge, comorbidity)
  const nodes =
    list.length === base.columns
      ? base.nodes
      : base.nodes.map((node) => pairNode(node, knowledge, list, atypicality))
  const weights = new Map<string, Float64Array>()
  const pairs: DiseasePairs = {
    model: { ...base, columns: list.length, nodes },
    companion: Int16Array.from(list, ({ companion }) => companion),
    disease: Int16Array.from(list, ({ disease }) => disease),
    weights(who) {
      // Keys are whole years with one of two sexes or neither: few.
      const person = `${who.sex} ${who.age === undefined ? '' : Math.floor(who.age)}`
      const weighed = weights.get(person) ?? pairWeights(knowledge, list, options, who)
      weights.set(person, weighed)
      return weighed
    },
  }
  cache.set(key, pairs)
  return pairs
}

/** Classes of the columns (every pair at every time) with equal likelihoods in one family of findings. */
function familyOfColumns(
  knowledge: Knowledge,
  pairs: DiseasePairs,
  members: readonly number[],
): Family {
  const { model, disease, companion } = pairs
  const rank = new Int16Array(knowledge.diseases.length)
  const listed = diseasesWithFindings(knowledge, model, members)
  listed.forEach((d, i) => {
    rank[d] = i + 1
  })
  const timed = canBeComplaint(model.nodes[members[0]!]!)
  const ranks = listed.length + 1
  const classes = new Int32Array(ranks * ranks * times.length).fill(-1)
  const classOf = new Int32Array(model.columns * times.length)
  const column: number[] = []
  for (let h = 0, c = 0; h < model.columns; h++) {
    const second = companion[h]! < 0 ? 0 : rank[companion[h]!]!
    const both = (rank[disease[h]!]! * ranks + second) * times.length
    for (let k = 0; k < times.length; k++, c++) {
      const key = both + (timed ? k : 0)
      if (classes[key]! < 0) classes[key] = column.push(c) - 1
      classOf[c] = classes[key]!
    }
  }
  const banded = isBanded(model, members)
  return { members, classes: column.length, classOf, column: Int32Array.from(column), banded }
}

/**
 * P(state | class) of a node, given that it was not voiced before the class's time t: a finding that can be the
 * complaint is present with p · exp(-s · t) / (1 - p + p · exp(-s · t)). `width` is the number of pairs.
 */
function classStateTable(
  { finding, rates }: Node,
  chance: Float64Array,
  { classes, column }: Family,
  width: number,
): Float64Array {
  const out = new Float64Array(finding.states.length * classes)
  for (let g = 0; g < classes; g++) {
    const h = Math.floor(column[g]! / times.length)
    const silent = rates ? Math.exp(-rates[h]! * times[column[g]! % times.length]!) : 1
    const heard = rates ? chance[width + h]! * (1 - silent) : 0
    for (let s = 0; s < finding.states.length; s++) {
      const p = chance[s * width + h]!
      out[s * classes + g] = (s === 1 ? p * silent : p) / (1 - heard)
    }
  }
  return out
}

/** log P(a finding that can be the complaint is not voiced before the class's time), for every class. */
function logSilence(
  { chance }: Node,
  rates: Float64Array,
  { column }: Family,
  width: number,
): Float64Array {
  return Float64Array.from(column, (c) => {
    const h = Math.floor(c / times.length)
    const p = chance[width + h]!
    return Math.log(1 - p + p * Math.exp(-rates[h]! * times[c % times.length]!))
  })
}

function hypothesisFamilies(knowledge: Knowledge, pairs: DiseasePairs): Families {
  const of: Family[] = []
  for (const members of membersByRoot(pairs.model).values()) {
    const family = familyOfColumns(knowledge, pairs, members)
    for (const f of members) of[f] = family
  }
  const { nodes, columns } = pairs.model
  const classNode = (node: Node, f: number): Node =>
    mapTables(node, (chance) => classStateTable(node, chance, of[f]!, columns))
  return { of, nodes: nodes.map(classNode) }
}

/** {@link logSilence} of every finding that can be the complaint. */
const silencesOf = (
  { nodes, columns }: Model,
  of: readonly Family[],
): ReadonlyMap<number, Float64Array> =>
  new Map(
    nodes.flatMap((node, f) =>
      node.rates ? [[f, logSilence(node, node.rates, of[f]!, columns)] as const] : [],
    ),
  )

/** Makes the function P(complaint wins the race at the column's time | column), cached by complaint and patient. */
function complaintRace(
  pairs: DiseasePairs,
  { nodes, of }: Families,
): (who: Demographics, complaint: number) => Float64Array {
  const width = pairs.model.columns
  const columns = width * times.length
  const silences = silencesOf(pairs.model, of)
  const openers = [...silences.keys()]
  /** Adds log P(not voiced) of finding `f` to every column, or subtracts it. */
  const addSilence = (logs: Float64Array, f: number, sign: 1 | -1): void => {
    const { classOf } = of[f]!
    const silent = silences.get(f)! // of every opener
    for (let c = 0; c < columns; c++) logs[c]! += sign * silent[classOf[c]!]!
  }
  const allSilent = new Float64Array(columns)
  for (const f of openers) addSilence(allSilent, f, 1)
  const factors = new Map<string, Float64Array>()
  const maxFactors = Math.max(1, Math.floor(2 ** 21 / columns)) // 16 MiB
  return (who, complaint) => {
    const out = openers.filter((f) => f === complaint || isInapplicable(nodes[f]!, who))
    const key = [complaint, ...out].join()
    const known = factors.get(key)
    if (known) return known
    const { rates, chance } = pairs.model.nodes[complaint]!
    const shareOf = sharesByRate()
    const factor = allSilent.slice()
    for (const f of out) addSilence(factor, f, -1)
    for (let h = 0, c = 0; h < width; h++) {
      const share = shareOf(rates?.[h] ?? 0)
      for (let k = 0; k < times.length; k++, c++)
        factor[c] = share[k]! * chance[width + h]! * Math.exp(factor[c]!)
    }
    if (factors.size >= maxFactors) factors.clear()
    factors.set(key, factor)
    return factor
  }
}

/** Builds the hypotheses of a knowledge base under a tier. */
export function buildHypotheses(knowledge: Knowledge, options: HypothesisOptions): Hypotheses {
  const pairs = diseasePairs(knowledge, options)
  const columns = pairs.model.columns * times.length
  const families = hypothesisFamilies(knowledge, pairs)
  const raceOf = complaintRace(pairs, families)
  return {
    families,
    allColumns: Int32Array.from({ length: columns }, (_, c) => c),
    disease: Int16Array.from(
      { length: columns },
      (_, c) => pairs.disease[Math.floor(c / times.length)]!,
    ),
    complaintChoice(complaint, present) {
      const choice = complaintChoice(pairs.model, complaint, present)
      return Float64Array.from({ length: columns }, (_, c) => choice[Math.floor(c / times.length)]!)
    },
    columnWeights(who, complaint) {
      const ofPairs = pairs.weights(who)
      const weights = new Float64Array(columns)
      if (complaint === undefined || !canBeComplaint(families.nodes[complaint]!))
        for (let h = 0; h < ofPairs.length; h++) weights[h * times.length] = ofPairs[h]!
      else {
        const factor = raceOf(who, complaint)
        for (let h = 0, c = 0; h < ofPairs.length; h++)
          for (let k = 0; k < times.length; k++, c++) weights[c] = ofPairs[h]! * factor[c]!
      }
      return weights
    },
  }
}
