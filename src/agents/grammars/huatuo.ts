/**
 * The grammar of HuatuoGPT-o1 and Doctor-Agent, for single questions: the prompt is the bare question without a
 * system message, and the answer is the text under `## Final Response`.
 */
import type { Grammar } from '../../agent.js'
import { textInLanguage } from '../../case.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { parseHuatuoReply } from '../../text/huatuo-reply.js'
import type { Action, Turn } from '../../turn.js'
import { unreadable, writtenLanguage } from './written-actions.js'

/** Why a reply could not be read, by language and form; shown to the model. */
const parseErrors = {
  en: {
    'no-answer': 'No answer was found. Write it under the heading `## Final Response`.',
    empty: 'Nothing stands under `## Final Response`. Write the answer there.',
    repeated: 'A heading stands twice. Write `## Thinking` and `## Final Response` once each.',
    disordered: 'Something is out of order. Write `## Thinking` first, then `## Final Response`.',
  },
  zh: {
    'no-answer': '没有找到答案。请把答案写在标题“## Final Response”之下。',
    empty: '“## Final Response”之下没有内容。请把答案写在那里。',
    repeated: '标题重复了。“## Thinking”和“## Final Response”只能各写一次。',
    disordered: '顺序不对。请先写“## Thinking”，再写“## Final Response”。',
  },
} as const

function parse(text: string): Action {
  const reply = parseHuatuoReply(text)
  if ('answer' in reply) return { kind: 'diagnose', diagnosis: reply.answer }
  return unreadable(stripHiddenReasoning(text), parseErrors[writtenLanguage(text)][reply.form])
}

/** Messages of a past turn: the doctor's reply, without its reasoning, and the outcome. */
function turnMessages({ action, outcome }: Turn): Message[] {
  const content =
    action.kind === 'diagnose'
      ? `## Final Response\n\n${action.diagnosis}`
      : 'text' in action
        ? stripHiddenReasoning(action.text)
        : ''
  const reply: Message = { role: 'assistant', content }
  return outcome.kind === 'closed' ? [reply] : [reply, { role: 'user', content: outcome.text }]
}

const render = ({ intake, turns, language }: Observation): Message[] => [
  { role: 'user', content: textInLanguage(intake.complaint, language) },
  ...turns.flatMap(turnMessages),
]

/** Makes the grammar of HuatuoGPT-o1's answers. Only training asks for the reasoning; the prompt never does. */
export const huatuo = (): Grammar => ({ name: 'huatuo', render, parse })
