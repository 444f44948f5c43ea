/** The judge that is always there: rules over the words alone, offline, the same every time. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { memoizeText } from '../../platform/memoize.js'
import { words } from '../../text/word-stems.js'
import type { Formulary } from '../outcome/formulary.js'
import { inFormulary } from '../outcome/formulary.js'
import type { Nearness } from '../outcome/icd10.js'
import { icd10Codes, nearest } from '../outcome/icd10.js'
import { mentionOf } from '../outcome/naming.js'
import { exactVerifier } from '../outcome/verifier.js'
import type { Judge, JudgedLine, JudgeRequest } from './judge.js'
import { matched } from './matching.js'
import { conductByRule } from './patient-rule.js'

export interface RuleJudgeOptions {
  /** The diseases that can be told from their names. @default none */
  readonly formulary?: Formulary
  /** Its examinations can be told from their names. @default none: names are compared as they are written */
  readonly knowledge?: Knowledge
}

/** Cases share their advice, and a policy says the same few. */
const wordsOf = memoizeText((text): readonly string[] => words(text), { most: 1000 })

/** F1 of the words of two texts, repeats counted; 0 where one of them says nothing. */
function sharedWords(reference: string, answer: string): number {
  const left = new Map<string, number>()
  const wanted = wordsOf(reference)
  const given = wordsOf(answer)
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let hits = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count > 0) hits++
    left.set(word, count - 1)
  }
  return hits === 0 ? 0 : (2 * hits) / (wanted.length + given.length)
}

/** How alike two different diseases of the formulary are, of 5. */
const alike: Readonly<Record<Nearness, number>> = {
  code: 4,
  category: 3,
  block: 2,
  chapter: 1,
  none: 0,
}

/** Different questions after which no more is expected of a doctor. */
const enough = 4

/** The share of the doctor's lines that ask something not asked before, in full from four of them on. */
function questioning(dialogue: readonly JudgedLine[]): number {
  const lines = dialogue.filter(({ role }) => role === 'doctor')
  if (lines.length === 0) return 0
  const asked = new Set<string>()
  for (const { text } of lines) {
    const key = [...new Set(words(text))].sort().join(' ')
    if (/[?？]/.test(text) && key !== '') asked.add(key)
  }
  return (asked.size / lines.length) * Math.min(1, asked.size / enough)
}

const shown = (value: number): string => String(Number(value.toFixed(4)))

/**
 * The rule judge; it reads no prose. Two diagnoses are one where the whole answer names the reference or another name
 * of the same disease of the formulary; alike by ICD-10, and recommendations by their words. A consultation is graded
 * .7 for the diagnosis and .3 for questions that end in a question mark and are not repeated.
 */
export function ruleJudge({ formulary = [], knowledge }: RuleJudgeOptions = {}): Judge {
  const verify = exactVerifier({ formulary })
  const isSame = async (reference: string, answer: string): Promise<boolean> =>
    (await verify('', reference, answer)) === 1
  const codesOf = (text: string): readonly string[] => {
    const mention = mentionOf(text)
    const known = mention && inFormulary(formulary, mention)
    return known ? icd10Codes(known.codes) : []
  }
  const judge = async (request: JudgeRequest): Promise<string> => {
    switch (request.task) {
      case 'same-diagnosis':
        return (await isSame(request.reference, request.answer)) ? 'Correct' : 'Wrong'
      case 'count-matched':
        return String(matched(request.items, request.list, knowledge))
      case 'similarity': {
        const { of, reference, answer } = request
        if (of === 'recommendation') return String(Math.round(5 * sharedWords(reference, answer)))
        if (await isSame(reference, answer)) return '5'
        return String(alike[nearest(codesOf(answer), codesOf(reference))])
      }
      case 'consultation': {
        const { grade, disease, diagnosis, dialogue } = request
        const questions = questioning(dialogue)
        if (grade === 'questions') return shown(questions)
        const right = diagnosis !== undefined && (await isSame(disease, diagnosis))
        return shown((right ? 0.7 : 0) + 0.3 * questions)
      }
      case 'patient-conduct':
        return JSON.stringify(conductByRule(request.profile, request.dialogue))
    }
  }
  return Object.assign(judge, { judgeName: 'rule' })
}
