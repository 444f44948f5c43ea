/**
 * The spoken grammar, for dialogues of doctors who were never told a format: what has a label is read as labelled, and
 * all other words are said to the patient.
 */
import type { Grammar } from '../../agent.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action } from '../../turn.js'
import { labelled } from './labelled.js'
import { parseErrors } from './labelled-words.js'

const unlabelled: ReadonlySet<string> = new Set([parseErrors.en.none, parseErrors.zh.none])

/** The last line that concludes in a sentence, as GRPODx's doctors do: "Final diagnosis: …". */
const conclusion =
  /^[\s>#*_-]{0,12}(?:(?:my|the|our)\s+)?(?:final diagnosis(?:\s+is)?|最终诊断|我的诊断)[*_]{0,3}\s*[:：是]\s*[*_]{0,3}(\S[^\n]*)$/im

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
    if (action.kind !== 'invalid' || !unlabelled.has(action.why) || visible === '') return action
    const diagnosis = conclusion.exec(visible)?.[1]?.trim()
    return diagnosis === undefined
      ? { kind: 'ask', text: visible }
      : { kind: 'diagnose', diagnosis }
  }
  return { name: 'spoken', render, parse: read }
}
