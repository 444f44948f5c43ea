/**
 * The exact posterior over diseases, and what a question or an examination is worth in nats.
 *
 * Findings fall into families (a root and what hangs from it), independent given the disease; within one,
 * true states are summed over, since an answer may be wrong. A forgotten answer says nothing. That the patient
 * chose to open with one finding among others, and may have a second disease, is summed over too
 * (`hypotheses.ts`). What a question is worth is told of the disease alone, which is a hundred times cheaper
 * and may misjudge a question, never an answer.
 */
import type { Case } from './case.js'
import { type Hypotheses, hypothesesOf, opens } from './hypotheses.js'
import type { Tables } from './information.js'
import { information, tablesOf } from './information.js'
import type { Disease, Knowledge } from './knowledge.js'
import { expandPanel } from './knowledge.js'
import type { Demographics, Evidence, Model } from './likelihood.js'
import { evidenceOf, isMoot, modelOf } from './likelihood.js'
import type { Told } from './turn.js'

export interface PosteriorOptions {
  /** The tier's. @default 0 */
  readonly atypicality?: number
  /** The tier's. @default none */
  readonly noise?: Case['noise']
  /** The tier's. @default 0 */
  readonly comorbidity?: number
  /** Whether the patient may have a disease that only the out-of-distribution tier draws. @default false */
  readonly novel?: boolean
}

/** What is known and what it makes of the diseases; a value, never changed. */
export interface Belief {
  /** In the order of `knowledge.diseases`. */
  readonly probabilities: Float64Array
  /** P(column of the hypotheses, what is known), not normalised. */
  readonly columns: Float64Array
  readonly evidence: Evidence
}

export interface Intake extends Demographics {
  /** Findings the chief complaint states. */
  readonly complaint?: readonly string[]
}

export interface Posterior {
  start(intake: Intake): Belief
  /**
   * The belief after being told; unknown ids, `unknown` states and what was told before change nothing, and
   * what no disease left allows is set aside. `absent` for a categorical child means that its gate is closed.
   * @param certain the states are true, whatever the noise @default false
   */
  observe(belief: Belief, told: readonly Told[], certain?: boolean): Belief
  /** Exact mutual information, in nats, of the disease and what the patient or examiner would tell of a finding. */
  expectedInformation(belief: Belief, finding: string): number
  /**
   * The same for an examination or panel and the chance that it is unavailable: exact (jointly) up to 4
   * findings still unknown. Above, the sum over families of findings, an upper bound; so is the sum over
   * members for a panel of which some may be unavailable.
   * @param done examinations of a panel that are not counted again
   */
  expectedInformationOfExam(belief: Belief, exam: string, done?: ReadonlySet<string>): number
}

const maxJoint = 4
const quiet: Case['noise'] = { forget: 0, deny: 0, overReport: 0 }

const perYear = { year: 1, month: 12, day: 365.25 } as const

/** An age in years. */
export const yearsOf = (age: Case['demographics']['age']): number | undefined =>
  age && age.v / perYear[age.unit]

/** The most probable disease, the first of equals. */
export function mostProbable(knowledge: Knowledge, { probabilities }: Belief): Disease {
  let best = 0
  probabilities.forEach((p, d) => {
    if (p > probabilities[best]!) best = d
  })
  return knowledge.diseases[best]!
}

/** Everything that is fixed for a knowledge base and a tier. */
interface Setting {
  readonly knowledge: Knowledge
  readonly hypotheses: Hypotheses
  /** P(evidence of a family | column). */
  readonly likelihood: Tables['likelihood']
  /** One column a disease: what a question would tell. */
  readonly model: Model
  readonly tables: Tables
}

/** P(disease | what is known) of weighted columns, which are scaled to sum to 1; undefined where all are 0. */
function believed(
  { knowledge, hypotheses: { disease } }: Setting,
  columns: Float64Array,
  evidence: Evidence,
): Belief | undefined {
  let sum = 0
  for (let c = 0; c < columns.length; c++) sum += columns[c]!
  if (!(sum > 0)) return undefined
  const probabilities = new Float64Array(knowledge.diseases.length)
  for (let c = 0; c < columns.length; c++) {
    columns[c]! /= sum
    probabilities[disease[c]!]! += columns[c]!
  }
  return { probabilities, columns, evidence }
}

/** The belief with one more piece of evidence; the same where no disease left allows it. */
function settle(setting: Setting, belief: Belief, f: number, code: number): Belief {
  const evidence = belief.evidence.slice()
  evidence[f] = code
  const before = setting.likelihood(f, belief.evidence)
  const after = setting.likelihood(f, evidence)
  const columns = belief.columns.slice()
  for (let c = 0; c < columns.length; c++)
    columns[c]! *= before[c]! > 0 ? after[c]! / before[c]! : 0
  return believed(setting, columns, evidence) ?? belief
}

/** The belief before the first question. */
function start(setting: Setting, { complaint = [], ...who }: Intake): Belief {
  const { model, hypotheses } = setting
  const stated = complaint.flatMap((id) => model.index.get(id) ?? [])
  const evidence = evidenceOf(model, who)
  const first = stated.length === 1 ? model.nodes[stated[0]!] : undefined
  const opened = first && opens(first) && !isMoot(first, who) ? stated[0] : undefined
  const columns = hypotheses.start(who, opened)
  const certain = evidence.slice()
  if (opened !== undefined) certain[opened] = -2
  const belief =
    believed(setting, columns, certain) ??
    // Nobody of this age and sex: what is known of them is set aside.
    believed(setting, hypotheses.start({}, undefined), evidence)
  if (!belief) throw new TypeError('Expected some disease to have a weight above 0, got none')
  if (opened !== undefined) return belief
  const told = stated.map((f) => ({ finding: model.nodes[f]!.finding.id, state: 'present' }))
  return observe(setting, belief, told, true)
}

function observe(
  setting: Setting,
  belief: Belief,
  told: readonly Told[],
  certain: boolean,
): Belief {
  const { index, nodes } = setting.model
  let next = belief
  for (const { finding, state } of told) {
    const f = index.get(finding)
    if (f === undefined) continue
    const node = nodes[f]!
    const named = node.finding.states.indexOf(state)
    const s = named >= 0 || state !== 'absent' || node.parent < 0 ? named : node.closed
    const old = next.evidence[f]!
    const moot = node.gated && old === 1 + node.closed
    if (s < 0 || old < 0 || moot || (old > 0 && !certain)) continue
    next = settle(setting, next, f, certain ? -1 - s : 1 + s)
  }
  return next
}

/** What examinations that are sure to be carried out would tell together. */
function ofExams(
  { model, tables }: Setting,
  { probabilities, evidence }: Belief,
  exams: readonly string[],
): number {
  const all = exams.flatMap((exam) => model.yields.get(exam) ?? [])
  const findings = [...new Set(all)].filter((f) => evidence[f] === 0)
  if (findings.length === 0) return 0
  if (findings.length <= maxJoint)
    return information(tables.joint(findings, evidence), probabilities)
  let sum = 0
  for (const table of tables.families(findings, evidence)) sum += information(table, probabilities)
  return sum
}

function ofOrder(
  setting: Setting,
  belief: Belief,
  exam: string,
  done: ReadonlySet<string> | undefined,
): number {
  const { exam: byId } = setting.knowledge
  const ordered = byId.get(exam)
  if (!ordered) return 0
  const members = expandPanel(ordered).filter((member) => !done?.has(member))
  const missing = members.map((member) => byId.get(member)?.unavailableP ?? 0)
  if (members.length === 1 || missing.every((p) => p === 0))
    return (1 - (missing[0] ?? 0)) * ofExams(setting, belief, members)
  let sum = 0
  members.forEach((member, m) => {
    sum += (1 - missing[m]!) * ofExams(setting, belief, [member])
  })
  return sum
}

/** The posterior of a knowledge base under a tier's knobs, with its tables precomputed. */
export function posteriorOver(
  knowledge: Knowledge,
  { atypicality = 0, noise = quiet, comorbidity = 0, novel = false }: PosteriorOptions = {},
): Posterior {
  const drawn = novel ? 'all' : 'common'
  const model = modelOf(knowledge, atypicality)
  const hypotheses = hypothesesOf(knowledge, { atypicality, comorbidity, drawn })
  const { likelihood } = tablesOf(hypotheses.model, noise)
  const setting: Setting = {
    knowledge,
    hypotheses,
    likelihood,
    model,
    tables: tablesOf(model, noise),
  }
  const remembered = 1 - noise.forget
  return {
    start: (intake) => start(setting, intake),
    observe: (belief, list, certain = false) => observe(setting, belief, list, certain),
    expectedInformation({ probabilities, evidence }, finding) {
      const f = model.index.get(finding)
      if (f === undefined || evidence[f] !== 0) return 0
      const kept = model.nodes[f]!.finding.knownBy === 'patient' ? remembered : 1
      return kept * information(setting.tables.single(f, evidence), probabilities)
    },
    expectedInformationOfExam: (belief, exam, done) => ofOrder(setting, belief, exam, done),
  }
}

/**
 * The belief of somebody who knows every finding of a case as it truly is, or every one of a kind: the
 * ceiling of accuracy.
 * @param knownBy only what the patient can tell, or only what examinations show @default both
 */
export function fullInformation(
  posterior: Posterior,
  truth: Case,
  { knownBy }: { readonly knownBy?: 'patient' | 'exam' } = {},
): Belief {
  const { findings, demographics, chiefComplaint } = truth
  const start = posterior.start({
    age: yearsOf(demographics.age),
    sex: demographics.sex,
    complaint: chiefComplaint.findings,
  })
  const known = knownBy === undefined ? findings : findings.filter((f) => f.knownBy === knownBy)
  return posterior.observe(
    start,
    known.map(({ id, state }) => ({ finding: id, state })),
    true,
  )
}
