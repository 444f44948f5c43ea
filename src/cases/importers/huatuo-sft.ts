/**
 * Importer of answers with reasoning in HuatuoGPT-o1's format, the training data of its first (SFT) stage: fields
 * `Question`, `Complex_CoT` and `Response`, as finished episodes to imitate.
 */
import { doctorView, graderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Score } from '../../reward.js'
import { ok } from '../../reward.js'
import type { SavedEpisode } from '../../storage/episode-schema.js'
import { formatHuatuoReply, parseHuatuoReply } from '../../text/huatuo-reply.js'
import { detectLanguage } from '../../text/word-stems.js'
import { noFacts } from '../../turn.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { readJsonRows, readTexts } from './json-rows.js'
import { questionCase, questionId, questionLicence } from './question-case.js'

const names = {
  question: ['Question'],
  thinking: ['Complex_CoT'],
  response: ['Response'],
} as const

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
 * Imports a JSON array or JSONL file as one episode per row. Skips rows with a missing or blank field, and rows whose
 * fields contain headings of their own: parsing the reply would yield another answer than was written.
 * @throws Fault `bad-input` when the file is missing or not JSON
 */
export async function importHuatuoSft(path: string): Promise<ImportResult> {
  const rows = await readJsonRows(path)
  const skipped: ImportReport['skipped'][number][] = []
  const episodes: SavedEpisode[] = []
  for (const [row, given] of rows.entries()) {
    const read = readTexts(given, names)
    if (!('texts' in read)) {
      skipped.push({ row, ...read })
      continue
    }
    const { question, thinking, response } = read.texts
    const text = formatHuatuoReply(thinking, response)
    const reply = parseHuatuoReply(text)
    if (reply.form === 'whole') episodes.push(toSavedEpisode(row, question, text, reply.answer))
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
