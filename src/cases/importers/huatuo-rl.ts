/**
 * Importer of verifiable questions in HuatuoGPT-o1's format, on which Doctor-Agent's second stage learns:
 * `Open-ended Verifiable Question` and `Ground-True Answer`, or `question` and `answer`.
 */
import type { Case } from '../../case.js'
import { leaks } from '../leaks/leak.js'
import type { Imported, ImportReport } from './import.js'
import { readJsonRows, textsOf } from './json-rows.js'
import { questionCase, questionId, questionLicence } from './question-case.js'

const names = {
  question: ['Open-ended Verifiable Question', 'question'],
  answer: ['Ground-True Answer', 'answer'],
} as const

/** An answer to a question that has been met before, in the row that it was met in. */
interface Met {
  readonly row: number
  readonly answer: string
}

/**
 * Reads a JSON array or JSONL; every question once. A question met again is left out: with the same answer it adds
 * nothing, with another it cannot be verified.
 * @throws Fault `bad-input` when the file is missing or is no JSON
 */
export async function importHuatuoRl(path: string): Promise<Imported> {
  const rows = await readJsonRows(path)
  const skipped: ImportReport['skipped'][number][] = []
  const met = new Map<string, Met>()
  const cases: Case[] = []
  for (const [row, given] of rows.entries()) {
    const read = textsOf(given, names)
    if (!('texts' in read)) {
      skipped.push({ row, ...read })
      continue
    }
    const { question, answer } = read.texts
    const id = questionId(question)
    const before = met.get(id)
    if (before) {
      const what = before.answer === answer ? 'the same' : 'another'
      skipped.push({ row, path: '', reason: `the question of row ${before.row}, ${what} answer` })
      continue
    }
    met.set(id, { row, answer })
    cases.push(questionCase(question, answer))
  }
  return {
    cases,
    report: {
      ...{ format: 'huatuo-rl', ok: cases.length, rows: rows.length, skipped, warnings: [] },
      leaks: cases.flatMap((truth) => leaks(truth).map((leak) => ({ case: truth.id, ...leak }))),
      ...{ licence: questionLicence, redistributable: false },
    },
  }
}
