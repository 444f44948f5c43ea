/**
 * Questions that name a symptom only beside what they ask: what was taken for it, what makes it worse, what the patient
 * makes of it, or whether a test was done.
 */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import { isAsideMatch } from '../asides.js'
import { type AskedAttribute, looseAttribute } from '../attributes.js'
import type { PhrasedSentence, SentenceContext } from '../finding-match.js'
import { attributeTopic, isWholeIllness } from '../focus.js'
import { nothing, type SentenceMeaning } from '../parsed-utterance.js'
import { treatedFrom, whatChanges } from './spoken-turns.js'

/** The topic of how the illness has gone. */
const courseAside = 'course'

/** The topic of what was done for the complaint. */
export const triedAside = 'tried'

const isSymptom = ({ lexicon }: SentenceContext, id: string): boolean =>
  lexicon.knowledge.finding.get(id)?.kind === 'symptom'

/** Whether a sentence asks for treatment, and names symptoms only as what was treated. */
export function asksTreatment(given: PhrasedSentence): boolean {
  const { sentence, found } = given
  const from = treatedFrom(sentence.text)
  return (
    from !== undefined &&
    found.length > 0 &&
    found.every(({ value, start }) => start - sentence.start >= from && isSymptom(given, value.id))
  )
}

/** Topics of what the patient makes of the illness: a symptom beside them is what they are about. */
export const ownViews: ReadonlySet<string> = new Set([
  ...['ideas', 'concerns', 'expectations', 'impact'],
  'which-first',
])
/** The topic of tests done before. */
export const testsAside = 'tests'
const doneBefore =
  /\b(?:have|has|had|did) (?:you|he|she|they|your \w+|anyone|anybody|somebody|someone|the \w+)\b.*\b(?:had|done|did|do|taken|take|checked|check|measured|measure|tested|test|seen|run|sent)\b|\bwhat did (?:the|your|that|those) .*\b(?:show|say|come back)\b|\bwhen (?:was|did) .*\b(?:last|done|taken|have)\b|\bany(?:thing)? .*\b(?:done|found|show(?:n|ed)?|taken|before|in the past|recently)\b|\b(?:was|were) (?:the|your|any|anything|those) .*\b(?:normal|clear|positive|negative|ok|okay|fine|found|done)\b|(?:做|查|拍|照|测|验|化验)过|(?:做|查|拍|照|测|验)[^，]{1,8}过(?:吗|没有?|么|不)?$|(?:做|查|拍|照)(?:了|没)?[^，]{0,8}(?:没有?)$/

/** Names examinations and tests. */
const testWord =
  /\b(?:tests?|tested|scans?|scanned|x ?rays?|xrayed|ultrasounds?|ecgs?|ekgs?|mris?|ct|echo|swabs?|swabbed|biops(?:y|ies)|endoscopy|colonoscopy|gastroscopy|bronchoscopy|mammogram|spirometry|bloods|blood work|blood taken|(?:urine|stool|blood|sputum|poo|pee|wee) samples?|lateral flows?|pcr|heart tracings?|camera (?:test|down|up|into)|pap)\b/
/** Topics of tests of their own. */
const ownTests: ReadonlySet<string> = new Set(['smear-screening', 'glasses-eyetest'])

/** Whether a question asks if a test was done or what it showed, whatever symptom or organ it was for. */
export function asksOfTests({ lexicon, sentence, here }: PhrasedSentence): boolean {
  const { text, inquires } = sentence
  if (!inquires || !lexicon.knowledge.aside.has(testsAside)) return false
  if (!testWord.test(text) || !doneBefore.test(text)) return false
  return !here.some(({ value }) => value.kind === 'aside' && ownTests.has(value.id))
}

/** Whether a question about results asks if the test was done, which a patient knows: "Have you had a chest X-ray?". */
export const asksPastTest = (
  { aside, finding }: Knowledge,
  text: string,
  ids: readonly string[],
): boolean =>
  aside.has(testsAside) &&
  doneBefore.test(text) &&
  ids.every((id) => finding.get(id)?.knownBy === 'exam')

/** What a sentence asks that names symptoms or results only beside it: "Are you worried about the rash?". */
export function askedOfSelf(
  given: PhrasedSentence,
  { topics }: SentenceMeaning,
): readonly string[] {
  const { lexicon, sentence, here } = given
  const { finding } = lexicon.knowledge
  const of = topics.map((topic) => finding.get(topic.finding))
  const views = here.filter(isAsideMatch).map(({ value }) => value.id)
  if (
    of.every((one) => one?.kind === 'symptom' && one.stigma === 0) &&
    views.some((id) => ownViews.has(id))
  )
    return views.filter((id) => ownViews.has(id))
  const ids = topics.map((topic) => topic.finding)
  return asksPastTest(lexicon.knowledge, sentence.text, ids) ? [testsAside] : []
}

/** Topics that can be what makes a symptom better or worse: "Does spicy food make it worse?". */
const circumstances: ReadonlySet<string> = new Set([
  ...[
    courseAside,
    'diet',
    'exercise',
    'coffee-tea',
    'sleep-position',
    'exertion',
    'stress-general',
  ],
])

/** What sets off what was spoken of, where the examples of a question name it: "Does anything bring it on, dust or pets?". */
export function namedTrigger({ lexicon, found }: PhrasedSentence): string | undefined {
  const ids = new Set(found.map(({ value }) => value.id))
  const [id, ...more] = [...ids].filter((one) => !isWholeIllness(lexicon.knowledge, one))
  const { kind } = lexicon.knowledge.finding.get(id ?? '') ?? {}
  return more.length === 0 && kind === 'antecedent' ? id : undefined
}

/** What the clauses before the one with a circumstance ask for: "What is it like, and does it hurt more when you cough?". */
const askedFirst = (
  { read: { text, clauses }, sentence: { start } }: PhrasedSentence,
  from: number,
): readonly AskedAttribute[] =>
  clauses
    .filter((clause) => clause.start >= start && clause.end <= start + from)
    .flatMap((clause) => looseAttribute(text.slice(clause.start, clause.end)) ?? [])

/** What a sentence means that asks what makes it better or worse; undefined for another. */
export function changesAsked(
  given: PhrasedSentence,
  meaning: SentenceMeaning,
  spoken: readonly string[],
): SentenceMeaning | undefined {
  const { lexicon, sentence, found } = given
  const { attributes, from, occasion } = whatChanges(sentence.text)
  const before = found.filter(({ start }) => start - sentence.start < from)
  // "What makes your headache worse?" names the symptom within what it asks.
  const detail = meaning.topics.some(({ attribute }) => attributes.some((one) => one === attribute))
  // "Does it hurt when you swallow?" is like a question for that.
  const own = occasion && meaning.topics.some(({ guessed }) => guessed)
  const asked = detail || (meaning.topics.length > 0 && (before.length > 0 || own))
  if (attributes.length === 0 || asked || spoken.some((id) => !circumstances.has(id)))
    return undefined
  const symptom = before.find(({ value }) => isSymptom(given, value.id))?.value.id
  const trigger = attributes.includes('aggravating') ? namedTrigger(given) : undefined
  if (trigger !== undefined) return { ...nothing, topics: [{ finding: trigger }] }
  if (symptom === undefined)
    return meaning.loose.length > 0
      ? meaning
      : { ...nothing, loose: [...new Set([...askedFirst(given, from), ...attributes])] }
  const topics = attributes.map((one) => attributeTopic(lexicon.knowledge, symptom, one))
  return { ...nothing, topics }
}
