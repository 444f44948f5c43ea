/**
 * The exact posterior over diseases, and what a question or an examination is worth in nats.
 *
 * Findings fall into families (a root and what hangs from it), independent given the disease; within one,
 * true states are summed over, since an answer may be wrong. A forgotten answer says nothing. The chief
 * complaint is taken as "this finding is present"; that the patient chose it among others is not used,
 * which costs a little calibration and no more.
 */
import type { Case } from './case.js'
import type { Tables } from './information.js'
import { information, tablesOf } from './information.js'
import type { Disease, Knowledge } from './knowledge.js'
import { expandPanel } from './knowledge.js'
import type { Demographics, Evidence, Model } from './likelihood.js'
import { evidenceOf, modelOf, priorWeights } from './likelihood.js'
import type { Told } from './turn.js'

export interface PosteriorOptions {
  /** The tier's. @default 0 */
  readonly atypicality?: number
  /** The tier's. @default none */
  readonly noise?: Case['noise']
}

/** What is known and what it makes of the diseases; a value, never changed. */
export interface Belief {
  /** In the order of `knowledge.diseases`. */
  readonly probabilities: Float64Array
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

/** Everything that is fixed for a knowledge base, an atypicality and a noise. */
interface Setting {
  readonly knowledge: Knowledge
  readonly model: Model
  readonly tables: Tables
}

/** The belief with one more piece of evidence; the same where no disease left allows it. */
function settle({ tables }: Setting, belief: Belief, f: number, code: number): Belief {
  const evidence = belief.evidence.slice()
  evidence[f] = code
  const before = tables.likelihood(f, belief.evidence)
  const after = tables.likelihood(f, evidence)
  const probabilities = belief.probabilities.slice()
  let sum = 0
  for (let d = 0; d < probabilities.length; d++) {
    probabilities[d]! *= before[d]! > 0 ? after[d]! / before[d]! : 0
    sum += probabilities[d]!
  }
  if (!(sum > 0)) return belief
  for (let d = 0; d < probabilities.length; d++) probabilities[d]! /= sum
  return { probabilities, evidence }
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

/** The posterior of a knowledge base under an atypicality and a noise, with its tables precomputed. */
export function posteriorOver(
  knowledge: Knowledge,
  { atypicality = 0, noise = quiet }: PosteriorOptions = {},
): Posterior {
  const model = modelOf(knowledge, atypicality)
  const remembered = 1 - noise.forget
  const setting: Setting = { knowledge, model, tables: tablesOf(model, noise) }
  return {
    start({ complaint = [], ...who }) {
      let weights = priorWeights(knowledge, who)
      if (!weights.some((weight) => weight > 0)) weights = priorWeights(knowledge, {})
      const sum = weights.reduce((total, weight) => total + weight, 0)
      const probabilities = weights.map((weight) => weight / sum)
      const belief = { probabilities, evidence: evidenceOf(model, who) }
      const stated = complaint.map((finding) => ({ finding, state: 'present' }))
      return observe(setting, belief, stated, true)
    },
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
