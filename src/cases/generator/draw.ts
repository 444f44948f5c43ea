/** Draws a patient from the generative model: age, sex, diseases, the state of every finding, chief complaint. */
import type { Demographics, DiseasePool, Model, Node } from '../../inference/generative-model.js'
import {
  canBeComplaint,
  chanceOf,
  companionWeights,
  isInapplicable,
  isOpen,
  mixWithBackground,
  priorWeights,
  stayHomeRate,
} from '../../inference/generative-model.js'
import { backgroundFor, type Disease, type Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import type { Tier } from '../../knowledge/tiers.js'
import { fork, pickWeighted, uniform, uniformInt } from '../../seed.js'

const childhood = 16
const childShare = 0.12

type AgeGroups = Readonly<Record<'child' | 'adult', boolean>>

function findAgeGroups(knowledge: Knowledge, drawn: DiseasePool): AgeGroups {
  const occurs = (from: number, to: number): boolean => {
    for (let age = from; age < to; age++)
      if (priorWeights(knowledge, { age }, drawn).some((weight) => weight > 0)) return true
    return false
  }
  return { child: occurs(0, childhood), adult: occurs(childhood, 86) }
}

const ageGroups = perKnowledge(() => new Map<DiseasePool, AgeGroups>())

/** Draws an age in years: in whole months below 2. 12 % are children where diseases of both age groups are drawn. */
export function drawAge(knowledge: Knowledge, drawn: DiseasePool, seed: number): number {
  const known = ageGroups(knowledge)
  const { child, adult } = known.get(drawn) ?? findAgeGroups(knowledge, drawn)
  known.set(drawn, { child, adult })
  const young = child && (!adult || uniform(seed, 'child') < childShare)
  if (!young) return childhood + uniformInt(70, seed, 'age')
  const years = uniformInt(childhood, seed, 'child-age')
  return years < 2 ? years + uniformInt(12, seed, 'month') / 12 : years
}

/** One drawn patient; diseases, states and findings are indices into the model. */
export interface DrawnPatient {
  readonly seed: number
  /** In years; a fraction below 2. */
  readonly age: number
  readonly sex: 'F' | 'M'
  /** Unnormalised P(disease | age, sex) that a doctor must assume: of all diseases where the tier draws novel ones. */
  readonly prior: Float64Array
  readonly disease: number
  /** A second disease; -1 where there is none. */
  readonly companion: number
  /** True state of each node; one past its states where its gate is closed or sex or age rules it out. */
  readonly states: Int8Array
  /** Band of age and sex, by the model's `bandOf`. */
  readonly band: number
  /** Node index of the chief complaint. */
  readonly complaint: number
}

/** Changes that make a counterfactual twin; every other draw is the same. */
export interface CaseChange {
  /** A disease's id. */
  readonly disease?: string
  /** A second disease's id, or null for none. */
  readonly companion?: string | null
  /** In years. */
  readonly age?: number
  readonly sex?: 'F' | 'M'
  /** States by finding id. */
  readonly findings?: Readonly<Record<string, string>>
}

const maxAttempts = 50

/** Inverts the distribution `chance` over states at `u` in [0, 1). */
function pickState(chance: (state: number) => number, states: number, u: number): number {
  if (states === 2) return u < chance(1) ? 1 : 0
  let left = u
  for (let state = 0; state < states - 1; state++) {
    left -= chance(state)
    if (left < 0) return state
  }
  // Rounding may leave a remainder after the last state of positive probability.
  let state = states - 1
  while (state > 0 && chance(state) === 0) state--
  return state
}

/** A patient's diseases (companion -1 for none) and the tier's atypicality. */
interface Illness {
  readonly disease: number
  readonly companion: number
  readonly atypicality: number
}

/** The patient as far as drawn: how a finding depends on age, sex and other findings. */
interface PatientSoFar {
  readonly illness: Illness
  readonly who: Demographics
  readonly band: number
  readonly states: Int8Array
}

/** P(state | both diseases, gate open, state of the parent) of a finding. */
function stateChances(
  knowledge: Knowledge,
  { columns, nodes }: Model,
  node: Node,
  { illness: { disease, companion, atypicality }, who, band, states }: PatientSoFar,
): (state: number) => number {
  const above = node.parent < 0 ? -1 : states[node.parent]!
  const second = knowledge.diseases[companion]
  if (second?.findings[node.finding.id] === undefined) {
    const chance = chanceOf(node, band, above)
    return (state) => chance[state * columns + disease]!
  }
  const first = knowledge.diseases[disease] as Disease // drawn from them
  const aboveName = nodes[node.parent]?.finding.states[above]
  const background = backgroundFor(node.finding, who, aboveName)
  const together = mixWithBackground([first, second], node.finding, atypicality, background)
  return (state) => together[state]!
}

function drawStates(
  knowledge: Knowledge,
  model: Model,
  illness: Illness,
  who: Demographics,
  seed: number,
  fixed: CaseChange['findings'] = {},
): Int8Array {
  const states = new Int8Array(model.nodes.length)
  const drawing: PatientSoFar = { illness, who, band: model.bandOf(who), states }
  model.nodes.forEach((node, f) => {
    const { id, states: all } = node.finding
    const open = !isInapplicable(node, who) && isOpen(node, states[node.parent] ?? -1)
    const set = Object.hasOwn(fixed, id) ? all.indexOf(fixed[id] ?? '') : -1
    states[f] = !open
      ? node.closed
      : set >= 0
        ? set
        : pickState(
            stateChances(knowledge, model, node, drawing),
            all.length,
            uniform(seed, 'finding', id),
          )
  })
  return states
}

/** First ring of an exponential clock of a rate, keyed by name. */
const ring = (seed: number, name: string, rate: number): number =>
  -Math.log1p(-uniform(seed, 'complaint', name)) / rate

/**
 * Draws the chief complaint among present root findings, as eagerly as patients of either disease come with it; -1
 * for a patient who stays at home. Each finding has its own keyed exponential clock, so that a new finding can win
 * but changes no other draw.
 * @param brought the patient comes whatever happens, if there is anything to complain of
 */
function drawComplaint(
  model: Model,
  { disease, companion }: Illness,
  states: Int8Array,
  seed: number,
  brought: boolean,
): number {
  let chosen = -1
  let soonest = brought ? Number.POSITIVE_INFINITY : ring(seed, 'stay-home', stayHomeRate)
  model.nodes.forEach((node, f) => {
    if (!canBeComplaint(node) || states[f] !== 1) return
    const rate = Math.max(node.rates?.[disease] ?? 0, node.rates?.[companion] ?? 0)
    const arrival = ring(seed, node.finding.id, rate)
    if (arrival < soonest) {
      soonest = arrival
      chosen = f
    }
  })
  return chosen
}

function drawCompanion(
  knowledge: Knowledge,
  disease: number,
  comorbidity: number,
  who: Demographics,
  seed: number,
): number {
  if (comorbidity === 0 || uniform(seed, 'comorbid') >= comorbidity) return -1
  const first = knowledge.diseases[disease] as Disease // drawn from them
  const weights = companionWeights(knowledge, first, who)
  return weights.some((weight) => weight > 0) ? pickWeighted(weights, seed, 'comorbid-dx') : -1
}

const diseaseIndex = ({ diseases }: Knowledge, id: string): number =>
  diseases.findIndex((disease) => disease.id === id)

/** One attempt; undefined where no drawn disease occurs at the age and sex, or the patient stays at home. */
function attemptDraw(
  knowledge: Knowledge,
  model: Model,
  { atypicality, comorbidity, novel }: Tier,
  seed: number,
  change: CaseChange = {},
  brought = false,
): DrawnPatient | undefined {
  const drawn: DiseasePool = novel ? 'novel' : 'common'
  const age = change.age ?? drawAge(knowledge, drawn, seed)
  const sex = change.sex ?? (uniform(seed, 'sex') < 0.5 ? 'F' : 'M')
  const who = { age, sex }
  const weights = priorWeights(knowledge, who, drawn)
  if (change.disease === undefined && !weights.some((weight) => weight > 0)) return undefined
  const disease =
    change.disease === undefined
      ? pickWeighted(weights, seed, 'dx')
      : diseaseIndex(knowledge, change.disease)
  const companion =
    change.companion === undefined
      ? drawCompanion(knowledge, disease, comorbidity, who, seed)
      : change.companion === null
        ? -1
        : diseaseIndex(knowledge, change.companion)
  const illness = { disease, companion, atypicality }
  const states = drawStates(knowledge, model, illness, who, seed, change.findings)
  const complaint = drawComplaint(model, illness, states, seed, brought)
  const prior = novel ? priorWeights(knowledge, who, 'all') : weights
  return complaint < 0
    ? undefined
    : { seed, ...who, band: model.bandOf(who), prior, disease, companion, states, complaint }
}

/** Whether a twin is possible: its diseases at that age and sex and together, and every changed finding in effect. */
function isPossible(
  knowledge: Knowledge,
  model: Model,
  { age, sex, disease, companion, states }: DrawnPatient,
  { findings = {} }: CaseChange,
): boolean {
  const who = { age, sex }
  const first = knowledge.diseases[disease] as Disease // drawn from them
  if (!(priorWeights(knowledge, who, 'all')[disease]! > 0)) return false
  if (companion >= 0 && !(companionWeights(knowledge, first, who)[companion]! > 0)) return false
  return Object.entries(findings).every(([id, state]) => {
    const f = model.index.get(id)
    return f !== undefined && model.nodes[f]!.finding.states[states[f]!] === state
  })
}

/**
 * Draws patients until one has a chief complaint; every attempt draws the whole patient anew.
 * @param change makes the counterfactual twin of the drawn patient
 * @throws RangeError when 50 attempts fail, or the twin is impossible: no complaint, no such disease at that age or
 * sex, a second disease that never accompanies the first, or a finding whose parent rules it out
 */
export function drawPatient(
  knowledge: Knowledge,
  model: Model,
  tier: Tier,
  root: number,
  change?: CaseChange,
): DrawnPatient {
  for (let n = 0; n < maxAttempts; n++) {
    const seed = n === 0 ? root : fork(root, 'attempt', n)
    const patient = attemptDraw(knowledge, model, tier, seed)
    if (!patient) continue
    if (!change) return patient
    const twin = attemptDraw(knowledge, model, tier, seed, change, true)
    if (twin && isPossible(knowledge, model, twin, change)) return twin
    throw new RangeError(
      `Expected a twin who complains of something and can have all that is changed at ${change.age ?? patient.age} years and sex ${change.sex ?? patient.sex}, got none for ${JSON.stringify(change)}`,
    )
  }
  throw new RangeError(
    `Expected a patient with a complaint within ${maxAttempts} draws, got none for seed ${root}: does every disease list something to come with, and does the tier draw any of them?`,
  )
}
