/**
 * The rewards of DoctorAgent-RL's three training environments (arXiv 2505.19630), parity and fixed. The fixed forms are
 * bounded, read the facts of the turns, and pay nothing for a wrong diagnosis.
 *
 * The turn budget is the episode's own `maxTurns`. `doctoragent-rl-texts.ts` defines how an episode is read.
 */
import type { Part, Reward, Score } from '../../reward.js'
import { defineReward, type RewardArguments } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { ruleJudge } from '../judges/rule-judge.js'
import type { Formulary } from '../outcome/formulary.js'
import {
  combineParts,
  conductPart,
  diagnosisPart,
  earlinessPart,
  historyPart,
  judgedDiagnosisPart,
  judgedRecommendationPart,
  precisionPart,
  recommendationPart,
  requireTurns,
} from './doctoragent-rl-fixed.js'
import type { DoctorAgentRlParityOptions, ParityOptions } from './doctoragent-rl-parity.js'
import {
  completeParityOptions,
  scoreJudgeParity,
  scoreMatchParity,
  scorePatientParity,
} from './doctoragent-rl-parity.js'

/** Options of {@link doctoragentMatch} and {@link doctoragentPatient}. */
export interface DoctorAgentRlOptions extends DoctorAgentRlParityOptions {
  /** Whether to use the released formula; the fixed form ignores its options. @default false */
  readonly parity?: boolean
  /** The diseases recognised by name; fixed form only. @default none */
  readonly formulary?: Formulary
}

/** Options of {@link doctoragentJudge}. */
export interface DoctorAgentRlJudgeOptions extends DoctorAgentRlOptions {
  /** Grades the similarity of diagnoses and recommendations. @default ruleJudge({ formulary }) */
  readonly judge?: Judge
}

interface DoctorAgentRlFormula {
  readonly name: string
  /** The environment's file. */
  readonly file: string
  /** Maximum of the released formula for a diagnosis with its recommendation. */
  readonly most: number
  readonly parity: (scored: RewardArguments, options: ParityOptions) => Promise<Score>
  readonly fixed: (scored: RewardArguments) => Promise<Score>
}

function makeReward(
  { name, file, most, parity, fixed }: DoctorAgentRlFormula,
  given: DoctorAgentRlOptions,
): Reward {
  const options = completeParityOptions(given)
  if (!given.parity)
    return defineReward(
      { name, bounds: [0, 1], source: `DoctorAgent-RL ${file} (arXiv 2505.19630), fixed` },
      async (...scored) => {
        requireTurns(scored[0])
        return fixed(scored)
      },
    )
  // The worst is -5 in every turn; the best is 1 for each question in all turns but the last, and `most` at the end.
  const bounds = [-5 * options.loop, options.loop - 1 + most] as const
  const source = `DoctorAgent-RL ${file} (arXiv 2505.19630), as released`
  return defineReward({ name: `${name}-parity`, bounds, source, parity: true }, (...scored) =>
    parity(scored, options),
  )
}

/** Weights of the parts; published: 5 for the diagnosis, 5 for the recommendation, 1 for each question. */
const generative = { diagnosis: 0.4, recommendation: 0.2, history: 0.2, conduct: 0.1, early: 0.1 }

const generativeParts = async (
  [episode, truth]: RewardArguments,
  recommendation: Part,
): Promise<Readonly<Record<string, Part>>> => ({
  recommendation,
  history: await historyPart(episode, truth),
  conduct: conductPart(episode, truth),
  early: earlinessPart(episode),
})

const matchWeights = {
  ...{ diagnosis: 0.3, recommendation: 0.2, recall: 0.2, precision: 0.1, conduct: 0.1, early: 0.1 },
}

/**
 * Reward of env.py. Parity: 5·LCS of the diagnosis + 5·LCS of the recommendation + 5·recall + 5·precision (which look
 * answers up among questions) + turns of +1 for a new recorded answer, 0 without one, -2 for a repeat, -3 for a bad
 * format, -5 at the limit; in [-5·loop, loop + 19]. Fixed, in [0, 1]: right × (.3 + .2·recommendation + .2·recall +
 * .1·precision + .1·conduct + .1·turns left).
 * @throws RangeError for a `loop` that is not a positive integer
 */
export const doctoragentMatch = (options: DoctorAgentRlOptions = {}): Reward =>
  makeReward(
    {
      ...{ name: 'doctoragent-match', file: 'env.py', most: 20 },
      parity: ([episode, truth], complete) => scoreMatchParity(episode, truth, complete),
      fixed: async ([episode, truth]) =>
        combineParts(
          diagnosisPart(episode, truth, options.formulary ?? []),
          {
            recommendation: recommendationPart(episode, truth),
            recall: await historyPart(episode, truth),
            precision: precisionPart(episode, truth),
            conduct: conductPart(episode, truth),
            early: earlinessPart(episode),
          },
          matchWeights,
        ),
    },
    options,
  )

/**
 * Reward of env_patient_llm.py, the headline run. Parity: 5·F1 of the diagnosis + 5·F1 of the recommendation, as bags of
 * jieba tokens, + turns of +1 for an answer, -1 for one with "Sorry" in it, -2 for a repeat, for not exactly one
 * question mark and for a bad format, -5 at the limit; in [-5·loop, loop + 9]. Fixed, in [0, 1]: right × (.4 +
 * .2·recommendation + .2·history + .1·conduct + .1·turns left).
 * @throws RangeError for a `loop` that is not a positive integer
 */
export const doctoragentPatient = (options: DoctorAgentRlOptions = {}): Reward =>
  makeReward(
    {
      ...{ name: 'doctoragent-patient', file: 'env_patient_llm.py', most: 10 },
      parity: ([episode, truth], complete) => scorePatientParity(episode, truth, complete),
      fixed: async (scored) => {
        const [episode, truth] = scored
        const right = diagnosisPart(episode, truth, options.formulary ?? [])
        return combineParts(
          right,
          await generativeParts(scored, recommendationPart(episode, truth)),
          generative,
        )
      },
    },
    options,
  )

/**
 * Reward of env_patient_llm_rm.py. Parity: turns as in {@link doctoragentPatient} (but the limit is absorbing), + a
 * judge's 0 to 5 for the diagnosis and for the recommendation, the first such digit of its reply; in [-5·loop, loop +
 * 9]. Fixed, in [0, 1]: the same sum as there, with a judge's 3, 4 and 5 as credit by thirds for the diagnosis and the
 * recommendation. Unavailable where the judge is, or (fixed) its reply is unreadable.
 * @throws RangeError for a `loop` that is not a positive integer
 */
export function doctoragentJudge(options: DoctorAgentRlJudgeOptions = {}): Reward {
  const { formulary = [], judge = ruleJudge({ formulary }) } = options
  return makeReward(
    {
      ...{ name: 'doctoragent-judge', file: 'env_patient_llm_rm.py', most: 10 },
      parity: (scored, complete) => scoreJudgeParity(scored, complete, judge),
      fixed: async (scored) => {
        const right = await judgedDiagnosisPart(scored, judge)
        const recommendation = await judgedRecommendationPart(scored, judge)
        return combineParts(right, await generativeParts(scored, recommendation), generative)
      },
    },
    options,
  )
}
