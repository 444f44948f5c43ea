/**
 * MrlX-TakesTwo's grammar: the task in one message of the user, as in DoctorAgent-RL but without answer tags, and then
 * nothing but what doctor and patient say. Models think by themselves. It is read as the spoken grammar reads, so that
 * whatever has no label is said to the patient.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { intakeText } from '../intake.js'
import { formatAction } from './labelled.js'
import { answerWords } from './published-words.js'
import { spoken } from './spoken.js'

function render({ intake, turns, language }: Observation): Message[] {
  const say = answerWords[language]
  const task = [
    say.task,
    ...say.rules.map((rule) => `- ${rule}`),
    ...[say.response, say.forms, ''],
    ...[say.description, intakeText(intake, language), '', ''],
    say.decide,
  ].join('\n')
  return [
    { role: 'user', content: task },
    ...turns.flatMap(({ action, outcome }): Message[] => [
      { role: 'assistant', content: formatAction(action, language) },
      ...('text' in outcome ? [{ role: 'user' as const, content: outcome.text }] : []),
    ]),
  ]
}

/** Makes TakesTwo's grammar. An `Order:` is read too, of which the prompt says nothing. */
export const takesTwo = (): Grammar => ({ name: 'takes-two', render, parse: spoken().parse })
