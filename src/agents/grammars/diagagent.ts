/**
 * DiagAgent's grammar: the doctor orders one examination at a time, naming the diagnosis it thinks of, and concludes
 * with a fixed sentence. There is no patient to ask.
 *
 * What a reply is read by is as published (`DiagGym`, `vllm_rollout_spmd.py`). Read more strictly: a reply that orders
 * and concludes is refused. Read less strictly: the order may stand on another line than the second, and a dot stays
 * where it does not end the name.
 */
import type { Grammar } from '../../agent.js'
import { textInLanguage } from '../../case.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, Language, Turn } from '../../turn.js'
import { demographicsText } from '../intake.js'
import { formatAction } from './labelled.js'
import { parseErrors, prompts } from './labelled-words.js'
import {
  diagagentReport,
  diagagentWords,
  diagagentMarks as marks,
  publishedErrors,
} from './published-words.js'
import { maxFieldLength, oneLine, unreadable, writtenLanguage } from './written-actions.js'

const orderLine = /^(?!\W{0,8}current diagnosis).*?(?:needed|performed)[ \t]*[:：](.*)$/i
const diagnosisLine = /^[\s>#*_-]{0,12}diagnosis[*_]{0,3}[ \t]*[:：](.*)$/i
const reasonMark = /\breason[*_]{0,3}[ \t]*[:：]/i

const found = (lines: readonly string[], pattern: RegExp): readonly string[] =>
  lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])

/** A name without the marks and the full stop around it. */
const bareName = (text: string): string =>
  text.replace(/^[\s*_`]+|[\s*_`.。]+$/g, '').replace(/\s+/g, ' ')

function parse(reply: string): Action {
  const visible = stripHiddenReasoning(reply)
  const language = writtenLanguage(visible)
  const say = publishedErrors[language]
  // A reason may quote anything.
  const lines = (visible.split(reasonMark)[0] ?? '').split(/\r\n|[\n\r\u2028\u2029]/)
  const orders = found(lines, orderLine)
  const finish = lines.findIndex((line) => line.includes(marks.finish))
  if (finish < 0 && orders.length === 0) return unreadable(visible, say.noAction)
  const diagnoses = finish < 0 ? [] : found(lines.slice(finish), diagnosisLine)
  if (orders.length + (finish < 0 ? 0 : 1) > 1 || diagnoses.length > 1)
    return unreadable(visible, say.several)
  const name = bareName(orders[0] ?? diagnoses[0] ?? '')
  if (name === '') return unreadable(visible, finish < 0 ? say.noExam : say.noDiagnosis)
  if (name.length > maxFieldLength)
    return unreadable(visible, parseErrors[language].long(name.length, maxFieldLength))
  return finish < 0 ? { kind: 'order', exam: name } : { kind: 'diagnose', diagnosis: name }
}

function written(action: Action, language: Language): string {
  if (action.kind === 'order')
    return `${marks.current} ${diagagentWords[language].open}\n${marks.order} ${oneLine(action.exam)}`
  if (action.kind === 'diagnose')
    return `${marks.finish}\n\n${marks.diagnosis} ${oneLine(action.diagnosis)}`
  return formatAction(action, language)
}

/** The first message: what is known of the patient, as bullets. */
function summary({ intake, language }: Observation): string {
  const say = diagagentWords[language]
  const colon = language === 'zh' ? '：' : ': '
  const who = demographicsText(intake, language)
  const bullets = [
    ...(who === '' ? [] : [`${say.who}${colon}${who}`]),
    `${say.complaint}${colon}${textInLanguage(intake.complaint, language)}`,
  ]
  return bullets.map((line) => `- ${line}`).join('\n')
}

function turnMessages({ action, outcome }: Turn, language: Language): Message[] {
  const reply: Message = { role: 'assistant', content: written(action, language) }
  if (outcome.kind === 'closed') return [reply]
  const report = outcome.kind === 'examined'
  const before = report ? diagagentReport : prompts[language].heard[outcome.kind]
  return [reply, { role: 'user', content: `${before}${outcome.text}` }]
}

const render = (observation: Observation): Message[] => {
  const { turns, turnsLeft, language } = observation
  return [
    { role: 'system', content: diagagentWords[language].rules(turns.length + turnsLeft) },
    { role: 'user', content: summary(observation) },
    ...turns.flatMap((turn) => turnMessages(turn, language)),
  ]
}

/** Makes DiagAgent's grammar. The marks of a reply are English in both languages, as the released models write them. */
export const diagagentActions = (): Grammar => ({
  ...{ name: 'diagagent', render, parse },
  // With the diagnoses it thought of and its reasons, as in training.
  keepsReplies: true,
})
