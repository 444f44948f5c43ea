/**
 * The rewards of DiagAgent (arXiv 2510.24654): a finished consultation, the right diagnosis, the right examinations
 * and, in the paper, few enough turns. `parity` gives what was released, faults included; else they are mended.
 */
import type { GraderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import { diagnosisOf } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Part, Reward, Score } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { ruleJudge } from '../judges/rule.js'
import { judgeDiagnosis } from '../judges/same-diagnosis.js'
import type { Formulary } from '../outcome/formulary.js'
import { partOf } from '../score.js'
import { mostCounted, releasedTerms, releasedTurns } from './diagagent-released.js'

/** What each part weighs, of all of them; where examinations do not apply, the diagnosis carries their weight. */
export interface DiagagentWeights {
  readonly diagnosis: number
  readonly exams: number
  readonly turns: number
  readonly complete: number
}

/** How turns are paid: in full up to the limit and not at all beyond, or the share of the limit that is left. */
export type TurnReward = 'over-limit' | 'linear'

export interface DiagagentOptions {
  /** @default ruleJudge({ formulary, knowledge }) */
  readonly judge?: Judge
  /** The diseases that the rule judge can tell from their names. @default none */
  readonly formulary?: Formulary
  /** The examinations that the rule judge can tell from their names. @default none */
  readonly knowledge?: Knowledge
  /** Of the mended form. @default those of the release, or of the paper */
  readonly weights?: Partial<DiagagentWeights>
  /** In place of the F1, within [0, 1]; the reference list is only what one clinician ordered. @default the F1 */
  readonly exams?: Reward
  /** What the paper's turn term is, which no code and no text confirms. @default 'over-limit' */
  readonly turns?: TurnReward
  /** Turns of the doctor, the diagnosis among them. @default 12 */
  readonly limit?: number
  /**
   * The released terms: the whole transcript is searched, "Incorrect" holds "correct", counts are whatever integer
   * comes first, repeats cost nothing, turns count 12 however it ended. @default false
   */
  readonly parity?: boolean
}

/**
 * F1 between the required examinations and what was carried out, by canonical id, panels expanded. Neutral ones are
 * left out; one that is done again counts as needless, be it required or neutral. Not applicable where the case lists
 * none, or requires none and none was done.
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

/** 0 to 1, for the count of turns of a consultation that ended in time or not. */
const turnsLeft = (count: number, limit: number, how: TurnReward): number =>
  count > limit ? 0 : how === 'over-limit' ? 1 : 1 - count / limit

interface Formula {
  readonly name: string
  readonly weights: DiagagentWeights
}

/**
 * The weighted mean; where examinations do not apply the diagnosis carries their weight. What the parts are divided by
 * is always the same, or ordering nothing for a patient who needs nothing would raise what all else is worth.
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

function mended({ name, weights: own }: Formula, options: DiagagentOptions): Reward {
  const { judge = ruleJudge(options), exams, turns = 'over-limit', limit = 12 } = options
  const weights = { ...own, ...options.weights }
  checkOptions(weights, exams, limit)
  const source = 'DiagAgent (arXiv 2510.24654), mended'
  const reward = defineReward({ name, bounds: [0, 1], source }, async (episode, truth, context) => {
    const { right, evidence } = await judgeDiagnosis(episode, truth, judge, context)
    const listed = exams ? partOf(await exams(episode, truth, context)) : examMatch(episode, truth)
    const count = episode.turns.length
    const left = turnsLeft(count, limit, turns)
    // Conduct is paid only as far as the diagnosis is right, or ordering everything and guessing would be.
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
  return Object.assign(reward, { weights: sharesOf(weights) })
}

/** Each weight's share of all, of the parts that weigh anything. */
function sharesOf(weights: DiagagentWeights): Readonly<Record<string, number>> {
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

/** What no count of turns can change: the released one is 12, whatever happened. */
const releasedTurn = (limit: number, how: TurnReward): number =>
  how === 'linear' ? -Math.min(1, releasedTurns / limit) : releasedTurns > limit ? -1 : 0

function released({ name, weights }: Formula, options: DiagagentOptions): Reward {
  const { judge = ruleJudge(options), turns: how = 'over-limit', limit = 12 } = options
  checkOptions(weights, undefined, limit)
  const paper = weights.turns > 0
  return defineReward(
    {
      name: `${name}-parity`,
      // Counts are not held to the lists, so the F1 is not held to 1.
      bounds: [paper ? -1 : 0, 1.1 + 0.5 * mostCounted],
      source: paper
        ? 'DiagAgent (arXiv 2510.24654): the weights of the paper on the terms of the release'
        : 'DiagAgent `compute_score` (MAGIC-AI4Med/DiagGym), as released',
      parity: true,
    },
    async (episode, truth, context) => {
      const terms = await releasedTerms(episode, truth, judge, context)
      const complete = paper ? 0 : terms.complete
      const turn = paper ? releasedTurn(limit, how) : 0
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
  (formula: Formula) =>
  (options: DiagagentOptions = {}): Reward =>
    (options.parity ? released : mended)(formula, options)

/**
 * (1·diagnosis + .5·exams + .1·complete) / 1.6, within [0, 1]: the diagnosis by alias table and judge, `exams` an F1 by
 * canonical ids that is paid only where the diagnosis is right, `complete` any diagnosis at all. With `parity` the
 * released sum of .1, 1 and .5·F1, from 0 to 1.6 for a judge that counts right and without bound for one that does not.
 * @throws RangeError for a weight, a limit or an `exams` out of range
 */
export const diagagentReleased = preset({
  name: 'diagagent',
  weights: { diagnosis: 1, exams: 0.5, turns: 0, complete: 0.1 },
})

/**
 * (1·diagnosis + .5·exams + 1·turns) / 2.5, within [0, 1]; exams and turns are paid only where the diagnosis is right.
 * The paper's term for turns is not known: `turns` and `limit` say what stands for it. With `parity` its weights on the
 * released terms and the released count of turns, which is 12 for every consultation that ended.
 * @throws RangeError for a weight, a limit or an `exams` out of range
 */
export const diagagentPaper = preset({
  name: 'diagagent-paper',
  weights: { diagnosis: 1, exams: 0.5, turns: 1, complete: 0 },
})
