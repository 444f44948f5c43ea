/** Importers of the two JSON formats of HuatuoGPT-o1: verifiable questions as cases, written answers as episodes. */
import { createHash } from 'node:crypto'
import { type Case, doctorView, graderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import { ok, type Score } from '../../reward.js'
import type { SavedEpisode } from '../../storage/episode-schema.js'
import { formatHuatuoReply, parseHuatuoReply } from '../../text/huatuo-reply.js'
import { detectLanguage } from '../../text/word-stems.js'
import { noFacts } from '../../turn.js'
import { reportLeaks } from '../leaks/leak.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { type JsonRow, readJsonRows } from './json-rows.js'

const excerpt = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Key names of each field in order of preference; the first one present is read. */
export type FieldNames<Field extends string> = Readonly<
  Record<Field, readonly [string, ...string[]]>
>

/** Reads the text fields of a row, none missing or blank; else the path and reason of what is missing. */
export function readTexts<Field extends string>(
  row: JsonRow,
  names: FieldNames<Field>,
):
  | { readonly texts: Readonly<Record<Field, string>> }
  | { readonly path: string; readonly reason: string } {
  if ('broken' in row) return { path: '', reason: row.broken }
  const { value } = row
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { path: '', reason: `expected an object, got ${excerpt(value)}` }
  const missing: (readonly [name: string, got: unknown])[] = []
  const texts: Record<string, string> = {}
  for (const [field, known] of Object.entries<readonly [string, ...string[]]>(names)) {
    const name = known.find((one) => Object.hasOwn(value, one)) ?? known[0]
    const text: unknown = Reflect.get(value, name)
    if (typeof text === 'string' && text.trim() !== '') texts[field] = text
    else missing.push([name, text])
  }
  if (missing.length === 0) return { texts: texts as Record<Field, string> } // one of each, by the loop
  return {
    path: missing.map(([name]) => name).join(', '),
    reason: `expected text, got ${missing.map(([, got]) => excerpt(got)).join(', ')}`,
  }
}

/** Licence note for questions in this format, whatever their source. */
const questionLicence =
  "The data sets HuatuoGPT-o1's authors publish in this format are Apache-2.0; a language model rewrote them from examination questions (MedQA-USMLE, MedMCQA), whose own terms they do not restate, and others use the format too. Keep cases made from it to yourself."

/** Case id of a question: a hash of its text, the same in every file, ignoring letter case and white space. */
export function questionId(question: string): string {
  const plain = question.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
  return `huatuo-${createHash('sha256').update(plain).digest('hex').slice(0, 12)}`
}

/**
 * Makes a case with no findings and no examinations.
 * @param answerId text that the id of the gold diagnosis is made from @default the answer
 */
export function questionCase(question: string, answer: string, answerId = answer): Case {
  const language = detectLanguage(question)
  return {
    schema: 'bedside-case/1',
    id: questionId(question),
    provenance: {
      source: 'a file in the format of HuatuoGPT-o1',
      ...{ license: questionLicence, url: 'https://github.com/FreedomIntelligence/HuatuoGPT-o1' },
      ...{ synthetic: false, redistributable: false },
    },
    demographics: { speaker: 'self' },
    chiefComplaint: { text: { [language]: question.trim() }, findings: [] },
    findings: [],
    exams: [],
    examDefault: 'unavailable',
    noise: { forget: 0, deny: 0, overReport: 0 },
    persona: {},
    gold: {
      dx: [
        {
          id: answerId
            .trim()
            .toLowerCase()
            .replace(/[\s/]+/g, '-'),
          name: { [language]: answer.trim() },
          aliases: [],
          codes: [],
          role: 'primary',
        },
      ],
      acceptable: [],
      redFlags: [],
      actions: [],
    },
  }
}

type Skipped = ImportReport['skipped'][number]

/** Reads every row and calls `take` with its texts; lists the rows without them, and those that `take` refuses. */
async function importRows<Field extends string>(
  path: string,
  names: FieldNames<Field>,
  take: (texts: Readonly<Record<Field, string>>, row: number) => Omit<Skipped, 'row'> | undefined,
): Promise<Pick<ImportReport, 'rows' | 'skipped'>> {
  const rows = await readJsonRows(path)
  const skipped = rows.flatMap((given, row) => {
    const read = readTexts(given, names)
    const refused = 'texts' in read ? take(read.texts, row) : read
    return refused ? [{ row, ...refused }] : []
  })
  return { rows: rows.length, skipped }
}

/**
 * Imports a JSON array or JSONL file of verifiable questions, the training data of Doctor-Agent's second stage, as one
 * case per question. A repeated question is skipped: with the same answer it adds nothing, with another it cannot be
 * verified.
 * @throws Fault `bad-input` when the file is missing or not JSON
 */
export async function importHuatuoRl(path: string): Promise<ImportResult> {
  const seen = new Map<string, { readonly row: number; readonly answer: string }>()
  const cases: Case[] = []
  const names: FieldNames<'question' | 'answer'> = {
    question: ['Open-ended Verifiable Question', 'question'],
    answer: ['Ground-True Answer', 'answer'],
  }
  const read = await importRows(path, names, ({ question, answer }, row) => {
    const id = questionId(question)
    const before = seen.get(id)
    if (before) {
      const what = before.answer === answer ? 'the same' : 'another'
      return { path: '', reason: `the question of row ${before.row}, ${what} answer` }
    }
    seen.set(id, { row, answer })
    cases.push(questionCase(question, answer))
    return undefined
  })
  return {
    cases,
    report: {
      ...{ format: 'huatuo-rl', ok: cases.length, ...read, warnings: [] },
      leaks: reportLeaks(cases),
      ...{ licence: questionLicence, redistributable: false },
    },
  }
}

/** Every demonstration has score 1: all are to be imitated, with no selection among them. */
const score: Score = { total: 1, parts: { demonstration: ok(1, 'written to be imitated') } }

/**
 * The episode of a row, as played in the `question` env. Its gold answer is the response itself: a row has no other.
 * Its case id is the one that the importer of verifiable questions gives the same question.
 */
function toSavedEpisode(row: number, question: string, text: string, answer: string): SavedEpisode {
  const truth = questionCase(question, answer, `${questionId(question)}-response`)
  const episode: Episode = {
    id: `${truth.id}/${row}`,
    ...{ caseId: truth.id, seed: 0, agent: 'huatuo-sft', language: detectLanguage(question) },
    intake: doctorView(truth),
    turns: [
      {
        action: { kind: 'diagnose', diagnosis: answer },
        outcome: { kind: 'closed' },
        facts: noFacts,
        text,
      },
    ],
    ...{ end: 'terminated', stop: 'diagnosed', maxTurns: 1 },
    spent: { money: 0, minutes: 0 },
    budget: { money: 0, minutes: 1 },
  }
  return { episode, truth: graderView(truth), score }
}

/**
 * Imports a JSON array or JSONL file of answers with reasoning, the training data of HuatuoGPT-o1's first (SFT) stage,
 * as one episode per row. Skips rows with a missing or blank field, and rows whose fields contain headings of their own:
 * parsing the reply would yield another answer than was written.
 * @throws Fault `bad-input` when the file is missing or not JSON
 */
export async function importHuatuoSft(path: string): Promise<ImportResult> {
  const episodes: SavedEpisode[] = []
  const names: FieldNames<'question' | 'thinking' | 'response'> = {
    question: ['Question'],
    thinking: ['Complex_CoT'],
    response: ['Response'],
  }
  const read = await importRows(path, names, ({ question, thinking, response }, row) => {
    const text = formatHuatuoReply(thinking, response)
    const reply = parseHuatuoReply(text)
    if (reply.form !== 'whole')
      return {
        path: 'Complex_CoT, Response',
        reason: `expected texts without headings or hidden parts of their own, got a reply that is ${reply.form}`,
      }
    episodes.push(toSavedEpisode(row, question, text, reply.answer))
    return undefined
  })
  return {
    cases: [],
    episodes,
    report: {
      ...{ format: 'huatuo-sft', ok: episodes.length, ...read },
      ...{ warnings: [], leaks: [], licence: questionLicence, redistributable: false },
    },
  }
}
