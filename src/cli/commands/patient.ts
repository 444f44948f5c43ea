/** `bedside patient understand`: shows how the rule patient understands what a doctor says. */
import type { Topic } from '../../envs/patients/nlu/focus.js'
import type { ParsedUtterance } from '../../envs/patients/nlu/parsed-utterance.js'
import { understand } from '../../envs/patients/nlu/understand.js'
import { Fault } from '../../error.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { parseJson, splitLines } from '../../storage/compressed-lines.js'
import type { Understanding } from '../../turn.js'
import { output, type PrintFlags, type Terminal, table, write } from '../print/output.js'

interface UnderstandFlags extends PrintFlags {
  readonly knowledge?: string
}

type UtteranceAct =
  | 'ask-finding'
  | 'ask-attribute'
  | 'open-question'
  | 'request-exam'
  | 'advice'
  | 'aside'
  | 'courtesy'
  | 'diagnosis-request'
  | 'injection'
  | 'other'

/** Act of each kind of utterance, and the kind of answer of a patient who knows every finding a patient can. */
const kinds: {
  readonly [kind in Exclude<ParsedUtterance['kind'], 'finding'>]: readonly [
    UtteranceAct,
    Understanding,
  ]
} = {
  attribute: ['ask-attribute', 'answered'],
  aside: ['aside', 'answered'],
  unmodelled: ['other', 'unknown'],
  open: ['open-question', 'open'],
  'exam-request': ['request-exam', 'exam-only'],
  advice: ['advice', 'courtesy'],
  courtesy: ['courtesy', 'courtesy'],
  'diagnosis-request': ['diagnosis-request', 'refused'],
  injection: ['injection', 'refused'],
  ambiguous: ['other', 'ambiguous'],
  unclear: ['other', 'unclear'],
}

/** How one utterance was understood: one line of the output. */
interface UnderstoodUtterance {
  readonly text: string
  readonly act: UtteranceAct
  /** Ids of the findings asked for, in the order of the utterance. */
  readonly findings: readonly string[]
  /** Attributes asked about; `finding` is null when none is named, which means the current topic. */
  readonly attributes: readonly { readonly finding: string | null; readonly attribute: string }[]
  readonly state: Understanding
}

const namedAttributes = ({ finding, of, attribute }: Topic) =>
  attribute === undefined ? [] : [{ finding: of ?? finding, attribute }]

function describeUtterance(knowledge: Knowledge, text: string): UnderstoodUtterance {
  const { kind, topics, loose } = understand(knowledge, text)
  const findings = topics.map(({ finding }) => finding)
  const attributes = [
    ...topics.flatMap(namedAttributes),
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

/** Reads the utterances on stdin, one `{"text": …}` per line. */
async function* readUtterances({ stdin }: Terminal): AsyncGenerator<string> {
  let number = 0
  for await (const line of splitLines(stdin, 'stdin')) {
    number++
    if (line.trim() === '') continue
    const json = parseJson(line, `stdin:${number}`)
    const text = typeof json === 'object' && json !== null && 'text' in json ? json.text : undefined
    if (typeof text !== 'string')
      throw new Fault(
        'bad-input',
        `stdin:${number}: expected an object like {"text":"Any fever?"}, got \`${line.slice(0, 80)}\``,
      )
    yield text
  }
}

/** Prints how each utterance is understood: a table for arguments, JSONL for stdin or with `--json`. */
export async function understandAll(
  texts: readonly string[],
  flags: UnderstandFlags,
  terminal: Terminal,
): Promise<number> {
  const knowledge = loadKnowledge(flags.knowledge)
  if (texts.length > 0 && !flags.json) {
    const rows = texts.map((text) => {
      const { act, findings, attributes, state } = describeUtterance(knowledge, text)
      const details = attributes.map(
        ({ finding, attribute }) => `${attribute} of ${finding ?? 'the current topic'}`,
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
  for await (const text of texts.length > 0 ? texts : readUtterances(terminal)) {
    terminal.signal.throwIfAborted()
    await write(terminal.stdout, `${JSON.stringify(describeUtterance(knowledge, text))}\n`)
  }
  return 0
}
