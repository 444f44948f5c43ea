/**
 * DoctorAgent-RL's grammar: reasoning in `<think>`, and in one `<answer>` a question, or a diagnosis with a
 * recommendation. All instructions stand in the first message of the user.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, Language } from '../../turn.js'
import { intakeText } from '../intake.js'
import { formatAction } from './labelled.js'
import { answerWords, publishedErrors } from './published-words.js'
import { spoken } from './spoken.js'
import { unreadable, writtenLanguage } from './written-actions.js'

const answer = /^[\s\S]*?<answer>([\s\S]*)<\/answer>\s*$/i
const answerTag = /<\/?answer>/gi

const { parse: parseSpoken } = spoken()

function parse(reply: string): Action {
  const visible = stripHiddenReasoning(reply)
  const say = publishedErrors[writtenLanguage(visible)]
  const inside = visible.match(answerTag)?.length === 2 ? answer.exec(visible)?.[1] : undefined
  if (inside === undefined) return unreadable(visible, say.noAnswer)
  return inside.trim() === '' ? unreadable(visible, say.empty) : parseSpoken(inside)
}

function written(action: Action, language: Language): string {
  const text = formatAction(action, language)
  return action.kind === 'invalid' || action.kind === 'give-up'
    ? text
    : `<answer>${text.replace(answerTag, '')}</answer>`
}

function task({ intake, language }: Observation): string {
  const say = answerWords[language]
  return [
    say.task,
    ...say.rules.map((rule) => `- ${rule}`),
    ...[say.response, say.forms, ''],
    ...[say.description, intakeText(intake, language), '', ''],
    ...[say.decide, say.always],
  ].join('\n')
}

const render = (observation: Observation): Message[] => {
  const { turns, turnsLeft, language } = observation
  const { turn: count } = answerWords[language]
  const messages: Message[] = [{ role: 'user', content: task(observation) }]
  turns.forEach(({ action, outcome }, t) => {
    messages.push({ role: 'assistant', content: written(action, language) })
    if (outcome.kind === 'closed') return
    const content = `${outcome.text}\n\n${count(t + 1, turns.length + turnsLeft)}`
    messages.push({ role: 'user', content })
  })
  return messages
}

/**
 * Makes DoctorAgent-RL's grammar. An answer without a label is a question, as in the published system; an `Order:` is
 * read too, of which the prompt says nothing.
 */
export const thinkAnswer = (): Grammar => ({ name: 'think-answer', render, parse })
