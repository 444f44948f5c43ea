/**
 * The exact posterior over diseases.
 *
 * Findings fall into families (a root and what hangs from it), independent given the disease; within one,
 * true states are summed over, since an answer may be wrong. A forgotten answer says nothing. That the patient
 * chose to open with one finding among others, and may have a second disease, is summed over too
 * (`hypotheses.ts`). What a question or an examination is worth comes with it (`outlook.ts`).
 */

import type { Case } from '../case.js'
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import type { Told } from '../turn.js'
import type { Belief, Ground, Intake } from './belief.js'
import { knowing, observe, start } from './belief.js'
import type { Outlook } from './expected-value.js'
import { outlookOver } from './expected-value.js'
import { likelihoodOver } from './finding-families.js'
import { modelOf } from './generative-model.js'
import { hypothesesOf } from './hypotheses.js'
import type { Prospect } from './lookahead.js'
import { answers, results } from './lookahead.js'

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

export interface Posterior extends Outlook {
  start(intake: Intake): Belief
  /**
   * The belief after being told; unknown ids, `unknown` states and what was told before change nothing, and
   * what no disease left allows is set aside. `absent` for a categorical child means that its gate is closed.
   * @param certain the states are true, whatever the noise @default false
   */
  observe(belief: Belief, told: readonly Told[], certain?: boolean): Belief
  /** The same as `start` and then `observe` for certain, and quicker where that is all there is to know. */
  knowing(intake: Intake, states: readonly Told[]): Belief
  /** Every answer to a question about a finding; their probabilities sum to 1. */
  answers(belief: Belief, finding: string): readonly Prospect[]
  /**
   * Every result of an examination or panel; their probabilities sum to 1.
   * @param done examinations of a panel that are not done again
   */
  results(belief: Belief, exam: string, done?: ReadonlySet<string>): readonly Prospect[]
}

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

/** The posterior of a knowledge base under a tier's knobs, with its tables precomputed. */
export function posteriorOver(
  knowledge: Knowledge,
  { atypicality = 0, noise = quiet, comorbidity = 0, novel = false }: PosteriorOptions = {},
): Posterior {
  const drawn = novel ? 'all' : 'common'
  const model = modelOf(knowledge, atypicality)
  const hypotheses = hypothesesOf(knowledge, { atypicality, comorbidity, drawn })
  const likelihood = likelihoodOver(hypotheses.families, noise)
  const remembered = 1 - noise.forget
  const ground: Ground = { knowledge, hypotheses, model, likelihood, remembered }
  return {
    ...outlookOver(knowledge, model, noise),
    start: (intake) => start(ground, intake),
    observe: (belief, list, certain = false) => observe(ground, belief, list, certain),
    knowing: (intake, states) => knowing(ground, intake, states),
    answers: (belief, finding) => answers(ground, belief, finding),
    results: (belief, exam, done) => results(ground, belief, exam, done),
  }
}

const kept = new WeakMap<Knowledge, Map<string, Posterior>>()

/** The same, made once for each knowledge base and tier and shared by all who ask. */
export function posteriorOf(knowledge: Knowledge, options: PosteriorOptions = {}): Posterior {
  const { atypicality = 0, noise = quiet, comorbidity = 0, novel = false } = options
  const { forget, deny, overReport } = noise
  const key = [atypicality, forget, deny, overReport, comorbidity, novel].join()
  const known = kept.get(knowledge) ?? new Map<string, Posterior>()
  const posterior = known.get(key) ?? posteriorOver(knowledge, options)
  kept.set(knowledge, known.set(key, posterior))
  return posterior
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
  const known = knownBy === undefined ? findings : findings.filter((f) => f.knownBy === knownBy)
  return posterior.knowing(
    {
      age: yearsOf(demographics.age),
      sex: demographics.sex,
      complaint: chiefComplaint.findings,
    },
    known.map(({ id, state }) => ({ finding: id, state })),
  )
}
