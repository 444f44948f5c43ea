/** `bedside patient understand`: how the rule patient takes what a doctor says. */
import type { Topic } from '../../envs/patients/nlu/focus.js'
import type { ParsedUtterance } from '../../envs/patients/nlu/understand.js'
import { understand } from '../../envs/patients/nlu/understand.js'
import { errorMessage, Fault } from '../../error.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { splitLines } from '../../storage/compressed-lines.js'
import type { Understanding } from '../../turn.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { output, table, write } from '../print/output.js'

export interface UnderstandFlags extends PrintFlags {
  readonly knowledge?: string
}

type UtteranceAct =
  | 'ask-finding'
  | 'ask-attribute'
  | 'open-question'
  | 'request-exam'
  | 'advice'
  | 'courtesy'
  | 'diagnosis-request'
  | 'injection'
  | 'other'

/** What an utterance is taken for, and the answer it would get from a patient who knows what they can know. */
const kinds: {
  readonly [kind in Exclude<ParsedUtterance['kind'], 'finding'>]: readonly [
    UtteranceAct,
    Understanding,
  ]
} = {
  attribute: ['ask-attribute', 'answered'],
  open: ['open-question', 'open'],
  'exam-request': ['request-exam', 'exam-only'],
  advice: ['advice', 'courtesy'],
  courtesy: ['courtesy', 'courtesy'],
  'diagnosis-request': ['diagnosis-request', 'refused'],
  injection: ['injection', 'refused'],
  ambiguous: ['other', 'ambiguous'],
  unclear: ['other', 'unclear'],
}

/** One line of the answer. */
interface Reading {
  readonly text: string
  readonly act: UtteranceAct
  /** What is asked for, in the order of the utterance. */
  readonly findings: readonly string[]
  /** What is asked of a complaint; `finding` is null where it names none and so means the one spoken of. */
  readonly attributes: readonly { readonly finding: string | null; readonly attribute: string }[]
  readonly state: Understanding
}

const attributeOf = ({ finding, of, attribute }: Topic) =>
  attribute === undefined ? [] : [{ finding: of ?? finding, attribute }]

function readingOf(knowledge: Knowledge, text: string): Reading {
  const { kind, topics, loose } = understand(knowledge, text)
  const findings = topics.map(({ finding }) => finding)
  const attributes = [
    ...topics.flatMap(attributeOf),
    ...loose.map((attribute) => ({ finding: null, attribute })),
  ]
  if (kind !== 'finding') {
    const [act, state] = kinds[kind]
    return { text, act, findings, attributes, state }
  }
  const toExamine = findings.every((id) => knowledge.finding.get(id)?.knownBy === 'exam')
  return {
    text,
    act: topics.every(({ attribute }) => attribute !== undefined) ? 'ask-attribute' : 'ask-finding',
    findings,
    attributes,
    state: toExamine ? 'exam-only' : 'answered',
  }
}

/** The utterances on stdin, one `{"text": …}` a line. */
async function* utterances({ stdin }: Terminal): AsyncGenerator<string> {
  let number = 0
  for await (const line of splitLines(stdin, 'stdin')) {
    number++
    if (line.trim() === '') continue
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch (error) {
      throw new Fault('bad-input', `stdin:${number}: ${errorMessage(error)}`)
    }
    const text = typeof json === 'object' && json !== null && 'text' in json ? json.text : undefined
    if (typeof text !== 'string')
      throw new Fault(
        'bad-input',
        `stdin:${number}: expected an object like {"text":"Any fever?"}, got \`${line.slice(0, 80)}\``,
      )
    yield text
  }
}

/** Says of each utterance how it was taken: for people when it is on the command line, else as JSONL. */
export async function understandAll(
  texts: readonly string[],
  flags: UnderstandFlags,
  terminal: Terminal,
): Promise<number> {
  const knowledge = loadKnowledge(flags.knowledge)
  if (texts.length > 0 && !flags.json) {
    const rows = texts.map((text) => {
      const { act, findings, attributes, state } = readingOf(knowledge, text)
      const details = attributes.map(
        ({ finding, attribute }) => `${attribute} of ${finding ?? 'what is spoken of'}`,
      )
      return [text, act, findings.join(', '), details.join(', '), state]
    })
    await output(terminal, flags).say(
      table([['said', 'act', 'findings', 'attributes', 'state'], ...rows], { words: 5 }),
    )
    return 0
  }
  if (texts.length === 0 && terminal.stdin.isTTY)
    await output(terminal, flags).note('Reading {"text": …} lines from the terminal; Ctrl-D ends.')
  for await (const text of texts.length > 0 ? texts : utterances(terminal)) {
    terminal.signal.throwIfAborted()
    await write(terminal.stdout, `${JSON.stringify(readingOf(knowledge, text))}\n`)
  }
  return 0
}
