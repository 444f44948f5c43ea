/** The answer to a recap: a yes, or what was wrong in it. */
import type { PatientContext } from '../../../patient.js'
import type { FindingState } from '../../../turn.js'
import type { Recap } from '../nlu/closings/recap.js'
import { type Answer, answerInTurn, precedence } from './answer.js'
import type { AnswerDraft, AnswerInput } from './answer-input.js'
import { pickFresh } from './fresh.js'
import { recapSentences } from './speech-sentences.js'
import { joinSentences } from './stock-sentences.js'

/** What the patient has told of a finding; undefined where it was not told. */
const toldBefore = ({ dialogue }: PatientContext, finding: string): FindingState | undefined =>
  dialogue
    .flatMap(({ reply }) => reply.told)
    .findLast((told) => told.finding === finding && told.state !== 'unknown')?.state

/** The whole illness lasts so long. */
const illnessDuration = 'illness-duration'
/** How long something has lasted, by unit. */
const units = {
  hours: /\bhours?\b|小时|钟头/i,
  days: /\b(?<!most |all |some )days?(?! of the)\b|(?<![这那前近])几天|[一二两三四五六七八九十\d]+[来多]?天/i,
  weeks: /\bweeks?\b|礼拜|星期|[两三四几\d]周/i,
  months: /\bmonths?\b|个月/i,
} as const

/** What was told of the duration, where a recap has another one and names no other. */
function wrongDuration({ knowledge, utterance, context }: AnswerInput): string | undefined {
  const state = toldBefore(context, illnessDuration)
  const named = Object.entries(units).flatMap(([unit, pattern]) =>
    pattern.test(utterance) ? [unit] : [],
  )
  const finding = knowledge.finding.get(illnessDuration)
  const [unit] = named
  if (!finding?.states.includes(unit ?? '') || named.length > 1) return undefined
  return state === undefined || state === unit ? undefined : illnessDuration
}

/**
 * Answers a recap: what was told before is confirmed however much of it there is, of what was never asked only as much as
 * a question would get.
 * @param findings what the recap names
 * @param most findings answered at once
 */
export function answerRecap(
  findings: readonly string[],
  { denied }: Recap,
  most: number,
  input: AnswerInput,
): AnswerDraft {
  const { context } = input
  const told = findings.filter((id) => toldBefore(context, id) !== undefined)
  const others = findings.filter((id) => !told.includes(id)).slice(0, most)
  const checked = findings.filter((id) => told.includes(id) || others.includes(id))
  const duration = wrongDuration(input)
  const isWrong = ({ told: one }: Answer): boolean =>
    one !== undefined &&
    (one.finding === duration ||
      (one.state === 'present' && denied.has(one.finding)) ||
      (one.state === 'absent' && !denied.has(one.finding)))
  const asked = [...new Set([...checked, ...(duration === undefined ? [] : [duration])])]
  const answers = answerInTurn(
    asked.map((finding) => ({ finding })),
    input,
  )
  const wrong = answers.filter(isWrong).slice(0, most)
  const bank = recapSentences[wrong.length > 0 ? 'wrong' : 'right'][context.language]
  const opening = pickFresh(bank, context, ['recap', input.utterance.length])
  return {
    text: joinSentences([opening, ...wrong.map(({ sentence }) => sentence)], context.language),
    understood: precedence.find((rank) => answers.some(({ how }) => how === rank)) ?? 'courtesy',
    told: answers.flatMap((one) => one.told ?? []),
  }
}
