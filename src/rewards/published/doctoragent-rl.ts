/**
 * The rewards of DoctorAgent-RL's three training environments (arXiv 2505.19630). `parity` gives what was released,
 * faults included; else they are mended: bounded, by the facts of the turns, and nothing paid for a wrong diagnosis.
 *
 * The turn budget is the episode's own `maxTurns`. How an episode is read is told in `doctoragent-rl-texts.ts`.
 */
import type { GraderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Part, Reward, RewardContext, Score } from '../../reward.js'
import { defineReward } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { ruleJudge } from '../judges/rule.js'
import type { Formulary } from '../outcome/formulary.js'
import {
  advice,
  checkPlayed,
  conduct,
  earliness,
  earned,
  elicited,
  judgedAdvice,
  judgedRightness,
  precision,
  rightness,
} from './doctoragent-rl-mended.js'
import type { Complete, ReleasedOptions } from './doctoragent-rl-released.js'
import {
  completed,
  releasedJudge,
  releasedMatch,
  releasedPatient,
} from './doctoragent-rl-released.js'

export interface DoctorAgentRlOptions extends ReleasedOptions {
  /** The released formula, faults included; the options that are not its own are not used. @default false */
  readonly parity?: boolean
  /** The diseases that can be told from their names; mended only. @default none */
  readonly formulary?: Formulary
}

export interface DoctorAgentRlJudgeOptions extends DoctorAgentRlOptions {
  /** Asked how alike the diagnoses are, and the recommendations. @default ruleJudge({ formulary }) */
  readonly judge?: Judge
}

type Scored = readonly [Episode, GraderView, RewardContext]

interface Preset {
  readonly name: string
  /** The environment's file. */
  readonly file: string
  /** The most that the released formula pays for a diagnosis with its recommendation. */
  readonly most: number
  readonly released: (scored: Scored, options: Complete) => Promise<Score>
  readonly mended: (scored: Scored) => Promise<Score>
}

function presetOf(
  { name, file, most, released, mended }: Preset,
  given: DoctorAgentRlOptions,
): Reward {
  const options = completed(given)
  if (!given.parity)
    return defineReward(
      { name, bounds: [0, 1], source: `DoctorAgent-RL ${file} (arXiv 2505.19630), mended` },
      async (episode, truth, context) => {
        checkPlayed(episode)
        return mended([episode, truth, context])
      },
    )
  // Five a turn at the limit is the worst; one a question, but for the last turn, is the best before the end.
  const bounds = [-5 * options.loop, options.loop - 1 + most] as const
  const source = `DoctorAgent-RL ${file} (arXiv 2505.19630), as released`
  return defineReward({ name: `${name}-parity`, bounds, source, parity: true }, (...scored) =>
    released(scored, options),
  )
}

/** Weights of what a right diagnosis earns; published 5 for it, 5 for the recommendation, 1 for each question. */
const generative = { diagnosis: 0.4, recommendation: 0.2, history: 0.2, conduct: 0.1, early: 0.1 }

const generativeParts = async (
  [episode, truth]: Scored,
  recommendation: Part,
): Promise<Readonly<Record<string, Part>>> => ({
  recommendation,
  history: await elicited(episode, truth),
  conduct: conduct(episode, truth),
  early: earliness(episode),
})

const matchWeights = {
  ...{ diagnosis: 0.3, recommendation: 0.2, recall: 0.2, precision: 0.1, conduct: 0.1, early: 0.1 },
}

/**
 * env.py. Released: 5·LCS of the diagnosis + 5·LCS of the recommendation + 5·recall + 5·precision (which look answers up
 * among questions) + turns of +1 for a new recorded answer, 0 without one, -2 for a repeat, -3 for a bad format, -5 at
 * the limit; in [-5·loop, loop + 19]. Mended, in [0, 1]: right × (.3 + .2·recommendation + .2·recall + .1·precision +
 * .1·conduct + .1·turns left).
 * @throws RangeError for a `loop` of no whole turns
 */
export const doctoragentMatch = (options: DoctorAgentRlOptions = {}): Reward =>
  presetOf(
    {
      ...{ name: 'doctoragent-match', file: 'env.py', most: 20 },
      released: ([episode, truth], complete) => releasedMatch(episode, truth, complete),
      mended: async ([episode, truth]) =>
        earned(
          rightness(episode, truth, options.formulary ?? []),
          {
            recommendation: advice(episode, truth),
            recall: await elicited(episode, truth),
            precision: precision(episode, truth),
            conduct: conduct(episode, truth),
            early: earliness(episode),
          },
          matchWeights,
        ),
    },
    options,
  )

/**
 * env_patient_llm.py, the headline run. Released: 5·F1 of the diagnosis + 5·F1 of the recommendation, as bags of jieba
 * tokens, + turns of +1 for an answer, -1 for one with "Sorry" in it, -2 for a repeat, for not exactly one question
 * mark and for a bad format, -5 at the limit; in [-5·loop, loop + 9]. Mended, in [0, 1]: right × (.4 +
 * .2·recommendation + .2·history + .1·conduct + .1·turns left).
 * @throws RangeError for a `loop` of no whole turns
 */
export const doctoragentPatient = (options: DoctorAgentRlOptions = {}): Reward =>
  presetOf(
    {
      ...{ name: 'doctoragent-patient', file: 'env_patient_llm.py', most: 10 },
      released: ([episode, truth], complete) => releasedPatient(episode, truth, complete),
      mended: async (scored) => {
        const [episode, truth] = scored
        const right = rightness(episode, truth, options.formulary ?? [])
        return earned(right, await generativeParts(scored, advice(episode, truth)), generative)
      },
    },
    options,
  )

/**
 * env_patient_llm_rm.py. Released: turns as in {@link doctoragentPatient} (its limit is an end), + a judge's 0 to 5 for
 * the diagnosis and for the recommendation, the first digit that can be found; in [-5·loop, loop + 9]. Mended, in
 * [0, 1], the same sum as there: a judge's 3, 4 and 5 are a right diagnosis by thirds, and so is its recommendation.
 * Unavailable where the judge is, or (mended) says something else.
 * @throws RangeError for a `loop` of no whole turns
 */
export function doctoragentJudge(options: DoctorAgentRlJudgeOptions = {}): Reward {
  const { formulary = [], judge = ruleJudge({ formulary }) } = options
  return presetOf(
    {
      ...{ name: 'doctoragent-judge', file: 'env_patient_llm_rm.py', most: 10 },
      released: (scored, complete) => releasedJudge(scored, complete, judge),
      mended: async (scored) => {
        const right = await judgedRightness(scored, judge)
        const recommendation = await judgedAdvice(scored, judge)
        return earned(right, await generativeParts(scored, recommendation), generative)
      },
    },
    options,
  )
}
