/**
 * Cases from a knowledge base, each a pure function of (knowledge, tier, split, seed, n, change).
 *
 * Every draw is keyed by the case's seed and the name of what is drawn, so that adding a finding to the
 * knowledge base moves no other draw, and the same n of another tier is the same person with other luck.
 */
import type { Case, ExamResult, Finding } from '../../case.js'
import type { Model } from '../../inference/generative-model.js'
import { isMoot, modelOf } from '../../inference/generative-model.js'
import type { ExamDefinition, FindingDefinition, Knowledge } from '../../knowledge/knowledge.js'
import { clinic } from '../../knowledge/knowledge.js'
import { tiers } from '../../knowledge/tiers.js'
import { drawPersona } from '../../persona.js'
import { generatedCaseSeed, uniform } from '../../seed.js'
import type { Change, Patient } from './draw.js'
import { drawPatient } from './draw.js'
import { goldOf, weightOf, weightsOf } from './gold.js'
import type { CaseName, CaseOptions, Split } from './name.js'
import { caseId, parseCaseId } from './name.js'
import type { Both } from './opening.js'
import { opening, speakerOf } from './opening.js'

/** A marker in every generated case, so that a trained model can be tested for having seen them. */
const canary = 'bedside-canary-6d0f1f0e-6a7b-4c55-9b0a-1e6c8f0d2b47'

type Range = readonly [low: number, high: number]
const decimals = new WeakMap<Range, number>()
const written = (n: number): number => String(n).split('.')[1]?.length ?? 0

/** As many decimals as the author wrote, at least one below 10. */
function decimalsOf(range: Range): number {
  const [low, high] = range
  const known = decimals.get(range) ?? Math.max(written(low), written(high), high < 10 ? 1 : 0)
  decimals.set(range, known)
  return known
}

/** A number drawn evenly from the range of a measured state. */
function drawValue(finding: FindingDefinition, state: string, seed: number): number | undefined {
  const range = finding.measure?.ranges[state]
  if (!range) return undefined
  const drawn = range[0] + uniform(seed, 'value', finding.id) * (range[1] - range[0])
  return Number(drawn.toFixed(decimalsOf(range)))
}

/** The sentence a finding's state is told in; the same keyed place of the list in both languages. */
function sentence(
  finding: FindingDefinition,
  state: string,
  value: number | undefined,
  seed: number,
): Both {
  const said = finding.say[state]
  if (!said) throw new TypeError(`Expected sentences for ${finding.id} ${state}, got none`)
  const u = uniform(seed, 'say', finding.id)
  const at = (list: readonly string[]): string => {
    const text = list[Math.floor(u * list.length)] ?? ''
    return value === undefined ? text : text.replaceAll('{value}', String(value))
  }
  return { zh: at(said.zh), en: at(said.en) }
}

function listFindings(model: Model, patient: Patient, weights: readonly Float64Array[]): Finding[] {
  const listed: Finding[] = []
  model.nodes.forEach(({ finding, normal, closed }, f) => {
    const s = patient.states[f]!
    const state = finding.states[s] ?? (finding.type === 'bool' ? 'absent' : undefined)
    if (state === undefined) return
    const { id, kind, knownBy, salience, stigma } = finding
    const value = drawValue(finding, state, patient.seed)
    const weight = s !== closed ? weightOf(weights[f]!, s, s !== normal) : undefined
    listed.push({
      ...{ id, kind, state, knownBy, salience, stigma },
      ...(value === undefined ? {} : { value }),
      ...(weight === undefined ? {} : { weight }),
    })
  })
  return listed
}

const notDone = { zh: '此处无法进行该项检查。', en: 'This examination cannot be done here.' }
const nothing = { zh: '未见异常。', en: 'Nothing abnormal was found.' }

function examine(
  exam: ExamDefinition,
  model: Model,
  patient: Patient,
  findings: ReadonlyMap<string, Finding>,
): ExamResult {
  const yields = model.yields.get(exam.id) ?? []
  const moot = yields.every((f) => isMoot(model.nodes[f]!, patient))
  if (moot || uniform(patient.seed, 'exam', exam.id) < exam.unavailableP)
    return { exam: exam.id, findings: [], report: notDone, abnormal: false, unavailable: true }
  const told: string[] = []
  const report = { zh: [] as string[], en: [] as string[] }
  let abnormal = false
  for (const f of yields) {
    const { finding, normal } = model.nodes[f]!
    const entry = findings.get(finding.id)
    if (!entry) continue
    const text = sentence(finding, entry.state, entry.value, patient.seed)
    told.push(finding.id)
    report.zh.push(text.zh)
    report.en.push(text.en)
    abnormal ||= entry.state !== finding.states[normal]
  }
  const text = told.length > 0 ? { zh: report.zh.join(''), en: report.en.join(' ') } : nothing
  return { exam: exam.id, findings: told, report: text, abnormal, unavailable: false }
}

const provenanceOf = (id: string, split: Split): Case['provenance'] => ({
  source: 'bedside-knowledge',
  license: 'Apache-2.0',
  synthetic: true,
  generator: 'bedside/1',
  canary: `${canary}/${id}`,
  redistributable: true,
  split,
})

function assertCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32)
    throw new RangeError(
      `Expected \`${name}\` to be an integer from 0 to 2^32 - 1, got \`${value}\``,
    )
}

/** Months below 2 years. */
const ageOf = (age: number): NonNullable<Case['demographics']['age']> =>
  age < 2 ? { v: Math.round(age * 12), unit: 'month' } : { v: age, unit: 'year' }

function assertChange({ disease, finding }: Knowledge, change: Change): void {
  const { age = 0 } = change
  if (!(age >= 0 && age <= 130))
    throw new RangeError(`Expected an age from 0 to 130 years, got \`${age}\``)
  for (const id of [change.disease, change.companion])
    if (typeof id === 'string' && !disease.has(id))
      throw new RangeError(`Expected a disease of the knowledge base, got \`${id}\``)
  for (const [id, state] of Object.entries(change.findings ?? {}))
    if (!finding.get(id)?.states.includes(state))
      throw new RangeError(
        `Expected a state of ${finding.has(id) ? `${id} (${finding.get(id)?.states.join(', ')})` : 'a finding of the knowledge base'}, got \`${id}=${state}\``,
      )
}

/**
 * One case.
 * @param n its number in the sequence @default 0
 * @param change what is otherwise than drawn; every other draw stays @default nothing
 * @throws RangeError for a seed or n that is not an integer from 0 to 2^32 - 1, or a change that names nothing
 */
export function generateCase(
  knowledge: Knowledge,
  {
    tier = 'easy',
    split = 'train',
    seed = 0,
    n = 0,
    change,
  }: CaseOptions & { readonly n?: number; readonly change?: Change } = {},
): Case {
  assertCount('seed', seed)
  assertCount('n', n)
  if (change) assertChange(knowledge, change)
  const name: CaseName = {
    ...{ tier, split, seed, n },
    ...(knowledge.clinic ? { clinic: knowledge.clinic } : {}),
    ...(change ? { change } : {}),
  }
  const root = generatedCaseSeed(seed, split, n)
  const { atypicality, noise, personas } = tiers[tier]
  const model = modelOf(knowledge, atypicality)
  const patient = drawPatient(knowledge, model, tiers[tier], root, change)
  const findings = listFindings(model, patient, weightsOf(knowledge, model, patient.disease))
  const byId = new Map(findings.map((finding) => [finding.id, finding] as const))
  const exams = knowledge.exams
    .filter((exam) => exam.panelOf.length === 0)
    .map((exam) => examine(exam, model, patient, byId))
  const { finding } = model.nodes[patient.complaint]!
  const { gold, bayesCeiling } = goldOf(knowledge, model, patient, exams, tiers[tier])
  const speaker = speakerOf(patient, personas)
  return {
    schema: 'bedside-case/1',
    id: caseId(name),
    seed: root,
    provenance: provenanceOf(caseId(name), split),
    demographics: { age: ageOf(patient.age), sex: patient.sex, ...speaker },
    chiefComplaint: { text: opening(finding, patient, speaker), findings: [finding.id] },
    findings,
    exams,
    examDefault: 'normal',
    noise: { ...noise },
    persona: drawPersona(personas, patient.seed),
    gold,
    difficulty: { tier, bayesCeiling },
  }
}

/**
 * The counterfactual twin of a generated case: the same person with something changed, every other draw kept.
 * @param knowledge the one the case was made from, or the whole that its clinic is a part of
 * @throws RangeError for a case that was not generated, or a change that names nothing
 */
export function twin(knowledge: Knowledge, truth: Case, change: Change): Case {
  const name = parseCaseId(truth.id)
  if (!name) throw new RangeError(`Expected a generated case, got \`${truth.id}\``)
  const { clinic: groups, change: earlier, ...options } = name
  const findings = { ...earlier?.findings, ...change.findings }
  const part = groups && !knowledge.clinic ? clinic(knowledge, groups) : knowledge
  return generateCase(part, { ...options, change: { ...earlier, ...change, findings } })
}

/** The sequence of cases of a tier, split and seed: `caseSource(knowledge)(n)` is the n-th. */
export const caseSource =
  (knowledge: Knowledge, options: CaseOptions = {}): ((n: number) => Case) =>
  (n) =>
    generateCase(knowledge, { ...options, n })
