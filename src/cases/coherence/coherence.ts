/**
 * Coherence scan of generated cases: is each patient one person? Its rules and bounds are listed in
 * `data/knowledge/README.md`. Only cases whose diagnosis the knowledge base has can be judged.
 */
import { type Case, primaryDiagnosis } from '../../case.js'
import { ageInYears } from '../../inference/posterior.js'
import {
  type Disease,
  type FindingDefinition,
  fitsBand,
  type Knowledge,
  measureFor,
  opensGate,
  parentOf,
} from '../../knowledge/knowledge.js'
import type { TierName } from '../../knowledge/tiers.js'

/** What a rule of the scan found in one case. */
export interface Incoherence {
  readonly rule: 'complaint' | 'contradiction' | 'stray' | 'out-of-range' | 'no-required-exam'
  readonly case: string
  /** The finding and its state, or what is missing. */
  readonly what: string
}

/** A case's findings by id, its diseases, and whom it is about. */
interface CaseReading {
  readonly knowledge: Knowledge
  readonly state: ReadonlyMap<string, string>
  readonly diseases: readonly Disease[]
  readonly who: { readonly age?: number | undefined; readonly sex?: string | undefined }
}

const usualState = ({ type, leak }: FindingDefinition): string =>
  type === 'bool' || typeof leak === 'number'
    ? 'absent'
    : Object.entries(leak).reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0]

/** Two findings that cannot stand together, or one that this patient cannot have. */
function contradiction(
  { knowledge, state, who }: CaseReading,
  definition: FindingDefinition,
  own: string,
): string | undefined {
  const { id, parent, given, sex, ages } = definition
  if (own === 'absent' || own === 'unknown') return undefined
  if (!fitsBand({ sex, ages }, who)) return `${id}=${own} at this age or sex`
  const above = parentOf(definition)
  if (above === undefined || !knowledge.finding.has(above)) return undefined
  const aboveState = state.get(above) ?? 'absent'
  const shut = parent !== undefined && !opensGate(parent, aboveState)
  const excluded = given?.excludes?.[aboveState]?.includes(own) ?? false
  return shut || excluded ? `${id}=${own} beside ${above}=${aboveState}` : undefined
}

/** Whether a disease of the patient, or another finding's state, accounts for a finding. */
function isExplained({ state, diseases }: CaseReading, definition: FindingDefinition): boolean {
  const { id, given } = definition
  const above = parentOf(definition)
  const lists = (one: string): boolean =>
    diseases.some(({ findings }) => findings[one] !== undefined)
  return (
    lists(id) ||
    given?.leaks?.[state.get(given.finding) ?? ''] !== undefined ||
    (above !== undefined && lists(above))
  )
}

/** Whether a number lies outside the range of its state for this age and sex, or on the wrong side of normal. */
function isOutOfRange(
  { who }: CaseReading,
  definition: FindingDefinition,
  own: string,
  value: number,
): boolean {
  const table = measureFor(definition, who)
  const range = table?.ranges[own]
  const within = ([low, high]: readonly [number, number]) => value >= low && value <= high
  if (!range || !within(range)) return true
  const { reference } = table
  return reference !== undefined && within(reference) !== (own === usualState(definition))
}

function* findingIncoherences(reading: CaseReading, truth: Case): Generator<Incoherence> {
  for (const { id, state: own, value, knownBy } of truth.findings) {
    const definition = reading.knowledge.finding.get(id)
    if (!definition) continue
    const at = { case: truth.id, what: `${id}=${own}` }
    const clash = contradiction(reading, definition, own)
    if (clash !== undefined) yield { ...at, rule: 'contradiction', what: clash }
    const odd = knownBy === 'exam' && own !== usualState(definition) && !definition.parent
    if (odd && !isExplained(reading, definition)) yield { ...at, rule: 'stray' }
    if (value !== undefined && isOutOfRange(reading, definition, own, value))
      yield { ...at, rule: 'out-of-range', what: `${id}=${own} (${value})` }
  }
}

/** All that the scan finds in one case; undefined where the knowledge base does not have its diagnosis. */
export function incoherences(
  knowledge: Knowledge,
  truth: Case,
): readonly Incoherence[] | undefined {
  const { gold, demographics, findings, chiefComplaint } = truth
  if (!knowledge.disease.has(primaryDiagnosis(gold).id)) return undefined
  const diseases = gold.dx.flatMap(({ id }) => knowledge.disease.get(id) ?? [])
  const state = new Map(findings.map((finding) => [finding.id, finding.state] as const))
  const who = { age: ageInYears(demographics.age), sex: demographics.sex }
  const found = [...findingIncoherences({ knowledge, state, diseases, who }, truth)]
  const [complaint = ''] = chiefComplaint.findings
  if (!diseases.some(({ complaints }) => complaints[complaint] !== undefined))
    found.push({ rule: 'complaint', case: truth.id, what: complaint })
  if (gold.exams?.required.length === 0)
    found.push({ rule: 'no-required-exam', case: truth.id, what: primaryDiagnosis(gold).id })
  return found
}

/** Least share of complaints that the disease causes, by tier. */
const complaintBounds: Readonly<Record<TierName, number>> = {
  easy: 0.98,
  standard: 0.97,
  hard: 0.92,
  ood: 0.97,
}
const maxStrays = 0.3
const maxWithoutExam = 0.2
const maxExamples = 5

/** Counts and rates over many cases, with a few examples of each rule. */
export interface CoherenceReport {
  /** Cases judged. */
  readonly cases: number
  /** Share of patients whose complaint their disease causes. */
  readonly complaintFromDisease: number
  readonly contradictions: number
  /** Mean number of unexplained abnormal examination findings a patient. */
  readonly strays: number
  readonly outOfRange: number
  /** Share of patients for whom no examination is required. */
  readonly withoutRequiredExam: number
  readonly examples: readonly Incoherence[]
  /** Bounds that are broken, in words. */
  readonly broken: readonly string[]
}

/** How far a share of n cases may be off by chance: three standard errors. */
const slack = (share: number, cases: number): number =>
  3 * Math.sqrt((share * (1 - share)) / Math.max(1, cases))

function brokenBounds(report: Omit<CoherenceReport, 'broken' | 'examples'>, tier: TierName) {
  const { cases, complaintFromDisease, contradictions, strays, outOfRange } = report
  const least = complaintBounds[tier]
  const broken: string[] = []
  const share = (p: number): string => `${(100 * p).toFixed(1)} %`
  if (cases > 0 && complaintFromDisease < least - slack(least, cases))
    broken.push(
      `complaints of the disease ${share(complaintFromDisease)}, at least ${share(least)}`,
    )
  if (contradictions > 0) broken.push(`${contradictions} contradictions, none allowed`)
  if (outOfRange > 0) broken.push(`${outOfRange} values out of range, none allowed`)
  if (strays > maxStrays + slack(maxStrays, cases))
    broken.push(`${strays.toFixed(2)} stray findings a patient, at most ${maxStrays}`)
  if (report.withoutRequiredExam > maxWithoutExam + slack(maxWithoutExam, cases))
    broken.push(
      `${share(report.withoutRequiredExam)} of patients without a required examination, at most ${share(maxWithoutExam)}`,
    )
  return broken
}

/** Collects what the scan finds; `report` sums it up. */
export function coherenceScan(knowledge: Knowledge) {
  const counts = new Map<Incoherence['rule'], number>()
  const examples: Incoherence[] = []
  let cases = 0
  const of = (rule: Incoherence['rule']): number => counts.get(rule) ?? 0
  return {
    add(truth: Case): void {
      const found = incoherences(knowledge, truth)
      if (!found) return
      cases++
      for (const one of found) {
        if (of(one.rule) < maxExamples) examples.push(one)
        counts.set(one.rule, of(one.rule) + 1)
      }
    },
    report(tier: TierName): CoherenceReport {
      const share = (rule: Incoherence['rule']): number => (cases === 0 ? 0 : of(rule) / cases)
      const counted = {
        cases,
        complaintFromDisease: cases === 0 ? 1 : 1 - share('complaint'),
        contradictions: of('contradiction'),
        strays: share('stray'),
        outOfRange: of('out-of-range'),
        withoutRequiredExam: share('no-required-exam'),
      }
      return { ...counted, examples, broken: brokenBounds(counted, tier) }
    },
  }
}
