/**
 * The rewards of DiagAgent (arXiv 2510.24654), parity and fixed: a finished consultation, the right diagnosis, the
 * right examinations and, in the paper, few turns.
 */
import type { GraderView } from '../../case.js'
import { diagnosisOf, type Episode } from '../../episode.js'
import { notApplicable, ok, type Part, type Reward, type Score } from '../../reward.js'
import { defineReward, unitReward } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { judgeDiagnosis } from '../judges/judge-diagnosis.js'
import { type RuleJudgeOptions, ruleJudge } from '../judges/rule-judge.js'
import { toPart } from '../score.js'
import { computeParityTerms, maxExamCount, parityTurns, releasedAsks } from './diagagent-parity.js'

/** Weights of the parts; where examinations are not applicable, the diagnosis carries their weight. */
export interface DiagagentWeights {
  readonly diagnosis: number
  readonly exams: number
  readonly turns: number
  readonly complete: number
}

/** The turn term: 1 up to the limit and 0 beyond, or the share of the limit that is left. */
export type TurnTerm = 'over-limit' | 'linear'

/** Options of {@link diagagent} and {@link diagagentPaper}. */
export interface DiagagentOptions extends RuleJudgeOptions {
  /** @default ruleJudge({ formulary, knowledge }) */
  readonly judge?: Judge
  /** Weights of the fixed form. @default those of the release, or of the paper */
  readonly weights?: Partial<DiagagentWeights>
  /** Replaces the F1, within [0, 1]; the reference list is only one clinician's orders. @default the F1 */
  readonly exams?: Reward
  /** The paper's turn term, which neither code nor text confirms. @default 'over-limit' */
  readonly turns?: TurnTerm
  /** Maximum number of the doctor's turns, the diagnosis included. @default 12 */
  readonly limit?: number
  /**
   * Whether to use the released terms: the whole transcript is searched, "Incorrect" contains "correct", counts are the
   * first integer of a reply, repeats cost nothing, and the turn count is always 12. @default false
   */
  readonly parity?: boolean
}

/**
 * F1 between the required examinations and those carried out, by canonical id, panels expanded. Neutral ones are left
 * out; a repeat counts as needless, be it required or neutral. Not applicable where the case lists none, or requires
 * none and none was done.
 */
export function examMatch({ turns }: Episode, { gold }: Pick<GraderView, 'gold'>): Part {
  if (!gold.exams) return notApplicable
  const { required, neutral } = gold.exams
  const needed = new Set(required)
  const done = new Set<string>()
  let hits = 0
  let needless = 0
  for (const { facts } of turns)
    for (const exam of facts.exams) {
      if (done.has(exam)) needless++
      else if (needed.has(exam)) hits++
      else if (!neutral.includes(exam)) needless++
      done.add(exam)
    }
  if (needed.size === 0 && hits + needless === 0) return notApplicable
  return ok(
    (2 * hits) / (needed.size + hits + needless),
    `${hits} of ${needed.size} required, ${needless} needless or repeated`,
  )
}

const turnTerm = (count: number, limit: number, how: TurnTerm): number =>
  count > limit ? 0 : how === 'over-limit' ? 1 : 1 - count / limit

interface DiagagentFormula {
  readonly name: string
  readonly weights: DiagagentWeights
}

/**
 * The weighted mean; where examinations are not applicable the diagnosis carries their weight. The divisor is constant:
 * else ordering nothing for a patient who needs nothing would raise the weight of the other parts.
 */
function mean(
  parts: Readonly<Record<keyof DiagagentWeights, Part>>,
  weights: DiagagentWeights,
): number {
  let sum = 0
  let all = 0
  // The keys of the weights are the names of the parts.
  for (const name of Object.keys(weights) as (keyof DiagagentWeights)[]) {
    const part = parts[name].status === 'ok' ? parts[name] : parts.diagnosis
    sum += part.status === 'ok' ? weights[name] * part.value : 0
    all += weights[name]
  }
  return Math.min(sum / all, 1)
}

function makeFixed({ name, weights: own }: DiagagentFormula, options: DiagagentOptions): Reward {
  const { judge = ruleJudge(options), exams, turns = 'over-limit', limit = 12 } = options
  const { formulary = [] } = options
  const weights = { ...own, ...options.weights }
  checkOptions(weights, exams, limit)
  const source = 'DiagAgent (arXiv 2510.24654), fixed'
  const reward = unitReward(name, source, async (episode, truth, context) => {
    const { right, evidence } = await judgeDiagnosis(episode, truth, judge, context, {
      asks: releasedAsks,
      formulary,
    })
    const listed = exams ? toPart(await exams(episode, truth, context)) : examMatch(episode, truth)
    const count = episode.turns.length
    const left = turnTerm(count, limit, turns)
    // Conduct is paid only for a right diagnosis: else ordering everything and guessing would pay.
    const worth = (part: Part): Part =>
      part.status === 'ok' ? ok(right ? part.value : 0, part.evidence) : part
    const parts = {
      diagnosis: ok(right ? 1 : 0, evidence),
      exams: worth(listed),
      turns: worth(ok(left, `${count} of ${limit} turns, ${episode.stop}`)),
      complete: ok(diagnosisOf(episode) ? 1 : 0, episode.stop),
    }
    if (listed.status === 'unavailable') return { total: null, parts } satisfies Score
    return { total: mean(parts, weights), parts } satisfies Score
  })
  return Object.assign(reward, { weights: normalizeWeights(weights) })
}

function normalizeWeights(weights: DiagagentWeights): Readonly<Record<string, number>> {
  const weighed = Object.entries(weights).filter(([, weight]) => weight > 0)
  const sum = weighed.reduce((all, [, weight]) => all + weight, 0)
  return Object.fromEntries(weighed.map(([name, weight]) => [name, weight / sum]))
}

function checkOptions(weights: DiagagentWeights, exams: Reward | undefined, limit: number): void {
  for (const [name, weight] of Object.entries(weights))
    if (!(Number.isFinite(weight) && weight >= 0))
      throw new RangeError(`Expected weight \`${name}\` to be finite and ≥ 0, got ${weight}`)
  if (!(weights.diagnosis > 0))
    throw new RangeError(`Expected weight \`diagnosis\` to be above 0, got ${weights.diagnosis}`)
  if (!(limit >= 1)) throw new RangeError(`Expected \`limit\` to be at least 1, got ${limit}`)
  if (exams && !(exams.bounds[0] >= 0 && exams.bounds[1] <= 1))
    throw new RangeError(
      `Expected \`exams\` to be a reward within [0, 1], got [${exams.bounds}] of \`${exams.rewardName}\``,
    )
}

const parityTurnTerm = (limit: number, how: TurnTerm): number =>
  how === 'linear' ? -Math.min(1, parityTurns / limit) : parityTurns > limit ? -1 : 0

function makeParity({ name, weights }: DiagagentFormula, options: DiagagentOptions): Reward {
  const { judge = ruleJudge(options), turns: how = 'over-limit', limit = 12 } = options
  checkOptions(weights, undefined, limit)
  const paper = weights.turns > 0
  return defineReward(
    {
      name: `${name}-parity`,
      // Counts are not checked against the lists, so the F1 may exceed 1.
      bounds: [paper ? -1 : 0, 1.1 + 0.5 * maxExamCount],
      source: paper
        ? 'DiagAgent (arXiv 2510.24654): the weights of the paper on the terms of the release'
        : 'DiagAgent `compute_score` (MAGIC-AI4Med/DiagGym), as released',
      parity: true,
    },
    async (...scored) => {
      const terms = await computeParityTerms(scored, judge)
      const complete = paper ? 0 : terms.complete
      const turn = paper ? parityTurnTerm(limit, how) : 0
      const by = `judged by ${judge.judgeName}`
      return {
        total: complete + terms.correct + terms.exams + turn,
        parts: {
          complete: ok(complete),
          diagnosis: ok(terms.correct, by),
          exams: ok(terms.exams, by),
          turns: ok(turn, 'the release counts 12 turns, whatever happened'),
        },
      }
    },
  )
}

const preset =
  (formula: DiagagentFormula) =>
  (options: DiagagentOptions = {}): Reward =>
    (options.parity ? makeParity : makeFixed)(formula, options)

/**
 * DiagAgent's released weights: (1·diagnosis + .5·exams + .1·complete) / 1.6, within [0, 1]. The diagnosis is judged by
 * alias table and judge, `exams` is an F1 by canonical ids that is paid only for a right diagnosis, `complete` is 1 for
 * any diagnosis. Parity: the released sum of .1, 1 and .5·F1, from 0 to 1.6 for a judge that counts right, and above it
 * for one that does not.
 * @throws RangeError for a weight, a limit or an `exams` out of range
 */
export const diagagent = preset({
  name: 'diagagent',
  weights: { diagnosis: 1, exams: 0.5, turns: 0, complete: 0.1 },
})

/**
 * The weights of DiagAgent's paper: (1·diagnosis + .5·exams + 1·turns) / 2.5, within [0, 1]; exams and turns are paid
 * only for a right diagnosis. The paper's turn term is not known: `turns` and `limit` define a substitute. Parity: the
 * paper's weights on the released terms, with the released turn count, 12 for every finished consultation.
 * @throws RangeError for a weight, a limit or an `exams` out of range
 */
export const diagagentPaper = preset({
  name: 'diagagent-paper',
  weights: { diagnosis: 1, exams: 0.5, turns: 1, complete: 0 },
})
