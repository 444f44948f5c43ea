/**
 * Exact Bayesian posterior over diseases: P(disease | evidence) ∝ P(disease) · P(evidence | disease).
 *
 * Findings fall into families (a root and its descendants), independent given the disease. Within a family the true
 * states are summed over, since an answer may be wrong; a forgotten answer is no evidence. The choice of the chief
 * complaint and a possible second disease are summed over too (`hypotheses.ts`). The value of a question or an
 * examination comes with it (`expected-value.ts`).
 */

import type { Case } from '../case.js'
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'
import type { RevealedFinding } from '../turn.js'
import type { Belief, BeliefContext, Intake } from './belief.js'
import { beliefGivenStates, initialBelief, observe } from './belief.js'
import { type ExpectedValues, expectedValues } from './expected-value.js'
import { likelihoodFunction } from './finding-families.js'
import { generativeModel } from './generative-model.js'
import { buildHypotheses } from './hypotheses.js'
import { type PredictedOutcome, predictAnswers, predictResults } from './lookahead.js'

/** Settings of a tier that the posterior assumes of patients. */
export interface PosteriorOptions {
  /** Share of the background in every probability of a finding, 0 to 1. @default 0 */
  readonly atypicality?: number
  /** How often answers are wrong or forgotten. @default never */
  readonly noise?: Case['noise']
  /** P(a second disease). @default 0 */
  readonly comorbidity?: number
  /** Whether patients may have a disease that only the out-of-distribution tier draws. @default false */
  readonly novel?: boolean
}

/** Posterior over the diseases of a knowledge base: makes and updates beliefs, values questions and examinations. */
export interface Posterior extends ExpectedValues {
  /** The belief before the first question. */
  start(intake: Intake): Belief
  /**
   * The belief given more reported states. Unknown ids, `unknown` states and findings reported before change nothing;
   * a state no remaining disease allows is ignored. `absent` for a categorical child means that its gate is closed.
   * @param certain the states are true, whatever the noise @default false
   */
  observe(belief: Belief, revealed: readonly RevealedFinding[], certain?: boolean): Belief
  /** The same as `start` and then `observe` for certain, but faster where the states leave nothing unknown. */
  beliefGivenStates(intake: Intake, states: readonly RevealedFinding[]): Belief
  /** Every outcome of asking about a finding; probabilities sum to 1. */
  predictAnswers(belief: Belief, finding: string): readonly PredictedOutcome[]
  /**
   * Every outcome of an examination or panel; probabilities sum to 1.
   * @param done members of a panel that are not repeated
   */
  predictResults(
    belief: Belief,
    exam: string,
    done?: ReadonlySet<string>,
  ): readonly PredictedOutcome[]
}

const noNoise: Case['noise'] = { forget: 0, deny: 0, overReport: 0 }

const perYear = { year: 1, month: 12, day: 365.25 } as const

/** Age in years; a fraction where it was recorded in months or days, undefined where it is unknown. */
export const ageInYears = (age: Case['demographics']['age']): number | undefined =>
  age && age.v / perYear[age.unit]

/** The most probable disease; the first of equals. */
export function mostProbableDisease(knowledge: Knowledge, { probabilities }: Belief): Disease {
  let best = 0
  probabilities.forEach((p, d) => {
    if (p > probabilities[best]!) best = d
  })
  return knowledge.diseases[best]!
}

/** Builds the posterior of a knowledge base under a tier, with its tables precomputed. */
export function buildPosterior(
  knowledge: Knowledge,
  { atypicality = 0, noise = noNoise, comorbidity = 0, novel = false }: PosteriorOptions = {},
): Posterior {
  const drawn = novel ? 'all' : 'common'
  const model = generativeModel(knowledge, atypicality)
  const hypotheses = buildHypotheses(knowledge, { atypicality, comorbidity, drawn })
  const likelihood = likelihoodFunction(hypotheses.families, noise)
  const remembered = 1 - noise.forget
  const context: BeliefContext = { knowledge, hypotheses, model, likelihood, remembered }
  return {
    ...expectedValues(knowledge, model, noise),
    start: (intake) => initialBelief(context, intake),
    observe: (belief, revealed, certain = false) => observe(context, belief, revealed, certain),
    beliefGivenStates: (intake, states) => beliefGivenStates(context, intake, states),
    predictAnswers: (belief, finding) => predictAnswers(context, belief, finding),
    predictResults: (belief, exam, done) => predictResults(context, belief, exam, done),
  }
}

const posteriors = perKnowledge(() => new Map<string, Posterior>())

/** The posterior of a knowledge base under a tier, memoised: equal options share one. */
export function getPosterior(knowledge: Knowledge, options: PosteriorOptions = {}): Posterior {
  const { atypicality = 0, noise = noNoise, comorbidity = 0, novel = false } = options
  const { forget, deny, overReport } = noise
  const key = [atypicality, forget, deny, overReport, comorbidity, novel].join()
  const known = posteriors(knowledge)
  const posterior = known.get(key) ?? buildPosterior(knowledge, options)
  known.set(key, posterior)
  return posterior
}

/**
 * The belief given the true state of every finding of a case, or of one kind: the ceiling of accuracy.
 * @param knownBy only findings the patient knows, or only those examinations show @default both
 */
export function fullInformationBelief(
  posterior: Posterior,
  truth: Case,
  { knownBy }: { readonly knownBy?: 'patient' | 'exam' } = {},
): Belief {
  const { findings, demographics, chiefComplaint } = truth
  const known = knownBy === undefined ? findings : findings.filter((f) => f.knownBy === knownBy)
  return posterior.beliefGivenStates(
    {
      age: ageInYears(demographics.age),
      sex: demographics.sex,
      complaint: chiefComplaint.findings,
    },
    known.map(({ id, state }) => ({ finding: id, state })),
  )
}
