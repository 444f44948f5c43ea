/** Rule-based judge: rules over words alone, offline and deterministic. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { memoizeText } from '../../platform/memoize.js'
import { wordStems } from '../../text/word-stems.js'
import { readMention } from '../outcome/disease-names.js'
import type { FormularyOptions } from '../outcome/formulary.js'
import { findInFormulary } from '../outcome/formulary.js'
import type { Icd10Nearness } from '../outcome/icd10.js'
import { icd10Codes, icd10Nearness } from '../outcome/icd10.js'
import { exactVerifier } from '../outcome/verifier.js'
import { countConductFaults } from './conduct-rule.js'
import type { Judge, JudgedLine, JudgeRequest } from './judge.js'
import { countMatches } from './name-matching.js'

/** Options of {@link ruleJudge}. */
export interface RuleJudgeOptions extends FormularyOptions {
  /** Knowledge base whose examinations are recognised by name. @default none: names are compared as written */
  readonly knowledge?: Knowledge
}

/** The words of a text; cached, as cases share advice and a policy repeats a few texts. */
const cachedWords = memoizeText((text): readonly string[] => wordStems(text), { most: 1000 })

/** F1 of the words of two texts as multisets; 0 where they share none. */
function wordOverlap(reference: string, answer: string): number {
  const left = new Map<string, number>()
  const wanted = cachedWords(reference)
  const given = cachedWords(answer)
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let hits = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count > 0) hits++
    left.set(word, count - 1)
  }
  return hits === 0 ? 0 : (2 * hits) / (wanted.length + given.length)
}

/** Similarity of two different diseases of the formulary, 0 to 5. */
const similarityByNearness: Readonly<Record<Icd10Nearness, number>> = {
  code: 4,
  category: 3,
  block: 2,
  chapter: 1,
  none: 0,
}

/** Number of different questions for full credit. */
const enough = 4

/** The share of the doctor's lines that ask a new question, scaled down below four different questions. */
function gradeQuestions(dialogue: readonly JudgedLine[]): number {
  const lines = dialogue.filter(({ role }) => role === 'doctor')
  if (lines.length === 0) return 0
  const asked = new Set<string>()
  for (const { text } of lines) {
    const key = [...new Set(wordStems(text))].sort().join(' ')
    if (/[?？]/.test(text) && key !== '') asked.add(key)
  }
  return (asked.size / lines.length) * Math.min(1, asked.size / enough)
}

const formatNumber = (value: number): string => String(Number(value.toFixed(4)))

/**
 * Makes the rule-based judge, which reads no prose. Two diagnoses are the same where the whole answer is the reference
 * or another name of the same disease of the formulary. Similarity is by ICD-10 for diagnoses, and by words for
 * recommendations. A consultation is graded .7 for the diagnosis and .3 for new questions with a question mark.
 */
export function ruleJudge({ formulary = [], knowledge }: RuleJudgeOptions = {}): Judge {
  const verify = exactVerifier({ formulary })
  const isSame = async (reference: string, answer: string): Promise<boolean> =>
    (await verify('', reference, answer)) === 1
  const codesOf = (text: string): readonly string[] => {
    const mention = readMention(text)
    const known = mention && findInFormulary(formulary, mention)
    return known ? icd10Codes(known.codes) : []
  }
  const judge = async (request: JudgeRequest): Promise<string> => {
    switch (request.task) {
      case 'same-diagnosis':
        return (await isSame(request.reference, request.answer)) ? 'Correct' : 'Wrong'
      case 'count-matched':
        return String(countMatches(request.items, request.list, knowledge))
      case 'similarity': {
        const { of, reference, answer } = request
        if (of === 'recommendation') return String(Math.round(5 * wordOverlap(reference, answer)))
        if (await isSame(reference, answer)) return '5'
        return String(similarityByNearness[icd10Nearness(codesOf(answer), codesOf(reference))])
      }
      case 'consultation': {
        const { grade, disease, diagnosis, dialogue } = request
        const questions = gradeQuestions(dialogue)
        if (grade === 'questions') return formatNumber(questions)
        const right = diagnosis !== undefined && (await isSame(disease, diagnosis))
        return formatNumber((right ? 0.7 : 0) + 0.3 * questions)
      }
      case 'patient-conduct':
        return JSON.stringify(countConductFaults(request.profile, request.dialogue))
    }
  }
  return Object.assign(judge, { judgeName: 'rule' })
}
