/**
 * Importer of verifiable questions in HuatuoGPT-o1's format, the training data of Doctor-Agent's second stage: fields
 * `Open-ended Verifiable Question` and `Ground-True Answer`, or `question` and `answer`.
 */
import type { Case } from '../../case.js'
import { leaks } from '../leaks/leak.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { readJsonRows, readTexts } from './json-rows.js'
import { questionCase, questionId, questionLicence } from './question-case.js'

const names = {
  question: ['Open-ended Verifiable Question', 'question'],
  answer: ['Ground-True Answer', 'answer'],
} as const

/** The first row of a question, and its answer. */
interface FirstSeen {
  readonly row: number
  readonly answer: string
}

/**
 * Imports a JSON array or JSONL file as one case per question. A repeated question is skipped: with the same answer
 * it adds nothing, with another it cannot be verified.
 * @throws Fault `bad-input` when the file is missing or not JSON
 */
export async function importHuatuoRl(path: string): Promise<ImportResult> {
  const rows = await readJsonRows(path)
  const skipped: ImportReport['skipped'][number][] = []
  const seen = new Map<string, FirstSeen>()
  const cases: Case[] = []
  for (const [row, given] of rows.entries()) {
    const read = readTexts(given, names)
    if (!('texts' in read)) {
      skipped.push({ row, ...read })
      continue
    }
    const { question, answer } = read.texts
    const id = questionId(question)
    const before = seen.get(id)
    if (before) {
      const what = before.answer === answer ? 'the same' : 'another'
      skipped.push({ row, path: '', reason: `the question of row ${before.row}, ${what} answer` })
      continue
    }
    seen.set(id, { row, answer })
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
