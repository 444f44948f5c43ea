/** What the grammars share: how long a field may be, what becomes of a reply that cannot be read, and what is heard. */
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, Language, Outcome } from '../../turn.js'
import { prompts } from './labelled-words.js'

/** Most UTF-16 units in one field of an action, and of an unreadable reply that is kept. */
export const maxFieldLength = 2000

/** The language to explain a reply's faults in. */
export const writtenLanguage = (text: string): Language =>
  /\p{Script=Han}/u.test(text) ? 'zh' : 'en'

/** The action of a reply that cannot be read, without its hidden reasoning. */
export const unreadable = (visible: string, why: string): Action => ({
  kind: 'invalid',
  text: visible.slice(0, maxFieldLength),
  why,
})

/** One line, without hidden reasoning. */
export const oneLine = (text: string): string =>
  stripHiddenReasoning(text).replace(/\s+/g, ' ').trim()

/** What the doctor is told after a turn: the outcome and the turns left; undefined once the consultation is over. */
export function heardText(outcome: Outcome, left: number, language: Language): string | undefined {
  if (outcome.kind === 'closed') return undefined
  const say = prompts[language]
  return `${say.heard[outcome.kind]}${outcome.text}\n${say.left(left)}`
}
