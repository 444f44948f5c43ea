/** Labels the examinations of a case required, neutral or harmful, by the information in their true findings. */
import type { ExamResult, Gold } from '../../case.js'
import { chanceOf, type Model, type Node } from '../../inference/generative-model.js'
import { type Disease, expandPanel, type Knowledge } from '../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import type { DrawnPatient } from './draw.js'

/** Inputs of the labels of examinations. */
export interface ExamLabelInputs {
  readonly knowledge: Knowledge
  readonly model: Model
  readonly patient: DrawnPatient
  /** P(disease | true states of all findings the patient knows). */
  readonly historyPosterior: Float64Array
  readonly harmful: string[]
  /** Money units the tier lets the doctor spend. */
  readonly money: number
}

const logTable = memoizeByIdentity((table: Float64Array): Float64Array => table.map(Math.log))

/** P(state | column) of a node for one patient: by age, sex and the true state of the node's parent. */
export const patientChances = ({ states, band }: DrawnPatient, node: Node): Float64Array =>
  chanceOf(node, band, node.parent < 0 ? -1 : states[node.parent]!)

/** Adds log P(states of `nodes` | column) to `logs`; a node behind a closed gate adds nothing. */
export function addLogLikelihood(
  logs: Float64Array,
  model: Model,
  nodes: readonly number[],
  patient: DrawnPatient,
): void {
  for (const f of nodes) {
    const node = model.nodes[f]!
    const state = patient.states[f]!
    if (state === node.closed) continue
    const log = logTable(patientChances(patient, node))
    const row = state * model.columns
    for (let d = 0; d < logs.length; d++) logs[d]! += log[row + d]!
  }
}

/** Softmax: probabilities from log weights. */
export function normaliseLogWeights(logs: Float64Array): Float64Array {
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
 * Writes into `next` the disease probabilities `p` conditioned on the true states of `nodes`. Returns the gain in
 * log P(diagnosis), in nats.
 */
function conditionOn(
  p: Float64Array,
  model: Model,
  nodes: readonly number[],
  patient: DrawnPatient,
  next: Float64Array,
): number {
  const { states, disease } = patient
  next.set(p)
  for (const f of nodes) {
    const node = model.nodes[f]!
    const state = states[f]!
    if (state === node.closed) continue
    const chance = patientChances(patient, node)
    const row = state * model.columns
    for (let d = 0; d < next.length; d++) next[d]! *= chance[row + d]!
  }
  let sum = 0
  for (let d = 0; d < next.length; d++) sum += next[d]!
  for (let d = 0; d < next.length; d++) next[d]! /= sum
  return Math.log(next[disease]! / p[disease]!)
}

const maxRequired = 3
/** Least gain in log P(diagnosis) of a useful examination, in nats. */
const minGain = 0.1

/**
 * Chooses the required examinations, greedily: at most 3, each raising log P(diagnosis) by more than 0.1 nat once
 * the patient has told everything, and together within the tier's money.
 */
function chooseRequired(
  { knowledge, model, patient, historyPosterior, money }: ExamLabelInputs,
  exams: readonly string[],
): string[] {
  const chosen: string[] = []
  const known = new Set<number>()
  const p = historyPosterior.slice()
  const next = new Float64Array(p.length)
  let left = money
  const costOf = (exam: string) => knowledge.exam.get(exam)?.cost ?? 0
  const fresh = (exam: string) => (model.yields.get(exam) ?? []).filter((f) => !known.has(f))
  while (chosen.length < maxRequired && -Math.log(p[patient.disease]!) > minGain) {
    let best: string | undefined
    let most = minGain
    for (const exam of exams) {
      if (costOf(exam) > left) continue
      const gain = conditionOn(p, model, fresh(exam), patient, next)
      if (gain > most) [best, most] = [exam, gain]
    }
    if (best === undefined) break
    conditionOn(p, model, fresh(best), patient, next)
    p.set(next)
    chosen.push(best)
    left -= costOf(best)
    for (const f of fresh(best)) known.add(f)
  }
  return chosen
}

type ExamLabels = NonNullable<Gold['exams']>

/** P(disease | age, sex and complaint), up to what else each patient might have said, which the posterior counts in. */
function intakeProbabilities({ model, patient }: ExamLabelInputs): Float64Array {
  const intake = patient.prior.slice()
  conditionOn(patient.prior, model, [patient.complaint], patient, intake)
  const { rates } = model.nodes[patient.complaint]!
  for (let d = 0; d < intake.length; d++) intake[d]! *= rates?.[d] ?? 1
  return intake
}

/** Gain in log P(diagnosis) of each examination from what is known before the first turn, in nats. */
function intakeGains(
  known: ExamLabelInputs,
  exams: readonly string[],
): readonly (readonly [exam: string, gain: number])[] {
  const { model, patient } = known
  const intake = intakeProbabilities(known)
  const next = new Float64Array(intake.length)
  return exams.map(
    (exam) =>
      [exam, conditionOn(intake, model, model.yields.get(exam) ?? [], patient, next)] as const,
  )
}

/** The part of a list, in its order, that the tier's money pays for. */
function affordable(
  { knowledge, money }: ExamLabelInputs,
  exams: readonly string[],
): readonly string[] {
  let left = money
  return exams.filter((id) => {
    const cost = knowledge.exam.get(id)?.cost ?? 0
    if (cost > left) return false
    left -= cost
    return true
  })
}

/**
 * Labels by the authored work-up: required what it requires, if it can be done and paid for; neutral what it calls
 * useful or what a second disease asks for, the most informative first.
 */
function labelByWorkup(
  known: ExamLabelInputs,
  workup: NonNullable<Disease['workup']>,
  { safe, available }: { readonly safe: readonly string[]; readonly available: readonly string[] },
): ExamLabels {
  const { knowledge, patient, harmful } = known
  const members = (ids: readonly string[]): readonly string[] => [
    ...new Set(
      ids.flatMap((id) => {
        const exam = knowledge.exam.get(id)
        return exam ? expandPanel(exam) : []
      }),
    ),
  ]
  const asked = members(workup.required)
  const required = affordable(
    known,
    asked.filter((id) => available.includes(id)),
  )
  const beside = knowledge.diseases[patient.companion]?.workup
  const useful = members([
    ...workup.required,
    ...workup.useful,
    ...(beside?.required ?? []),
    ...(beside?.useful ?? []),
  ]).filter((id) => safe.includes(id) && !required.includes(id))
  const ranked = [...intakeGains(known, useful)].sort(([, a], [, b]) => b - a)
  return { required, neutral: ranked.map(([exam]) => exam), harmful }
}

/**
 * Labels the examinations of a case, by the work-up of its disease where there is one, and else by information.
 * Required: chosen greedily given all answers; never a harmful or unavailable one. Neutral: reasonable to order
 * although the answers alone would do, that is, raising log P(diagnosis) by more than 0.1 nat from what is known
 * before the first turn. Every examination not listed is superfluous.
 */
export function labelExams(known: ExamLabelInputs, exams: readonly ExamResult[]): ExamLabels {
  const { knowledge, patient, harmful } = known
  const safe = exams.filter(({ exam }) => !harmful.includes(exam))
  const safeIds = safe.map(({ exam }) => exam)
  const available = safe.filter((result) => !result.unavailable).map(({ exam }) => exam)
  const { workup } = knowledge.diseases[patient.disease]!
  if (workup) return labelByWorkup(known, workup, { safe: safeIds, available })
  const needed = chooseRequired(known, available)
  const neutral = intakeGains(
    known,
    safeIds.filter((exam) => !needed.includes(exam)),
  ).flatMap(([exam, gain]) => (gain > minGain ? [exam] : []))
  return { required: needed, neutral, harmful }
}
