/**
 * Case generator: each case is a pure function of (knowledge, tier, split, seed, n, change).
 *
 * Every draw is keyed by the case's seed and the name of the thing drawn. So adding a finding to the knowledge base
 * moves no other draw, and the same n of another tier has the same draws under other probabilities.
 */
import type { Case, ExamResult, Finding } from '../../case.js'
import { generativeModel, isInapplicable, type Model } from '../../inference/generative-model.js'
import type { ExamDefinition, FindingDefinition, Knowledge } from '../../knowledge/knowledge.js'
import { clinic } from '../../knowledge/knowledge.js'
import { tiers } from '../../knowledge/tiers.js'
import { drawPersona } from '../../persona.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { assertSeed, generatedCaseSeed, uniform } from '../../seed.js'
import { drawBiography } from './biography.js'
import type { CaseIdParts, CaseSourceOptions, SplitName } from './case-id.js'
import { caseId, parseCaseId } from './case-id.js'
import { type CaseChange, type DrawnPatient, drawPatient } from './draw.js'
import { buildGold, findingWeight, findingWeightTables } from './gold.js'
import { type BilingualText, drawSpeaker, openingStatement } from './opening.js'

/** Marker in every generated case, to test whether a model has seen them in training. */
const canary = 'bedside-canary-6d0f1f0e-6a7b-4c55-9b0a-1e6c8f0d2b47'

type Range = readonly [low: number, high: number]
const countDecimals = (n: number): number => String(n).split('.')[1]?.length ?? 0

/** Decimals of a drawn value: as many as the author wrote, at least one where the upper end is below 10. */
const decimalsOf = memoizeByIdentity(([low, high]: Range): number =>
  Math.max(countDecimals(low), countDecimals(high), high < 10 ? 1 : 0),
)

function drawValue(finding: FindingDefinition, state: string, seed: number): number | undefined {
  const range = finding.measure?.ranges[state]
  if (!range) return undefined
  const drawn = range[0] + uniform(seed, 'value', finding.id) * (range[1] - range[0])
  return Number(drawn.toFixed(decimalsOf(range)))
}

/** Draws a sentence for a finding's state; the same keyed position of the list in both languages. */
function drawSentence(
  finding: FindingDefinition,
  state: string,
  value: number | undefined,
  seed: number,
): BilingualText {
  const said = finding.say[state]
  if (!said) throw new TypeError(`Expected sentences for ${finding.id} ${state}, got none`)
  const u = uniform(seed, 'say', finding.id)
  const at = (list: readonly string[]): string => {
    const text = list[Math.floor(u * list.length)] ?? ''
    return value === undefined ? text : text.replaceAll('{value}', String(value))
  }
  return { zh: at(said.zh), en: at(said.en) }
}

/** Findings of the case. A child behind a closed gate is absent if boolean and not listed if categorical. */
function listFindings(
  model: Model,
  patient: DrawnPatient,
  weights: readonly Float64Array[],
): Finding[] {
  const listed: Finding[] = []
  model.nodes.forEach(({ finding, normal, closed }, f) => {
    const s = patient.states[f]!
    const state = finding.states[s] ?? (finding.type === 'bool' ? 'absent' : undefined)
    if (state === undefined) return
    const { id, kind, knownBy, salience, stigma } = finding
    const value = drawValue(finding, state, patient.seed)
    const weight = s !== closed ? findingWeight(weights[f]!, s, s !== normal) : undefined
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

function drawExamResult(
  exam: ExamDefinition,
  model: Model,
  patient: DrawnPatient,
  findings: ReadonlyMap<string, Finding>,
): ExamResult {
  const yields = model.yields.get(exam.id) ?? []
  const moot = yields.every((f) => isInapplicable(model.nodes[f]!, patient))
  if (moot || uniform(patient.seed, 'exam', exam.id) < exam.unavailableP)
    return { exam: exam.id, findings: [], report: notDone, abnormal: false, unavailable: true }
  const shown: string[] = []
  const report = { zh: [] as string[], en: [] as string[] }
  let abnormal = false
  for (const f of yields) {
    const { finding, normal } = model.nodes[f]!
    const entry = findings.get(finding.id)
    if (!entry) continue
    const text = drawSentence(finding, entry.state, entry.value, patient.seed)
    shown.push(finding.id)
    report.zh.push(text.zh)
    report.en.push(text.en)
    abnormal ||= entry.state !== finding.states[normal]
  }
  const text = shown.length > 0 ? { zh: report.zh.join(''), en: report.en.join(' ') } : nothing
  return { exam: exam.id, findings: shown, report: text, abnormal, unavailable: false }
}

const generatedProvenance = (id: string, split: SplitName): Case['provenance'] => ({
  source: 'bedside-knowledge',
  license: 'Apache-2.0',
  synthetic: true,
  generator: 'bedside/1',
  canary: `${canary}/${id}`,
  redistributable: true,
  split,
})

/** Converts years to a recorded age: in months below 2 years. */
const recordAge = (age: number): NonNullable<Case['demographics']['age']> =>
  age < 2 ? { v: Math.round(age * 12), unit: 'month' } : { v: age, unit: 'year' }

function assertChange({ disease, finding }: Knowledge, change: CaseChange): void {
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

interface GenerateOptions extends CaseSourceOptions {
  /** Number of the case in its sequence. @default 0 */
  readonly n?: number
  /** Makes a counterfactual twin: every other draw stays. @default nothing */
  readonly change?: CaseChange
}

/**
 * Generates one case. Long because a case has many parts.
 * @throws RangeError for a seed or n that is not an integer from 0 to 2^32 - 1, or a change that names no disease,
 * finding or state of the knowledge base
 */
export function generateCase(knowledge: Knowledge, options: GenerateOptions = {}): Case {
  const { tier = 'easy', split = 'train', seed = 0, n = 0, change } = options
  assertSeed('seed', seed)
  assertSeed('n', n)
  if (change) assertChange(knowledge, change)
  const { clinic: groups } = knowledge
  const parts = { tier, split, seed, n, ...(groups ? { clinic: groups } : {}) }
  const name: CaseIdParts = change ? { ...parts, change } : parts
  const root = generatedCaseSeed(seed, split, n)
  const { atypicality, noise, personas } = tiers[tier]
  const model = generativeModel(knowledge, atypicality)
  const patient = drawPatient(knowledge, model, tiers[tier], root, change)
  const findings = listFindings(
    model,
    patient,
    findingWeightTables(knowledge, model, patient.disease),
  )
  const byId = new Map(findings.map((finding) => [finding.id, finding] as const))
  const exams = knowledge.exams
    .filter((exam) => exam.panelOf.length === 0)
    .map((exam) => drawExamResult(exam, model, patient, byId))
  const { finding } = model.nodes[patient.complaint]!
  const { gold, bayesCeiling } = buildGold(knowledge, model, patient, exams, tiers[tier])
  const speaker = drawSpeaker(patient, personas)
  return {
    schema: 'bedside-case/1',
    id: caseId(name),
    seed: root,
    provenance: generatedProvenance(caseId(name), split),
    demographics: { age: recordAge(patient.age), sex: patient.sex, ...speaker },
    chiefComplaint: { text: openingStatement(finding, patient, speaker), findings: [finding.id] },
    findings,
    ...drawBiography(knowledge, patient, byId),
    exams,
    examDefault: 'normal',
    noise: { ...noise },
    persona: drawPersona(personas, patient.seed),
    gold,
    difficulty: { tier, bayesCeiling },
  }
}

/**
 * The counterfactual twin of a generated case: the same patient with `change` applied, every other draw kept.
 * @param knowledge the knowledge base the case was made from, or the whole one that its clinic is part of
 * @throws RangeError for a case that was not generated, or a change that {@link generateCase} refuses
 */
export function twin(knowledge: Knowledge, truth: Case, change: CaseChange): Case {
  const name = parseCaseId(truth.id)
  if (!name) throw new RangeError(`Expected a generated case, got \`${truth.id}\``)
  const { clinic: groups, change: earlier, ...options } = name
  const findings = { ...earlier?.findings, ...change.findings }
  const part = groups && !knowledge.clinic ? clinic(knowledge, groups) : knowledge
  return generateCase(part, { ...options, change: { ...earlier, ...change, findings } })
}

/** The sequence of cases of a tier, split and seed: `caseSource(knowledge)(n)` is the n-th. */
export const caseSource =
  (knowledge: Knowledge, options: CaseSourceOptions = {}): ((n: number) => Case) =>
  (n) =>
    generateCase(knowledge, { ...options, n })
