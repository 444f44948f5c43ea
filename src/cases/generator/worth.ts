/** Which examinations of a case were worth doing, by what their true findings add. */
import type { ExamResult, Gold } from '../../case.js'
import type { Model } from '../../inference/generative-model.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Patient } from './draw.js'

/** What the choice of examinations rests on. */
export interface Known {
  readonly knowledge: Knowledge
  readonly model: Model
  readonly patient: Patient
  /** P(disease | everything the patient can tell). */
  readonly told: Float64Array
  readonly harmful: string[]
  /** What the tier lets the doctor spend. */
  readonly money: number
}

const logTables = new WeakMap<Model, readonly Float64Array[]>()

/** The logarithm of every node's chances. */
function logsOf(model: Model): readonly Float64Array[] {
  const logs = logTables.get(model) ?? model.nodes.map(({ chance }) => chance.map(Math.log))
  logTables.set(model, logs)
  return logs
}

/** Adds log P(states of `nodes` | disease) to `logs`; a closed gate says nothing. */
export function addEvidence(
  logs: Float64Array,
  model: Model,
  nodes: readonly number[],
  states: Int8Array,
): void {
  const tables = logsOf(model)
  for (const f of nodes) {
    const log = tables[f]!
    const state = states[f]!
    if (state === model.nodes[f]!.closed) continue
    const row = state * model.columns
    for (let d = 0; d < logs.length; d++) logs[d]! += log[row + d]!
  }
}

/** Probabilities from logarithms up to a constant. */
export function normalised(logs: Float64Array): Float64Array {
  let top = Number.NEGATIVE_INFINITY
  for (let d = 0; d < logs.length; d++) if (logs[d]! > top) top = logs[d]!
  const p = new Float64Array(logs.length)
  let sum = 0
  for (let d = 0; d < p.length; d++) {
    p[d] = Math.exp(logs[d]! - top)
    sum += p[d]!
  }
  for (let d = 0; d < p.length; d++) p[d]! /= sum
  return p
}

/**
 * Writes into `next` the probabilities that knowing `nodes` too would make of `p`, and gives the nats by
 * which it would raise log P(diagnosis).
 */
function learn(
  p: Float64Array,
  model: Model,
  nodes: readonly number[],
  { states, disease }: Patient,
  next: Float64Array,
): number {
  next.set(p)
  for (const f of nodes) {
    const { closed, chance } = model.nodes[f]!
    const state = states[f]!
    if (state === closed) continue
    const row = state * model.columns
    for (let d = 0; d < next.length; d++) next[d]! *= chance[row + d]!
  }
  let sum = 0
  for (let d = 0; d < next.length; d++) sum += next[d]!
  for (let d = 0; d < next.length; d++) next[d]! /= sum
  return Math.log(next[disease]! / p[disease]!)
}

const maxRequired = 3
const enough = 0.1

/**
 * Examinations needed once the patient has told everything, chosen greedily: at most 3, each raising
 * log P(diagnosis) by more than 0.1 nat with its true findings, together within the tier's money.
 */
function required(
  { knowledge, model, patient, told, money }: Known,
  exams: readonly string[],
): string[] {
  const chosen: string[] = []
  const known = new Set<number>()
  const p = told.slice()
  const next = new Float64Array(p.length)
  let left = money
  const costOf = (exam: string) => knowledge.exam.get(exam)?.cost ?? 0
  const fresh = (exam: string) => (model.yields.get(exam) ?? []).filter((f) => !known.has(f))
  while (chosen.length < maxRequired && -Math.log(p[patient.disease]!) > enough) {
    let best: string | undefined
    let most = enough
    for (const exam of exams) {
      if (costOf(exam) > left) continue
      const gain = learn(p, model, fresh(exam), patient, next)
      if (gain > most) [best, most] = [exam, gain]
    }
    if (best === undefined) break
    learn(p, model, fresh(best), patient, next)
    p.set(next)
    chosen.push(best)
    left -= costOf(best)
    for (const f of fresh(best)) known.add(f)
  }
  return chosen
}

/**
 * The examinations of a case. Required: see above, a harmful or unavailable one never. Neutral: reasonable
 * to order though the answers alone would do, that is, raising log P(diagnosis) by more than 0.1 nat from
 * what is known before the first turn. Every other one is superfluous.
 */
export function worthDoing(known: Known, exams: readonly ExamResult[]): NonNullable<Gold['exams']> {
  const { model, patient, harmful } = known
  const safe = exams.filter(({ exam }) => !harmful.includes(exam))
  const available = safe.filter((result) => !result.unavailable).map(({ exam }) => exam)
  const needed = required(known, available)
  const intake = patient.prior.slice()
  learn(patient.prior, model, [patient.complaint], patient, intake)
  const next = new Float64Array(intake.length)
  const neutral: string[] = []
  for (const { exam } of safe) {
    if (needed.includes(exam)) continue
    const gain = learn(intake, model, model.yields.get(exam) ?? [], patient, next)
    if (gain > enough) neutral.push(exam)
  }
  return { required: needed, neutral, harmful }
}
