/**
 * The spoken grammar, for dialogues of doctors who were never told a format: what has a label is read as labelled, and
 * all other words are said to the patient.
 */
import type { Grammar } from '../../agent.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action } from '../../turn.js'
import { labelled } from './labelled.js'
import { parseErrors } from './labelled-words.js'
import { maxFieldLength, unreadable, writtenLanguage } from './written-actions.js'

const unlabelled: ReadonlySet<string> = new Set([parseErrors.en.none, parseErrors.zh.none])

/** The line that concludes in a sentence, as GRPODx's doctors do: "Final diagnosis: …". */
const conclusion =
  /^[\s>#*_-]{0,12}(?:(?:my|the|our)\s+)?(?:final diagnosis(?:\s+is)?|最终诊断|我的诊断)[*_]{0,3}\s*[:：是]\s*[*_]{0,3}([^\n]*)$/gim

/**
 * Makes the grammar of unlabelled speech. Published answer tags are taken off; the prompt is that of the labelled
 * grammar.
 */
export function spoken(): Grammar {
  const { render, parse } = labelled()
  const read = (text: string): Action => {
    const visible = stripHiddenReasoning(text)
      .replace(/<\/?answer>/gi, '')
      .trim()
    const action = parse(visible)
    const [concluded, second] = visible.matchAll(conclusion)
    const say = parseErrors[writtenLanguage(visible)]
    if (second || (concluded && action.kind === 'order')) return unreadable(visible, say.several)
    if (action.kind !== 'invalid' || !unlabelled.has(action.why) || visible === '') return action
    const diagnosis = concluded?.[1]?.trim()
    if (diagnosis === '') return unreadable(visible, say.empty)
    const { length } = diagnosis ?? visible
    if (length > maxFieldLength) return unreadable(visible, say.long(length, maxFieldLength))
    return diagnosis === undefined
      ? { kind: 'ask', text: visible }
      : { kind: 'diagnose', diagnosis }
  }
  return { name: 'spoken', render, parse: read }
}
