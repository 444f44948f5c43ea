/**
 * The rewards of GRPODx: a judge's one number for the consultation, of the README's code and of the last. `parity`
 * gives what was released, faults included; else they are mended.
 */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Part, Reward, RewardContext } from '../../reward.js'
import { ok } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import { defineReward } from '../define.js'
import { askJudge } from '../judges/ask-judge.js'
import type { Graded, Judge, JudgedLine } from '../judges/judge.js'
import { ruleJudge } from '../judges/rule.js'
import { judgeDiagnosis } from '../judges/same-diagnosis.js'
import type { Formulary } from '../outcome/formulary.js'
import {
  firstNumber,
  generations,
  headGuess,
  headNumber,
  headRule,
  readConsultation,
} from './grpodx-released.js'

export interface GrpodxOptions {
  /** @default ruleJudge({ formulary, knowledge }) */
  readonly judge?: Judge
  /** The diseases that the rule judge can tell from their names. @default none */
  readonly formulary?: Formulary
  /** The examinations that the rule judge can tell from their names. @default none */
  readonly knowledge?: Knowledge
  /** The released formula, faults included. @default false */
  readonly parity?: boolean
}

const diseaseOf = ({ language }: Episode, { gold }: GraderView): string =>
  inLanguage(primary(gold).name, language)

/** What a judge may see of a consultation: what was said aloud, and who said it. */
function dialogueOf({ intake, language, turns }: Episode): readonly JudgedLine[] {
  const dialogue: JudgedLine[] = [{ role: 'patient', text: inLanguage(intake.complaint, language) }]
  for (const { action, outcome } of turns) {
    if (action.kind === 'ask') dialogue.push({ role: 'doctor', text: visible(action.text) })
    if (action.kind === 'order')
      dialogue.push({ role: 'doctor', text: `[orders] ${visible(action.exam)}` })
    if (outcome.kind === 'answered') dialogue.push({ role: 'patient', text: outcome.text })
    if (outcome.kind === 'examined') dialogue.push({ role: 'examiner', text: outcome.text })
  }
  return dialogue
}

interface Formula {
  readonly name: string
  readonly grade: Graded
  readonly part: string
  /** Of the total, what the diagnosis alone is worth; the grade is worth the rest. */
  readonly base: number
}

/**
 * base·diagnosis + (1 − base)·diagnosis·grade. The judge of a wrong diagnosis is not asked for a grade, so that nothing
 * a doctor says to it is worth anything; nor is one asked to grade questions where there was none.
 */
function mended({ name, grade, part, base }: Formula, options: GrpodxOptions): Reward {
  const { judge = ruleJudge(options) } = options
  const graded = async (
    diagnosis: string,
    [episode, truth, context]: readonly [Episode, GraderView, RewardContext],
  ): Promise<Part> => {
    const dialogue = dialogueOf(episode)
    if (grade === 'questions' && !dialogue.some(({ role }) => role === 'doctor'))
      return ok(0, 'asked nothing')
    const disease = diseaseOf(episode, truth)
    const value = await askJudge<'consultation'>(
      judge,
      { task: 'consultation', grade, disease, diagnosis, dialogue },
      context,
    )
    return ok(value, `${judge.judgeName}: ${value}`)
  }
  const reward = defineReward(
    { name, bounds: [0, 1], source: 'GRPODx (Legionof7/GRPOdx), mended' },
    async (...given) => {
      const { diagnosis, right, evidence } = await judgeDiagnosis(
        given[0],
        given[1],
        judge,
        given[2],
      )
      const worth =
        right && diagnosis !== undefined
          ? await graded(diagnosis, given)
          : ok(0, 'not graded: no right diagnosis')
      const value = worth.status === 'ok' ? worth.value : 0
      return {
        total: right ? base + (1 - base) * value : 0,
        parts: { diagnosis: ok(right ? 1 : 0, evidence), [part]: worth },
      }
    },
  )
  const weights = { ...(base > 0 ? { diagnosis: base } : {}), [part]: 1 - base }
  return Object.assign(reward, { weights })
}

export interface GrpodxReadmeOptions extends GrpodxOptions {
  /** With `parity`: the README's code, or the sketch in the specification it was written to. @default 'readme' */
  readonly reading?: 'readme' | 'techspec'
}

function releasedScalar(options: GrpodxReadmeOptions): Reward {
  const { judge = ruleJudge(options), reading = 'readme' } = options
  const { concludes, revealed, opening, number, unread } = generations[reading]
  return defineReward(
    {
      name: 'grpodx-readme-parity',
      bounds: [0, 1],
      source: `GRPODx ${reading === 'readme' ? '`get_reward_score`' : '`score_conversation`'} (Legionof7/GRPOdx), as released`,
      parity: true,
    },
    async (episode, truth, context) => {
      const consultation = readConsultation(episode, concludes, opening)
      const { dialogue, conclusion } = consultation
      const diagnosis = conclusion === undefined ? undefined : headGuess(conclusion)
      const reply = await judge(
        {
          ...{ task: 'consultation', grade: 'all', dialogue },
          // Python prints what was never revealed as `None`.
          disease: revealed(consultation) ? diseaseOf(episode, truth) : 'None',
          ...(diagnosis === undefined ? {} : { diagnosis }),
        },
        context,
      )
      return ok(firstNumber(reply, number) ?? unread, `${judge.judgeName}: ${reply.slice(0, 80)}`)
    },
  )
}

function releasedHead({ judge }: GrpodxOptions): Reward {
  return defineReward(
    {
      name: 'grpodx-head-parity',
      bounds: [0, 1],
      source: 'GRPODx `DoctorGame.compute_reward` (Legionof7/GRPOdx), as released',
      parity: true,
    },
    async (episode, truth, context) => {
      const concludes = (reply: string) => headGuess(reply) !== undefined
      const { dialogue, conclusion } = readConsultation(episode, concludes)
      const diagnosis = conclusion === undefined ? undefined : headGuess(conclusion)
      if (!diagnosis) return ok(0, 'no diagnosis')
      const disease = diseaseOf(episode, truth)
      const rule = headRule(diagnosis, disease)
      if (!judge) return ok(rule, `no judge, the released rule: ${diagnosis.slice(0, 80)}`)
      const reply = await judge(
        { task: 'consultation', grade: 'diagnosis-and-questions', disease, diagnosis, dialogue },
        context,
      )
      const number = firstNumber(reply, headNumber)
      return ok(number ?? rule, `${judge.judgeName}: ${reply.slice(0, 80)}`)
    },
  )
}

/**
 * The judge's grade of a whole consultation, within [0, 1]: paid where the one diagnosis, by alias table and judge, is
 * right, and 0 where it is wrong, several or none. With `parity` the first number of the judge's reply, whatever it
 * counts, .5 where there is none, for the doctor's raw text.
 */
export const grpodxReadme = (options: GrpodxReadmeOptions = {}): Reward =>
  options.parity
    ? releasedScalar(options)
    : mended({ name: 'grpodx-readme', grade: 'all', part: 'consultation', base: 0 }, options)

/**
 * .7·diagnosis + .3·diagnosis·questions, within [0, 1]: the questions graded by the judge where the diagnosis is right.
 * With `parity` the judge's one number for both; where it says none, and without a judge, the released rule: 1 for the
 * name, .8 where one name holds the other, .2 for any other, 0 for none.
 */
export const grpodxHead = (options: GrpodxOptions = {}): Reward =>
  options.parity
    ? releasedHead(options)
    : mended({ name: 'grpodx-head', grade: 'questions', part: 'questions', base: 0.7 }, options)
