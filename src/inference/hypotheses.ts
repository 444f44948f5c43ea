/**
 * What may be the matter, told apart as finely as exactness asks: the disease, a second one beside it, and how
 * soon the patient spoke up.
 *
 * The patient opens with the finding that wins a race of present findings, each with an exponential clock of
 * rate salience. Given the time t of the winner, every other finding is independent again: absent with 1 - p,
 * or present and not yet heard of with p · exp(-salience · t). So a few columns, one a time, make the choice of
 * the chief complaint exact up to a quadrature over t (trapezoidal in log t; within 2 % of any weight),
 * and findings that nobody asked about no longer count as if they had been as likely to be complained of.
 */

import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import type { Families, Family } from './finding-families.js'
import { listedIn, membersByRoot } from './finding-families.js'
import type { Demographics, Drawn, Model, Node } from './generative-model.js'
import { companionWeights, isMoot, mixed, modelOf, priorWeights } from './generative-model.js'

export interface HypothesisOptions {
  readonly atypicality: number
  /** P(a second disease). */
  readonly comorbidity: number
  readonly drawn: Drawn
}

export interface Hypotheses {
  /** One column for each disease, companion and time, merged by family. */
  readonly families: Families
  /** The disease of each column. */
  readonly disease: Int16Array
  /** Every column: 0, 1, 2, … */
  readonly every: Int32Array
  /**
   * P(column, chief complaint | age, sex), not normalised; without a complaint that somebody opens with,
   * P(column | age, sex).
   */
  start(who: Demographics, complaint: number | undefined): Float64Array
}

const step = 1.3
/** At time 0 nothing else can have been said, so that every finding keeps its chance. */
const times = [0, ...Array.from({ length: 6 }, (_, k) => Math.exp(step * k - 3))]
/** Where the cell of the first time after 0 begins. */
const soon = Math.exp(-3 - step / 2)

/** The share of each time in a race won at rate `salience`. */
function shares(salience: number): readonly number[] {
  const weights = times.map((t) =>
    t === 0 ? 1 - Math.exp(-salience * soon) : step * t * salience * Math.exp(-salience * t),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

/** Whether a patient can open with it. */
export const opens = ({ finding, parent }: Node): boolean =>
  finding.type === 'bool' && finding.knownBy === 'patient' && parent < 0 && finding.salience > 0

/** Numbers that the races kept may hold together: 16 MiB. */
const mostKept = 2 ** 21

interface Pair {
  readonly disease: number
  /** -1 where there is none. */
  readonly companion: number
}

/** Every disease alone, then with each that may accompany it at some age and sex. */
function pairsOf(knowledge: Knowledge, comorbidity: number): readonly Pair[] {
  const pairs = knowledge.diseases.map((_, disease): Pair => ({ disease, companion: -1 }))
  if (comorbidity === 0) return pairs
  knowledge.diseases.forEach((one, disease) => {
    companionWeights(knowledge, one, {}).forEach((weight, companion) => {
      if (weight > 0) pairs.push({ disease, companion })
    })
  })
  return pairs
}

/** P(state | pair), one column a pair; a companion changes only what it lists. */
function chanceOf(
  { finding, chance }: Node,
  { diseases }: Knowledge,
  pairs: readonly Pair[],
  atypicality: number,
): Float64Array {
  const out = new Float64Array(finding.states.length * pairs.length)
  pairs.forEach(({ disease, companion }, h) => {
    const second = diseases[companion]
    const first = diseases[disease] as Disease // a pair's own index
    const together =
      second?.findings[finding.id] === undefined
        ? undefined
        : mixed([first, second], finding, atypicality)
    for (let s = 0; s < finding.states.length; s++)
      out[s * pairs.length + h] = together?.[s] ?? chance[s * diseases.length + disease]!
  })
  return out
}

/** P(pair | age, sex), not normalised. */
function pairWeights(
  knowledge: Knowledge,
  pairs: readonly Pair[],
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
export interface Pairs {
  /** One column a pair. */
  readonly model: Model
  /** The first disease of each column. */
  readonly disease: Int16Array
  /** The second one; -1 where there is none. */
  readonly companion: Int16Array
  /** P(pair | age, sex), not normalised; not to be changed. */
  weights(who: Demographics): Float64Array
}

const kept = new WeakMap<Knowledge, Map<string, Pairs>>()

/** The diseases a patient may have together, under a tier's knobs; built once. */
export function pairsOver(knowledge: Knowledge, options: HypothesisOptions): Pairs {
  const { atypicality, comorbidity, drawn } = options
  const known = kept.get(knowledge) ?? new Map<string, Pairs>()
  kept.set(knowledge, known)
  const key = `${atypicality} ${comorbidity} ${drawn}`
  const made = known.get(key)
  if (made) return made
  const base = modelOf(knowledge, atypicality)
  const list = pairsOf(knowledge, comorbidity)
  const nodes =
    list.length === base.columns
      ? base.nodes
      : base.nodes.map((node) => ({
          ...node,
          chance: chanceOf(node, knowledge, list, atypicality),
        }))
  const weights = new Map<string, Float64Array>()
  const pairs: Pairs = {
    model: { ...base, columns: list.length, nodes },
    companion: Int16Array.from(list, ({ companion }) => companion),
    disease: Int16Array.from(list, ({ disease }) => disease),
    weights(who) {
      // Whole years, two sexes and neither: few people are told apart.
      const person = `${who.sex} ${who.age === undefined ? '' : Math.floor(who.age)}`
      const weighed = weights.get(person) ?? pairWeights(knowledge, list, options, who)
      weights.set(person, weighed)
      return weighed
    },
  }
  known.set(key, pairs)
  return pairs
}

/** Every pair once for each time: column `pair * times + time`. A family tells few of them apart. */
function familyOver(knowledge: Knowledge, pairs: Pairs, members: readonly number[]): Family {
  const { model, disease, companion } = pairs
  const rank = new Int16Array(knowledge.diseases.length)
  const listed = listedIn(knowledge, model, members)
  listed.forEach((d, i) => {
    rank[d] = i + 1
  })
  const timed = opens(model.nodes[members[0]!]!)
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
  return { members, classes: column.length, classOf, column: Int32Array.from(column) }
}

/** P(state | class) of a node; a finding that could have been said first is rarer the later it is. */
function overClasses(node: Node, { classes, column }: Family, width: number): Float64Array {
  const { finding, chance } = node
  const out = new Float64Array(finding.states.length * classes)
  for (let g = 0; g < classes; g++) {
    const h = Math.floor(column[g]! / times.length)
    const silent = opens(node) ? Math.exp(-finding.salience * times[column[g]! % times.length]!) : 1
    const heard = opens(node) ? chance[width + h]! * (1 - silent) : 0
    for (let s = 0; s < finding.states.length; s++) {
      const p = chance[s * width + h]!
      out[s * classes + g] = (s === 1 ? p * silent : p) / (1 - heard)
    }
  }
  return out
}

/** log P(not heard of by the time of the class) of a finding that could open. */
function silence({ finding, chance }: Node, { column }: Family, width: number): Float64Array {
  return Float64Array.from(column, (c) => {
    const p = chance[width + Math.floor(c / times.length)]!
    return Math.log(1 - p + p * Math.exp(-finding.salience * times[c % times.length]!))
  })
}

function familiesOf(knowledge: Knowledge, pairs: Pairs): Families {
  const of: Family[] = []
  for (const members of membersByRoot(pairs.model).values()) {
    const family = familyOver(knowledge, pairs, members)
    for (const f of members) of[f] = family
  }
  const width = pairs.model.columns
  const nodes = pairs.model.nodes.map((node, f) => ({
    ...node,
    chance: overClasses(node, of[f]!, width),
  }))
  return { of, nodes }
}

/** The hypotheses of a knowledge base under a tier's knobs. */
export function hypothesesOf(knowledge: Knowledge, options: HypothesisOptions): Hypotheses {
  const pairs = pairsOver(knowledge, options)
  const width = pairs.model.columns
  const columns = width * times.length
  const families = familiesOf(knowledge, pairs)
  const { nodes, of } = families
  const openers = nodes.flatMap((node, f) => (opens(node) ? [f] : []))
  const silences = new Map(
    openers.map((f) => [f, silence(pairs.model.nodes[f]!, of[f]!, width)] as const),
  )
  /** Adds log P(not heard of) of a finding to that of each column, or takes it away. */
  const hush = (logs: Float64Array, f: number, sign: 1 | -1): void => {
    const { classOf } = of[f]!
    const silent = silences.get(f)! // of every opener
    for (let c = 0; c < columns; c++) logs[c]! += sign * silent[classOf[c]!]!
  }
  const allSilent = new Float64Array(columns)
  for (const f of openers) hush(allSilent, f, 1)

  /** P(the complaint wins the race at the column's time | column), of so many complaints and kinds of people at a time. */
  const factors = new Map<string, Float64Array>()
  const mostFactors = Math.max(1, Math.floor(mostKept / columns))

  const raceOf = (who: Demographics, complaint: number): Float64Array => {
    const out = openers.filter((f) => f === complaint || isMoot(nodes[f]!, who))
    const key = [complaint, ...out].join()
    const known = factors.get(key)
    if (known) return known
    const { finding, chance } = pairs.model.nodes[complaint]!
    const share = shares(finding.salience)
    const factor = allSilent.slice()
    for (const f of out) hush(factor, f, -1)
    for (let h = 0, c = 0; h < width; h++)
      for (let k = 0; k < times.length; k++, c++)
        factor[c] = share[k]! * chance[width + h]! * Math.exp(factor[c]!)
    if (factors.size >= mostFactors) factors.clear()
    factors.set(key, factor)
    return factor
  }

  return {
    families,
    every: Int32Array.from({ length: columns }, (_, c) => c),
    disease: Int16Array.from(
      { length: columns },
      (_, c) => pairs.disease[Math.floor(c / times.length)]!,
    ),
    start(who, complaint) {
      const ofPairs = pairs.weights(who)
      const weights = new Float64Array(columns)
      if (complaint === undefined || !opens(nodes[complaint]!))
        for (let h = 0; h < width; h++) weights[h * times.length] = ofPairs[h]!
      else {
        const factor = raceOf(who, complaint)
        for (let h = 0, c = 0; h < width; h++)
          for (let k = 0; k < times.length; k++, c++) weights[c] = ofPairs[h]! * factor[c]!
      }
      return weights
    },
  }
}
