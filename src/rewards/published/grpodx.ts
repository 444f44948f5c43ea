/** The rewards of GRPODx, parity and fixed: a judge's grade of the consultation, by the README's code and by HEAD's. */
import { type GraderView, primaryDiagnosis, textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import { ok, type Part, type Reward } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { defineReward, type RewardArguments, unitReward } from '../define.js'
import { askJudge } from '../judges/ask-judge.js'
import type { GradedAspect, Judge, JudgedLine } from '../judges/judge.js'
import { judgeDiagnosis } from '../judges/judge-diagnosis.js'
import { type RuleJudgeOptions, ruleJudge } from '../judges/rule-judge.js'
import {
  grpodxVersions,
  headNumberPattern,
  readConsultationParity,
  readFirstNumber,
  readHeadDiagnosis,
  scoreByHeadRule,
} from './grpodx-parity.js'

/** Options of {@link grpodxHead}. */
export interface GrpodxOptions extends RuleJudgeOptions {
  /** @default ruleJudge({ formulary, knowledge }) */
  readonly judge?: Judge
  /** Whether to use the released formula. @default false */
  readonly parity?: boolean
}

const diseaseName = ({ language }: Episode, { gold }: GraderView): string =>
  textInLanguage(primaryDiagnosis(gold).name, language)

function visibleDialogue({ intake, language, turns }: Episode): readonly JudgedLine[] {
  const dialogue: JudgedLine[] = [
    { role: 'patient', text: textInLanguage(intake.complaint, language) },
  ]
  for (const { action, outcome } of turns) {
    if (action.kind === 'ask')
      dialogue.push({ role: 'doctor', text: stripHiddenReasoning(action.text) })
    if (action.kind === 'order')
      dialogue.push({ role: 'doctor', text: `[orders] ${stripHiddenReasoning(action.exam)}` })
    if (outcome.kind === 'answered') dialogue.push({ role: 'patient', text: outcome.text })
    if (outcome.kind === 'examined') dialogue.push({ role: 'examiner', text: outcome.text })
  }
  return dialogue
}

interface GrpodxFormula {
  readonly name: string
  readonly grade: GradedAspect
  readonly part: string
  /** Share of the total for the diagnosis alone; the grade has the rest. */
  readonly base: number
}

/**
 * base·diagnosis + (1 − base)·diagnosis·grade. The judge is not asked to grade a consultation with a wrong diagnosis, so
 * that talking to the judge pays nothing, nor to grade questions where there were none.
 */
function makeFixed({ name, grade, part, base }: GrpodxFormula, options: GrpodxOptions): Reward {
  const { judge = ruleJudge(options), formulary = [] } = options
  const graded = async (
    diagnosis: string,
    [episode, truth, context]: RewardArguments,
  ): Promise<Part> => {
    const dialogue = visibleDialogue(episode)
    if (grade === 'questions' && !dialogue.some(({ role }) => role === 'doctor'))
      return ok(0, 'asked nothing')
    const disease = diseaseName(episode, truth)
    const value = await askJudge<'consultation'>(
      judge,
      { task: 'consultation', grade, disease, diagnosis, dialogue },
      context,
    )
    return ok(value, `${judge.judgeName}: ${value}`)
  }
  const reward = unitReward(name, 'GRPODx (Legionof7/GRPOdx), fixed', async (...given) => {
    const [episode, truth, context] = given
    const { diagnosis, right, evidence } = await judgeDiagnosis(episode, truth, judge, context, {
      formulary,
    })
    const worth =
      right && diagnosis !== undefined
        ? await graded(diagnosis, given)
        : ok(0, 'not graded: no right diagnosis')
    const value = worth.status === 'ok' ? worth.value : 0
    return {
      total: right ? base + (1 - base) * value : 0,
      parts: { diagnosis: ok(right ? 1 : 0, evidence), [part]: worth },
    }
  })
  const weights = { ...(base > 0 ? { diagnosis: base } : {}), [part]: 1 - base }
  return Object.assign(reward, { weights })
}

/** Options of {@link grpodxReadme}. */
export interface GrpodxReadmeOptions extends GrpodxOptions {
  /** Parity only: the README's code, or the sketch in the repository's technical specification. @default 'readme' */
  readonly reading?: 'readme' | 'techspec'
}

function makeReadmeParity(options: GrpodxReadmeOptions): Reward {
  const { judge = ruleJudge(options), reading = 'readme' } = options
  const { concludes, revealed, opening, number, unread } = grpodxVersions[reading]
  return defineReward(
    {
      name: 'grpodx-readme-parity',
      bounds: [0, 1],
      source: `GRPODx ${reading === 'readme' ? '`get_reward_score`' : '`score_conversation`'} (Legionof7/GRPOdx), as released`,
      parity: true,
    },
    async (episode, truth, context) => {
      const consultation = readConsultationParity(episode, concludes, opening)
      const { dialogue, conclusion } = consultation
      const diagnosis = conclusion === undefined ? undefined : readHeadDiagnosis(conclusion)
      const reply = await judge(
        {
          ...{ task: 'consultation', grade: 'all', dialogue },
          // Python prints a disease never revealed as `None`.
          disease: revealed(consultation) ? diseaseName(episode, truth) : 'None',
          ...(diagnosis === undefined ? {} : { diagnosis }),
        },
        context,
      )
      return ok(
        readFirstNumber(reply, number) ?? unread,
        `${judge.judgeName}: ${reply.slice(0, 80)}`,
      )
    },
  )
}

function makeHeadParity({ judge }: GrpodxOptions): Reward {
  return defineReward(
    {
      name: 'grpodx-head-parity',
      bounds: [0, 1],
      source: 'GRPODx `DoctorGame.compute_reward` (Legionof7/GRPOdx), as released',
      parity: true,
    },
    async (episode, truth, context) => {
      const concludes = (reply: string) => readHeadDiagnosis(reply) !== undefined
      const { dialogue, conclusion } = readConsultationParity(episode, concludes)
      const diagnosis = conclusion === undefined ? undefined : readHeadDiagnosis(conclusion)
      if (!diagnosis) return ok(0, 'no diagnosis')
      const disease = diseaseName(episode, truth)
      const rule = scoreByHeadRule(diagnosis, disease)
      if (!judge) return ok(rule, `no judge, the released rule: ${diagnosis.slice(0, 80)}`)
      const reply = await judge(
        { task: 'consultation', grade: 'diagnosis-and-questions', disease, diagnosis, dialogue },
        context,
      )
      const number = readFirstNumber(reply, headNumberPattern)
      return ok(number ?? rule, `${judge.judgeName}: ${reply.slice(0, 80)}`)
    },
  )
}

/**
 * The reward of GRPODx's README: the judge's grade of the whole consultation, within [0, 1], paid where the diagnosis is
 * right by alias table and judge; 0 for a wrong diagnosis, several or none. Parity: the first number of the judge's
 * reply, whatever it counts, .5 where there is none, on the doctor's raw text.
 */
export const grpodxReadme = (options: GrpodxReadmeOptions = {}): Reward =>
  options.parity
    ? makeReadmeParity(options)
    : makeFixed({ name: 'grpodx-readme', grade: 'all', part: 'consultation', base: 0 }, options)

/**
 * The reward of GRPODx's last commit: .7·diagnosis + .3·diagnosis·questions, within [0, 1], with the questions graded by
 * the judge where the diagnosis is right. Parity: the judge's one number for both; without a number or a judge, the
 * released rule: 1 for the name, .8 where one name contains the other, .2 for any other, 0 for none.
 */
export const grpodxHead = (options: GrpodxOptions = {}): Reward =>
  options.parity
    ? makeHeadParity(options)
    : makeFixed({ name: 'grpodx-head', grade: 'questions', part: 'questions', base: 0.7 }, options)
