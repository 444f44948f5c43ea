/**
 * Case generator: each case is a pure function of (knowledge, tier, split, seed, n, change).
 *
 * Every draw is keyed by the case's seed and the name of the thing drawn. So adding a finding to the knowledge base
 * moves no other draw, and the same n of another tier has the same draws under other probabilities.
 */
import type { Case, Finding } from '../../case.js'
import { generativeModel, type Model } from '../../inference/generative-model.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { clinic } from '../../knowledge/knowledge.js'
import { tiers } from '../../knowledge/tiers.js'
import { drawPersona } from '../../persona.js'
import { assertSeed, generatedCaseSeed } from '../../seed.js'
import { drawBiography } from './biography.js'
import type { CaseIdParts, CaseSourceOptions, SplitName } from './case-id.js'
import { caseId, parseCaseId } from './case-id.js'
import { type CaseChange, type DrawnPatient, drawPatient } from './draw.js'
import { buildGold, findingWeight, findingWeightTables } from './gold.js'
import { drawSpeaker, openingStatement } from './opening.js'
import { drawExamResult, drawValue } from './report.js'

/** Marker in every generated case, to test whether a model has seen them in training. */
const canary = 'bedside-canary-6d0f1f0e-6a7b-4c55-9b0a-1e6c8f0d2b47'

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
    const value = drawValue(finding, state, patient)
    const weight = s !== closed ? findingWeight(weights[f]!, s, s !== normal) : undefined
    listed.push({
      ...{ id, kind, state, knownBy, salience, stigma },
      ...(value === undefined ? {} : { value }),
      ...(weight === undefined ? {} : { weight }),
    })
  })
  return listed
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
  const findings = listFindings(model, patient, findingWeightTables(knowledge, model, patient))
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
