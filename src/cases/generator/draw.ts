/** Draws a patient from the model: age, sex, diseases, the state of every finding, and what they complain of. */

import type { Demographics, Drawn, Model, Node } from '../../inference/generative-model.js'
import { companionWeights, isMoot, mixed, priorWeights } from '../../inference/generative-model.js'
import { opens } from '../../inference/hypotheses.js'
import type { Disease, Knowledge } from '../../knowledge/knowledge.js'
import type { Tier } from '../../knowledge/tiers.js'
import { fork, pickWeighted, uniform } from '../../seed.js'
import { drawAge } from './age.js'

/** One drawn patient, as indices into the model. */
export interface Patient {
  readonly seed: number
  /** In years; a fraction below 2. */
  readonly age: number
  readonly sex: 'F' | 'M'
  /** Weights of the diseases for this age and sex as a doctor must count with them, not normalised. */
  readonly prior: Float64Array
  readonly disease: number
  /** A second disease; -1 where there is none. */
  readonly companion: number
  /** The true state of each node; one past its states where its gate is closed or it is of another sex or age. */
  readonly states: Int8Array
  /** The node the patient opens with. */
  readonly complaint: number
}

/** What a counterfactual twin has otherwise; every other draw is the same. */
export interface Change {
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

function stateOf(chance: (state: number) => number, states: number, u: number): number {
  if (states === 2) return u < chance(1) ? 1 : 0
  let left = u
  for (let state = 0; state < states - 1; state++) {
    left -= chance(state)
    if (left < 0) return state
  }
  // Rounding may leave a crumb after the last value with any chance.
  let state = states - 1
  while (state > 0 && chance(state) === 0) state--
  return state
}

/** Both diseases of a patient, and how typical they are. */
interface Illness {
  readonly disease: number
  readonly companion: number
  readonly atypicality: number
}

function chanceOf(
  knowledge: Knowledge,
  { columns }: Model,
  { finding, chance }: Node,
  { disease, companion, atypicality }: Illness,
): (state: number) => number {
  const second = knowledge.diseases[companion]
  if (second?.findings[finding.id] === undefined)
    return (state) => chance[state * columns + disease]!
  const first = knowledge.diseases[disease] as Disease // drawn from them
  const together = mixed([first, second], finding, atypicality)
  return (state) => together[state]!
}

function drawStates(
  knowledge: Knowledge,
  model: Model,
  illness: Illness,
  who: Demographics,
  seed: number,
  fixed: Change['findings'] = {},
): Int8Array {
  const states = new Int8Array(model.nodes.length)
  model.nodes.forEach((node, f) => {
    const { id, states: all } = node.finding
    const open = !isMoot(node, who) && (node.parent < 0 || states[node.parent] === node.when)
    const set = Object.hasOwn(fixed, id) ? all.indexOf(fixed[id] ?? '') : -1
    states[f] = !open
      ? node.closed
      : set >= 0
        ? set
        : stateOf(
            chanceOf(knowledge, model, node, illness),
            all.length,
            uniform(seed, 'finding', id),
          )
  })
  return states
}

/**
 * The present root finding the patient opens with, drawn in proportion to salience; -1 where there is none.
 * Each finding runs its own keyed race against the clock, so that a new one can win but moves no other.
 */
function drawComplaint(model: Model, states: Int8Array, seed: number): number {
  let chosen = -1
  let soonest = Number.POSITIVE_INFINITY
  model.nodes.forEach((node, f) => {
    if (!opens(node) || states[f] !== 1) return
    const { id, salience } = node.finding
    const arrival = -Math.log1p(-uniform(seed, 'complaint', id)) / salience
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

const indexOf = ({ diseases }: Knowledge, id: string): number =>
  diseases.findIndex((disease) => disease.id === id)

/** One attempt: undefined for somebody who has no disease of these, or nothing to complain of. */
function attempt(
  knowledge: Knowledge,
  model: Model,
  { atypicality, comorbidity, novel }: Tier,
  seed: number,
  change: Change,
): Patient | undefined {
  const drawn: Drawn = novel ? 'novel' : 'common'
  const age = change.age ?? drawAge(knowledge, drawn, seed)
  const sex = change.sex ?? (uniform(seed, 'sex') < 0.5 ? 'F' : 'M')
  const who = { age, sex }
  const weights = priorWeights(knowledge, who, drawn)
  if (change.disease === undefined && !weights.some((weight) => weight > 0)) return undefined
  const disease =
    change.disease === undefined
      ? pickWeighted(weights, seed, 'dx')
      : indexOf(knowledge, change.disease)
  const companion =
    change.companion === undefined
      ? drawCompanion(knowledge, disease, comorbidity, who, seed)
      : change.companion === null
        ? -1
        : indexOf(knowledge, change.companion)
  const illness = { disease, companion, atypicality }
  const states = drawStates(knowledge, model, illness, who, seed, change.findings)
  const complaint = drawComplaint(model, states, seed)
  const prior = novel ? priorWeights(knowledge, who, 'all') : weights
  return complaint < 0
    ? undefined
    : { seed, age, sex, prior, disease, companion, states, complaint }
}

/** Whether a twin can be: their diseases at that age and together, and what was changed there to be seen. */
function isPossible(
  knowledge: Knowledge,
  model: Model,
  { age, sex, disease, companion, states }: Patient,
  { findings = {} }: Change,
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
 * Draws until somebody has something to complain of; a drawn-again patient is drawn whole.
 * @param change what a twin of the drawn patient has otherwise
 * @throws RangeError when 50 draws find nobody, or a twin cannot be: no complaint, not at that age or sex, a
 * second disease that never accompanies the first, or a finding where its parent rules it out
 */
export function drawPatient(
  knowledge: Knowledge,
  model: Model,
  tier: Tier,
  root: number,
  change?: Change,
): Patient {
  for (let n = 0; n < maxAttempts; n++) {
    const seed = n === 0 ? root : fork(root, 'attempt', n)
    const patient = attempt(knowledge, model, tier, seed, {})
    if (!patient) continue
    if (!change) return patient
    const twin = attempt(knowledge, model, tier, seed, change)
    if (twin && isPossible(knowledge, model, twin, change)) return twin
    throw new RangeError(
      `Expected a twin who complains of something and can have all that is changed at ${change.age ?? patient.age} years and sex ${change.sex ?? patient.sex}, got none for ${JSON.stringify(change)}`,
    )
  }
  throw new RangeError(
    `Expected a patient with a complaint within ${maxAttempts} draws, got none for seed ${root}: does every disease show a finding with salience, and does the tier draw any of them?`,
  )
}
