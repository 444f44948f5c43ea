/**
 * GRPODx's grammar: reasoning in `<reason>`, then plain words to the patient; the last reply ends with
 * `Final diagnosis: …`. It is read as the spoken grammar reads.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import type { Action, Language } from '../../turn.js'
import { intakeText } from '../intake.js'
import { formatAction } from './labelled.js'
import { prompts } from './labelled-words.js'
import { grpodxWords } from './published-words.js'
import { spoken } from './spoken.js'
import { oneLine } from './written-actions.js'

function grpodxRules(questions: number, reason: boolean, language: Language): string {
  const { task, think, last } = grpodxWords[language]
  return [task(questions), ...(reason ? [think] : []), last].join('\n')
}

function written(action: Action, language: Language): string {
  if (action.kind === 'ask') return oneLine(action.text)
  if (action.kind === 'diagnose')
    return `${grpodxWords[language].final}${oneLine(action.diagnosis)}`
  return formatAction(action, language)
}

function render({ intake, turns, turnsLeft, language }: Observation, reason: boolean): Message[] {
  const total = turns.length + turnsLeft
  const messages: Message[] = [
    { role: 'system', content: grpodxRules(Math.max(0, total - 1), reason, language) },
    { role: 'user', content: intakeText(intake, language) },
  ]
  turns.forEach(({ action, outcome }, t) => {
    messages.push({ role: 'assistant', content: written(action, language) })
    if (outcome.kind === 'closed') return
    const last = total - t - 1 === 1 ? `\n${prompts[language].left(1)}` : ''
    messages.push({ role: 'user', content: `${outcome.text}${last}` })
  })
  return messages
}

/**
 * Makes GRPODx's grammar. An `Order:` is read too, of which the prompt says nothing.
 * @param reason whether the prompt asks for reasoning in `<reason>`, as the README's code does and the last code does not
 */
export const grpodx = ({ reason = true }: { readonly reason?: boolean } = {}): Grammar => ({
  name: reason ? 'grpodx' : 'grpodx-head',
  render: (observation) => render(observation, reason),
  parse: spoken().parse,
})
