/**
 * Importer of reasoned answers in HuatuoGPT-o1's format, on which the first stage learns: `Question`, `Complex_CoT`
 * and `Response`, as finished episodes to imitate.
 */
import { doctorView, graderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Score } from '../../reward.js'
import { ok } from '../../reward.js'
import type { SavedEpisode } from '../../storage/episode-schema.js'
import { readReasoned, writeReasoned } from '../../text/huatuo-reply.js'
import { languageOf } from '../../text/word-stems.js'
import { noFacts } from '../../turn.js'
import type { Imported, ImportReport } from './import.js'
import { readJsonRows, textsOf } from './json-rows.js'
import { questionCase, questionId, questionLicence } from './question-case.js'

const names = {
  question: ['Question'],
  thinking: ['Complex_CoT'],
  response: ['Response'],
} as const

/** Whoever wrote them, they were written to be imitated; nobody chooses among them. */
const score: Score = { total: 1, parts: { demonstration: ok(1, 'written to be imitated') } }

/**
 * The episode of a row, as the `question` env would have had it. Its truth is the response itself: a row holds no
 * other answer. Its case is the one that an importer of verifiable questions makes of the same question.
 */
function savedOf(row: number, question: string, text: string, answer: string): SavedEpisode {
  const truth = questionCase(question, answer, `${questionId(question)}-response`)
  const episode: Episode = {
    id: `${truth.id}/${row}`,
    ...{ caseId: truth.id, seed: 0, agent: 'huatuo-sft', language: languageOf(question) },
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
 * Reads a JSON array or JSONL into one episode a row. A row is left out where a field is missing or blank, and where
 * its fields hold headings of their own, so that another answer would be read than was written.
 * @throws Fault `bad-input` when the file is missing or is no JSON
 */
export async function importHuatuoSft(path: string): Promise<Imported> {
  const rows = await readJsonRows(path)
  const skipped: ImportReport['skipped'][number][] = []
  const episodes: SavedEpisode[] = []
  for (const [row, given] of rows.entries()) {
    const read = textsOf(given, names)
    if (!('texts' in read)) {
      skipped.push({ row, ...read })
      continue
    }
    const { question, thinking, response } = read.texts
    const text = writeReasoned(thinking, response)
    const reply = readReasoned(text)
    if (reply.form === 'whole') episodes.push(savedOf(row, question, text, reply.answer))
    else
      skipped.push({
        ...{ row, path: 'Complex_CoT, Response' },
        reason: `expected texts without headings or hidden parts of their own, got a reply that is ${reply.form}`,
      })
  }
  return {
    cases: [],
    episodes,
    report: {
      ...{ format: 'huatuo-sft', ok: episodes.length, rows: rows.length, skipped },
      ...{ warnings: [], leaks: [], licence: questionLicence, redistributable: false },
    },
  }
}
