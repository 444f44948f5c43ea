/** Case of a verifiable question: the question is the chief complaint, the reference answer the gold diagnosis. */
import { createHash } from 'node:crypto'
import type { Case } from '../../case.js'
import { detectLanguage } from '../../text/word-stems.js'

const source = 'a file in the format of HuatuoGPT-o1'
const url = 'https://github.com/FreedomIntelligence/HuatuoGPT-o1'

/** Licence note for questions in this format, whatever their source. */
export const questionLicence =
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
      ...{ source, license: questionLicence, url },
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
