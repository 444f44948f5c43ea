/**
 * The grammar of HuatuoGPT-o1 and Doctor-Agent, for questions: the bare question as the one user message, without
 * a system prompt; the answer is what stands behind `## Final Response`.
 */
import type { Grammar } from '../../agent.js'
import { inLanguage } from '../../case.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { visible } from '../../text/hidden-reasoning.js'
import { readReasoned } from '../../text/huatuo-reply.js'
import type { Action, Turn } from '../../turn.js'

/** The longest text of an unreadable reply that is kept, in UTF-16 units. */
const longest = 2000

const whys = {
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
  const reply = readReasoned(text)
  if ('answer' in reply) return { kind: 'diagnose', diagnosis: reply.answer }
  const why = whys[/\p{Script=Han}/u.test(text) ? 'zh' : 'en'][reply.form]
  return { kind: 'invalid', text: visible(text).slice(0, longest), why }
}

/** A turn that is over, as its doctor may have written it: the reasoning is gone. */
function replayed({ action, outcome }: Turn): Message[] {
  const content =
    action.kind === 'diagnose'
      ? `## Final Response\n\n${action.diagnosis}`
      : 'text' in action
        ? visible(action.text)
        : ''
  const reply: Message = { role: 'assistant', content }
  return outcome.kind === 'closed' ? [reply] : [reply, { role: 'user', content: outcome.text }]
}

const render = ({ intake, turns, language }: Observation): Message[] => [
  { role: 'user', content: inLanguage(intake.complaint, language) },
  ...turns.flatMap(replayed),
]

/** The published form of a reasoned answer; reasoning is asked for by training alone, never by the prompt. */
export const huatuo = (): Grammar => ({ name: 'huatuo', render, parse })
