/**
 * Cases from a knowledge base, each a pure function of (knowledge, tier, split, seed, n).
 *
 * Every draw is keyed by the case's seed and the name of what is drawn, so that adding a finding to the
 * knowledge base moves no other draw, and the same n of another tier is the same person with other luck.
 */
import type { Case, ExamResult, Finding } from '../case.js'
import type { ExamDefinition, FindingDefinition, Knowledge } from '../knowledge.js'
import type { Model } from '../likelihood.js'
import { isMoot, modelOf } from '../likelihood.js'
import { fork, uniform } from '../seed.js'
import type { TierName } from '../tiers.js'
import { tiers } from '../tiers.js'
import type { Patient } from './draw.js'
import { drawPatient } from './draw.js'
import { goldOf, weightOf, weightsOf } from './gold.js'

export type Split = 'train' | 'heldout'

export interface CaseOptions {
  /** @default 'easy' */
  readonly tier?: TierName
  /** Which half of all case seeds to draw from. @default 'train' */
  readonly split?: Split
  /** Names the sequence of cases. @default 0 */
  readonly seed?: number
}

/** A marker in every generated case, so that a trained model can be tested for having seen them. */
const canary = 'bedside-canary-6d0f1f0e-6a7b-4c55-9b0a-1e6c8f0d2b47'

/** The seed of one case: even in `train`, odd in `heldout`, so that the splits can share none. */
const caseSeed = (seed: number, split: Split, n: number): number =>
  ((fork(seed, split, n) & ~1) | (split === 'train' ? 0 : 1)) >>> 0

/** What a generated case's id names; `clinic` where it was made from a part of the knowledge base. */
export interface CaseName extends Required<CaseOptions> {
  readonly n: number
  readonly clinic?: readonly string[]
}

/** `easy-heldout-0-7`, or `easy-heldout-0-7@bowel+headache` in a clinic: the id says all it was made from. */
const caseId = ({ tier, split, seed, n, clinic }: CaseName): string =>
  `${tier}-${split}-${seed}-${n}${clinic ? `@${clinic.join('+')}` : ''}`

/** Which case an id names, or undefined for an id that was not generated. */
export function parseCaseId(id: string): CaseName | undefined {
  const match =
    /^(easy|standard|hard)-(train|heldout)-(\d{1,10})-(\d{1,10})(?:@([a-z0-9+-]+))?$/.exec(id)
  if (!match) return undefined
  // The pattern admits these words only.
  const [tier, split] = [match[1] as TierName, match[2] as Split]
  const name = { tier, split, seed: Number(match[3]), n: Number(match[4]) }
  return match[5] === undefined ? name : { ...name, clinic: match[5].split('+') }
}

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
): { zh: string; en: string } {
  const said = finding.say[state]
  if (!said) throw new TypeError(`Expected sentences for ${finding.id} ${state}, got none`)
  const u = uniform(seed, 'say', finding.id)
  const at = (list: readonly string[]): string => {
    const text = list[Math.floor(u * list.length)] ?? ''
    return value === undefined ? text : text.replaceAll('{value}', String(value))
  }
  return { zh: at(said.zh), en: at(said.en) }
}

const reply = /^(yes|yeah|no|well)\b|^(是|对|嗯|有)[的啊]?[，。]/i

/** The words a patient opens with: a present sentence, if possible one that is not a reply ("Yes, …"). */
function opening(finding: FindingDefinition, seed: number): { zh: string; en: string } {
  const u = uniform(seed, 'opening', finding.id)
  const at = (list: readonly string[]): string => {
    const fit = list.filter((text) => !reply.test(text))
    const from = fit.length > 0 ? fit : list
    return from[Math.floor(u * from.length)] ?? ''
  }
  return { zh: at(finding.say.present?.zh ?? []), en: at(finding.say.present?.en ?? []) }
}

function listFindings(model: Model, patient: Patient, weights: readonly Float64Array[]): Finding[] {
  const listed: Finding[] = []
  model.nodes.forEach(({ finding, normal, closed }, f) => {
    const s = patient.states[f]!
    const state = finding.states[s] ?? (finding.type === 'bool' ? 'absent' : undefined)
    if (state === undefined) return
    const { id, kind, knownBy, salience, stigma } = finding
    const entry: Finding = { id, kind, state, knownBy, salience, stigma }
    const value = drawValue(finding, state, patient.seed)
    if (value !== undefined) entry.value = value
    const weight = s !== closed ? weightOf(weights[f]!, s, s !== normal) : undefined
    if (weight !== undefined) entry.weight = weight
    listed.push(entry)
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

/**
 * One case.
 * @param n its number in the sequence @default 0
 * @throws RangeError for a seed or n that is not an integer from 0 to 2^32 - 1
 */
export function generateCase(
  knowledge: Knowledge,
  { tier = 'easy', split = 'train', seed = 0, n = 0 }: CaseOptions & { readonly n?: number } = {},
): Case {
  assertCount('seed', seed)
  assertCount('n', n)
  const { atypicality, noise, money } = tiers[tier]
  const model = modelOf(knowledge, atypicality)
  const { clinic } = knowledge
  const id = caseId({ tier, split, seed, n, ...(clinic ? { clinic } : {}) })
  const root = caseSeed(seed, split, n)
  const patient = drawPatient(knowledge, model, root)
  const { age, sex, complaint, disease } = patient
  const findings = listFindings(model, patient, weightsOf(knowledge, model, disease))
  const byId = new Map(findings.map((finding) => [finding.id, finding] as const))
  const exams = knowledge.exams
    .filter((exam) => exam.panelOf.length === 0)
    .map((exam) => examine(exam, model, patient, byId))
  const { finding } = model.nodes[complaint]!
  const { gold, bayesCeiling } = goldOf(knowledge, model, patient, exams, money)
  return {
    schema: 'bedside-case/1',
    id,
    seed: root,
    provenance: provenanceOf(id, split),
    demographics: { age: { v: age, unit: 'year' }, sex, speaker: 'self' },
    chiefComplaint: {
      text: opening(finding, patient.seed),
      findings: [finding.id],
    },
    findings,
    exams,
    examDefault: 'normal',
    noise: { ...noise },
    gold,
    difficulty: { tier, bayesCeiling },
  }
}

/** The sequence of cases of a tier, split and seed: `caseSource(knowledge)(n)` is the n-th. */
export const caseSource =
  (knowledge: Knowledge, options: CaseOptions = {}): ((n: number) => Case) =>
  (n) =>
    generateCase(knowledge, { ...options, n })
