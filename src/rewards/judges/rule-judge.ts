/** Rule-based judge: rules over words alone, offline and deterministic. */
import { expandPanel, type Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { memoizeText } from '../../platform/memoize.js'
import { wordStems } from '../../text/word-stems.js'
import { readMention } from '../outcome/disease-names.js'
import { type FormularyOptions, findInFormulary } from '../outcome/formulary.js'
import { type Icd10Nearness, icd10Codes, icd10Nearness } from '../outcome/icd10.js'
import { exactVerifier } from '../outcome/verifier.js'
import { countCommonTokens, countTokens } from '../text/tokens.js'
import type { ConductCounts, Judge, JudgedLine, JudgeRequest } from './judge.js'

/** Normalises a name: letters and digits in lower case, words separated; a number keeps its decimal point. */
const plain = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+|\.(?!\d)/gu, ' ')
    .trim()

/** Canonical ids by each name of each examination, panels expanded. */
const examNames = perKnowledge((knowledge): ReadonlyMap<string, readonly string[]> => {
  const index = new Map<string, readonly string[]>()
  for (const exam of knowledge.exams) {
    const { id, name, aliases } = exam
    for (const text of [id, name.zh, name.en, ...aliases.zh, ...aliases.en])
      if (!index.has(plain(text))) index.set(plain(text), expandPanel(exam))
  }
  return index
})

/**
 * The size of the largest one-to-one (bipartite) matching between two lists of names; each name is used once. Two names
 * match where they are written alike, name the same examination of the knowledge base, or a panel and one of its
 * examinations.
 */
export function countMatches(
  items: readonly string[],
  list: readonly string[],
  knowledge?: Knowledge,
): number {
  const names = knowledge && examNames(knowledge)
  const standsFor = (name: string): readonly string[] => names?.get(plain(name)) ?? [plain(name)]
  const of = items.map(standsFor)
  const among = list.map(standsFor)
  const takenBy = new Map<number, number>()
  const place = (item: number, tried: Set<number>): boolean =>
    among.some((ids, other) => {
      if (tried.has(other) || !ids.some((id) => id !== '' && of[item]!.includes(id))) return false
      tried.add(other)
      const holder = takenBy.get(other)
      if (holder !== undefined && !place(holder, tried)) return false
      takenBy.set(other, item)
      return true
    })
  return of.filter((_, item) => place(item, new Set())).length
}

interface Statement {
  readonly words: ReadonlySet<string>
  readonly denies: boolean
}

const denial =
  /\b(?:no|not|never|none|without|denies|denied|neither|nor)\b|n't\b|没有?|无|否认|不(?!适|舒服|好)/i

const splitStatements = (text: string): readonly Statement[] =>
  text
    .split(/[.!?;,\n。！？；，、]+/)
    .map((part) => ({ words: new Set(wordStems(part)), denies: denial.test(part) }))
    .filter((statement) => statement.words.size > 0)

function wordShare(fact: Statement, words: ReadonlySet<string>): number {
  let held = 0
  for (const word of fact.words) if (words.has(word)) held++
  return held / fact.words.size
}

/** Minimum shares of a fact's words: to count as the same fact, and as the fact asked about. */
const same = 0.6
const about = 1 / 3

/**
 * Counts the facts of the profile told unasked, withheld though asked, and contradicted. A fact is a clause of the
 * profile; each is counted once per kind of fault.
 */
export function countConductFaults(
  profile: string,
  dialogue: readonly JudgedLine[],
): ConductCounts {
  const facts = splitStatements(profile)
  const [extra, missing, opposite] = [new Set<number>(), new Set<number>(), new Set<number>()]
  const [told, asked] = [new Set<number>(), new Set<number>()]
  let question: ReadonlySet<string> | undefined
  for (const { role, text } of dialogue) {
    if (role === 'doctor') question = new Set(wordStems(text))
    if (role !== 'patient') continue
    const said = splitStatements(text)
    facts.forEach((fact, i) => {
      const isAsked = question !== undefined && wordShare(fact, question) >= about
      if (isAsked) asked.add(i)
      const teller = said.find((statement) => wordShare(fact, statement.words) >= same)
      if (teller === undefined) return
      told.add(i)
      if (teller.denies !== fact.denies) opposite.add(i)
      // Facts told before any question are the complaint, and not told unasked.
      else if (question !== undefined && !asked.has(i)) extra.add(i)
    })
  }
  for (const i of asked) if (!told.has(i)) missing.add(i)
  return { extra: extra.size, missing: missing.size, opposite: opposite.size }
}

/** Options of {@link ruleJudge}. */
export interface RuleJudgeOptions extends FormularyOptions {
  /** Knowledge base whose examinations are recognised by name. @default none: names are compared as written */
  readonly knowledge?: Knowledge
}

/** The words of a text; cached, as cases share advice and a policy repeats a few texts. */
const cachedWords = memoizeText((text): readonly string[] => wordStems(text), { most: 1000 })

/** F1 of the words of two texts as multisets; 0 where they share none. */
function wordOverlap(reference: string, answer: string): number {
  const wanted = cachedWords(reference)
  const given = cachedWords(answer)
  const hits = countCommonTokens(given, countTokens(wanted))
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
