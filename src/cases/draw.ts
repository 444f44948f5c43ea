/** Draws a patient from the model: age, sex, disease, the state of every finding, and what they complain of. */
import type { Knowledge } from '../knowledge.js'
import type { Demographics, Model, Node } from '../likelihood.js'
import { isMoot, priorWeights } from '../likelihood.js'
import { below, fork, pickWeighted, uniform } from '../seed.js'

/** One drawn patient, as indices into the model. */
export interface Patient {
  readonly seed: number
  readonly age: number
  readonly sex: 'F' | 'M'
  /** Weights of the diseases for this age and sex, not normalised. */
  readonly prior: Float64Array
  readonly disease: number
  /** The true state of each node; one past its states where its gate is closed or it is of the other sex. */
  readonly states: Int8Array
  /** The node the patient opens with. */
  readonly complaint: number
}

const maxAttempts = 50

function drawState(node: Node, disease: number, diseases: number, seed: number): number {
  const u = uniform(seed, 'finding', node.finding.id)
  if (node.finding.type === 'bool') return u < node.chance[diseases + disease]! ? 1 : 0
  const last = node.finding.states.length - 1
  let left = u
  for (let state = 0; state < last; state++) {
    left -= node.chance[state * diseases + disease]!
    if (left < 0) return state
  }
  // Rounding may leave a crumb after the last value with any chance.
  let state = last
  while (state > 0 && node.chance[state * diseases + disease] === 0) state--
  return state
}

function drawStates(model: Model, disease: number, who: Demographics, seed: number): Int8Array {
  const states = new Int8Array(model.nodes.length)
  for (let f = 0; f < states.length; f++) {
    const node = model.nodes[f]!
    const open = !isMoot(node, who) && (node.parent < 0 || states[node.parent] === node.when)
    states[f] = open ? drawState(node, disease, model.diseases, seed) : node.closed
  }
  return states
}

/**
 * The present root finding the patient opens with, drawn in proportion to salience; -1 where there is none.
 * Each finding runs its own keyed race against the clock, so that a new one can win but moves no other.
 */
function drawComplaint(model: Model, states: Int8Array, seed: number): number {
  let chosen = -1
  let soonest = Number.POSITIVE_INFINITY
  model.nodes.forEach(({ finding, parent }, f) => {
    const eligible = finding.type === 'bool' && finding.knownBy === 'patient' && parent < 0
    if (!eligible || states[f] !== 1 || finding.salience === 0) return
    const arrival = -Math.log1p(-uniform(seed, 'complaint', finding.id)) / finding.salience
    if (arrival < soonest) {
      soonest = arrival
      chosen = f
    }
  })
  return chosen
}

/**
 * Draws until somebody has something to complain of; a drawn-again patient is drawn whole.
 * @throws RangeError when 50 draws find nobody
 */
export function drawPatient(knowledge: Knowledge, model: Model, root: number): Patient {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const seed = attempt === 0 ? root : fork(root, 'attempt', attempt)
    const age = 16 + below(70, seed, 'age')
    const sex = uniform(seed, 'sex') < 0.5 ? 'F' : 'M'
    const prior = priorWeights(knowledge, { age, sex })
    if (!prior.some((weight) => weight > 0)) continue
    const disease = pickWeighted(prior, seed, 'dx')
    const states = drawStates(model, disease, { age, sex }, seed)
    const complaint = drawComplaint(model, states, seed)
    if (complaint >= 0) return { seed, age, sex, prior, disease, states, complaint }
  }
  throw new RangeError(
    `Expected a patient with a complaint within ${maxAttempts} draws, got none for seed ${root}: does every disease show a finding with salience?`,
  )
}
