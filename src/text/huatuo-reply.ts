/**
 * HuatuoGPT-o1's reply format: `## Thinking`, the reasoning, `## Final Response`, the answer.
 *
 * The parser is a state machine over whole lines, so a quoted, repeated or misplaced heading does not count.
 */
import { stripHiddenReasoning } from './hidden-reasoning.js'

/** A parsed reply. */
export type HuatuoReply =
  /** `whole`: reasoning, then an answer. `loose`: an answer without reasoning, or with text before the headings. */
  | { readonly form: 'whole' | 'loose'; readonly answer: string }
  /** There is no answer, or none that is certainly visible. */
  | { readonly form: 'no-answer' | 'empty' | 'repeated' | 'disordered' }

const headings: ReadonlyMap<string, 'thinking' | 'answer'> = new Map([
  ['## Thinking', 'thinking'],
  ['## Final Response', 'answer'],
])

/** Parses a reply. The answer is trimmed and holds no hidden reasoning. */
export function parseHuatuoReply(reply: string): HuatuoReply {
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
  // A tag that opens before or inside the answer leaves its visible part in doubt.
  if (!stripHiddenReasoning(text).endsWith(answer)) return { form: 'disordered' }
  const whole = stripHiddenReasoning(lines.before) === '' && lines.thinking.trim() !== ''
  return { form: whole ? 'whole' : 'loose', answer }
}

/** Formats a reply in the published format. */
export const formatHuatuoReply = (thinking: string, answer: string): string =>
  `## Thinking\n\n${thinking}\n\n## Final Response\n\n${answer}`
