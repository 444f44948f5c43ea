/**
 * A reply in HuatuoGPT-o1's form: `## Thinking`, the reasoning, `## Final Response`, the answer.
 *
 * Read by a state machine over whole lines, so that a heading that is quoted, repeated or out of order is not
 * taken for the answer's own.
 */
import { visible } from './hidden-reasoning.js'

/** What a reply is made of, as far as it can be read. */
export type ReasonedReply =
  /** `whole`: reasoning, then an answer. `loose`: an answer without reasoning, or with words before the headings. */
  | { readonly form: 'whole' | 'loose'; readonly answer: string }
  /** There is no answer, or none that is surely meant to be heard. */
  | { readonly form: 'no-answer' | 'empty' | 'repeated' | 'disordered' }

const headings: ReadonlyMap<string, 'thinking' | 'answer'> = new Map([
  ['## Thinking', 'thinking'],
  ['## Final Response', 'answer'],
])

/** Reads a reply; the answer is trimmed and holds no hidden reasoning of its own. */
export function readReasoned(reply: string): ReasonedReply {
  const text = reply.replaceAll('\r\n', '\n')
  const lines = { before: '', thinking: '', answer: '' }
  let at: keyof typeof lines = 'before'
  for (const line of text.split('\n')) {
    const heading = headings.get(line.trimEnd())
    if (heading === undefined) lines[at] += `${line}\n`
    else if (heading === at) return { form: 'repeated' }
    else if (at === 'answer') return { form: 'disordered' }
    else at = heading
  }
  if (at !== 'answer') return { form: 'no-answer' }
  const answer = lines.answer.trim()
  if (answer === '') return { form: 'empty' }
  // A tag that opens before the answer, or inside it, leaves in doubt what was meant to be heard.
  if (!visible(text).endsWith(answer)) return { form: 'disordered' }
  const whole = visible(lines.before) === '' && lines.thinking.trim() !== ''
  return { form: whole ? 'whole' : 'loose', answer }
}

/** A reply in the published form. */
export const writeReasoned = (thinking: string, answer: string): string =>
  `## Thinking\n\n${thinking}\n\n## Final Response\n\n${answer}`
