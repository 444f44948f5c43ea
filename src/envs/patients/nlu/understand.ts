/**
 * Natural-language understanding of a doctor's utterance: its dialogue act and the findings it asks about, by exact
 * phrases of the knowledge base first, then by similarity. Understands both languages at all times. Reads no case.
 * Long because the two languages correct and split a text differently, step by step beside each other.
 */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import { memoizeText } from '../../../platform/memoize.js'
import { inTurn } from '../../../platform/slices.js'
import type { NormalisedText, PhraseMatch } from '../../../text/phrase-search.js'
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import * as act from './acts.js'
import { isAsideMatch } from './asides.js'
import { type AskedAttribute, findAttributes, isGeneric } from './attributes.js'
import { findInterrupted } from './chinese/infixes.js'
import { isInsideWord } from './chinese/inside-words.js'
import { classifyAct, expectation } from './classify.js'
import { asksConsent } from './closings/consent.js'
import { isNegated, readRecap, saysAbsent } from './closings/recap.js'
import { expandPairs, removeDisfluencies } from './disfluency.js'
import { asksPastTest, testsAside } from './english/beside-symptoms.js'
import { topicByForm } from './english/spoken-topics.js'
import {
  dropCrossClauseMatches,
  isFindingMatch,
  languageByScript,
  removeMatches,
} from './finding-match.js'
import { attributeTopic, findingTopic, isWholeIllness, type Topic } from './focus.js'
import { isShort, type TextReader } from './follow-ups/question.js'
import { isElsewhere, regionOf, regionsIn } from './follow-ups/regions.js'
import { interpretSentence, matchPhrases, maxFuzzyLength, noMatch } from './interpret-sentence.js'
import { getLexicons, type Lexicon, type LexiconEntry, NotReady } from './lexicon.js'
import {
  nothing,
  type ParsedUtterance,
  type QuestionPart,
  type SentenceMeaning,
} from './parsed-utterance.js'
import { plainWords } from './plain-words.js'
import { joinTags, type Sentence, splitSentences } from './sentences.js'

/** How far a topic's score in the whole utterance may be below the best score. */
const maxLag = 0.45
/** Score at which a guess is taken without a look at typing errors. */
const surelyGuessed = 0.55
/** Least score of an aside, which no finding answers. */
const minAsideScore = 0.5
/** Characters of an utterance that are read; the rest is ignored. */
const maxLength = 2000
/** Characters of an English turn from which the patient does not ask what was meant. */
const longTurn = 140
/** Longer texts are interpreted anew each time, so that the cache holds no large strings. */
const cacheBounds = { most: 4096, longest: 512 } as const

/** A parent who is spoken to: "Mum, has she been hot?", "Is she drinking, Dad?". */
const spokenTo =
  /^(?:(?:and|so|now|ok|okay|right|well) )?(?:mum|mom|mummy|mommy|dad|daddy|gran|granny|grandma|grandpa) (?=(?:have|do|did|could|can|would) you\b|(?:has|is|does|did|was|can) (?:he|she|it|the)\b|(?:he|she|i)\b|(?:when|how|what|where) (?:did|does|has|is|was|long|often)\b)| (?:mum|mom|mummy|mommy|dad|daddy)$(?<=\b(?:he|she|him|her|his|baby)\b.*)(?<!\b(?:your|his|her|or|and|of|from|with|by|to|like|the|mum|mom|dad|else) \w+)/

/**
 * Which sentences are about relatives. "And any diabetes?" after a question about the family is about the family, too.
 */
function aboutRelatives(sentences: readonly Sentence[]): readonly boolean[] {
  let before = false
  return sentences.map(({ text }) => {
    const named = act.family.test(text.replace(spokenTo, '')) && !act.witness.test(text)
    before = named || (before && act.continues.test(text))
    return before
  })
}

/** Two details of a complaint that no finding records are two topics. */
const sameTopic = (a: Topic, b: Topic): boolean =>
  a.finding === b.finding && !(a.missing && b.missing && a.attribute !== b.attribute)

/** The symptom that was named last before a place in the text and not denied: "You said you cough. Since when?" */
const mentionedBefore = (
  { knowledge }: Lexicon,
  read: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
  place: number,
): string | undefined =>
  matches.filter(isFindingMatch).findLast(({ value: { id }, start, end }) => {
    const { kind, attribute } = knowledge.finding.get(id) ?? {}
    return end <= place && kind === 'symptom' && !attribute && !isNegated(read, start)
  })?.value.id

/** Resolves "Any headache? Where exactly?": attributes of what the same utterance asked about before, or mentioned. */
function resolveAttributes(
  { knowledge }: Lexicon,
  loose: readonly AskedAttribute[],
  before: readonly SentenceMeaning[],
  mentioned: () => string | undefined,
): readonly Topic[] {
  if (loose.length === 0) return []
  const last = before.findLast(({ topics }) => topics.length > 0)?.topics.at(-1)
  const complaint = last?.of ?? last?.finding ?? mentioned()
  if (complaint === undefined || knowledge.finding.get(complaint)?.kind !== 'symptom') return []
  if (isWholeIllness(knowledge, complaint)) return []
  return loose.map((attribute) => attributeTopic(knowledge, complaint, attribute))
}

/** Of several topics, keeps those whose score in the whole utterance is not far below the best. */
function dropUnlikely(
  lexicon: Lexicon,
  { text }: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
  topics: readonly Topic[],
  apart: ReadonlySet<string>,
): readonly Topic[] {
  if (topics.length < 2 || text.length > maxFuzzyLength) return topics
  if (isGeneric(removeMatches(text, 0, matches))) return topics
  const { score, scoreOf } = lexicon.findSimilar(text)
  // In English what is asked by name in a question of its own stays: "Any pain in the belly? Bloating?"
  const kept = topics.filter(
    ({ finding }) => score - scoreOf(finding) < maxLag || apart.has(finding),
  )
  return kept.length > 0 ? kept : topics
}

const isVague = ({ kind }: ParsedUtterance): boolean =>
  kind === 'unclear' || kind === 'ambiguous' || kind === 'unmodelled'

const isGuessed = ({ guessed }: Topic): boolean => guessed === true

/** Whether a text is surely about something that no finding answers, so that it needs no spelling correction. */
function isAside(lexicon: Lexicon, text: string): boolean {
  const { value, score } = lexicon.findSimilar(normaliseText(text).text)
  return value !== undefined && !lexicon.knowledge.finding.has(value) && score >= minAsideScore
}

/** Whether a text has the words of an aside, not only some that are similar. */
function namesAside(lexicon: Lexicon, text: string): boolean {
  const read = normaliseText(text)
  if (findPhrases(lexicon.tree(read.text), read).some(isAsideMatch)) return true
  return languageByScript(text) === 'en' && topicByForm(lexicon.knowledge, read.text) !== undefined
}

/** Whether a text has the words of the finding that it says too little of: they are no typing error. */
function namesNear(lexicon: Lexicon, text: string, { near }: ParsedUtterance): boolean {
  if (near === undefined) return false
  const read = normaliseText(text)
  return findPhrases(lexicon.tree(read.text), read).some(
    ({ value }) => value.kind === 'finding' && value.id === near,
  )
}

/** What a text with a Chinese typing error means, where the corrected one names what the written one only suggests. */
const nameTopic = (lexicon: Lexicon, text: string): ParsedUtterance | undefined =>
  (lexicon.findSimilar(normaliseText(text).text).score < surelyGuessed
    ? lexicon.correctHomophones(text)
    : []
  )
    .map((corrected) => interpretText(lexicon, corrected))
    .find(({ topics }) => topics.some(({ guessed }) => !guessed))

/** Characters of the longest Chinese question that is corrected though it says something. */
const longestCorrected = 10
/** Corrections of one text that are read. */
const mostCorrections = 2
/** Readings that say little: 皮肤样不样 is of the skin in general. */
const saysLittle = ({ kind, topics, asides }: ParsedUtterance): boolean =>
  topics.every(isGuessed) &&
  (['finding', 'courtesy', 'unmodelled', 'ambiguous', 'unclear'].includes(kind) ||
    (kind === 'aside' && asides.every((id) => id.endsWith('-general'))))

/** What a short Chinese text names with a homophone corrected, where as written it names nothing: 渡子疼不疼. */
function nameHomophone(
  lexicon: Lexicon,
  text: string,
  written: ParsedUtterance,
): ParsedUtterance | undefined {
  if (text.length > longestCorrected || !saysLittle(written)) return undefined
  return lexicon
    .correctHomophones(text)
    .slice(0, mostCorrections)
    .map((corrected) => interpretText(lexicon, corrected))
    .find(({ kind, topics }) => kind === 'finding' && !topics.some(isGuessed))
}

/** What is no more than a hesitation or the dots of a pause. */
const silence: ParsedUtterance = {
  questions: 0,
  topics: [],
  loose: [],
  asides: [],
  kind: 'courtesy',
  speech: 'backchannel',
}

/** Whether nothing is left of an utterance without its hesitations. */
const isSilence = (text: string, utterance: string): boolean =>
  !/[\p{L}\p{N}]/u.test(text) &&
  (/[\p{L}\p{N}]/u.test(utterance) || /^\s*[.,…][\s.,…]*$/.test(utterance))

/** Words of the longest English text that is looked at for typing errors though it reads as a courtesy. */
const longestMisspelt = 12
const isShortText = (text: string): boolean => text.split(' ').length <= longestMisspelt

/** Interprets an utterance as written; if that fails, with its spelling and then its homophones corrected. */
function interpret(lexicon: Lexicon, utterance: string): ParsedUtterance {
  const whole = utterance.slice(0, maxLength)
  // An author's own question may repeat a word.
  const known = lexicon.exactQuestion(normaliseText(whole).text) !== undefined
  const text = known ? whole : expandPairs(plainWords(removeDisfluencies(whole)))
  if (isSilence(text, utterance)) return silence
  const written = interpretText(lexicon, text)
  const english = languageByScript(text) === 'en'
  const aside = written.kind === 'aside' && (english || !namesAside(lexicon, text))
  const guessed = written.topics.length > 0 && written.topics.every(isGuessed)
  const idle = english && written.speech === 'agreement'
  const misspelt = english && ['courtesy', 'open'].includes(written.kind) && isShortText(text)
  const doubtful = aside || (english && guessed) || idle || misspelt
  if (text.length > maxFuzzyLength) return written
  const meant = english ? undefined : nameHomophone(lexicon, text, written)
  if (meant) return meant
  if (!(doubtful || isVague(written)))
    return guessed ? (nameTopic(lexicon, text) ?? written) : written
  if (!doubtful && (isAside(lexicon, text) || namesNear(lexicon, text, written))) return written
  const spelt = lexicon.correctSpelling(text)
  const asked = findAttributes(normaliseText(text).text)
  const texts = [...(spelt === text ? [] : [spelt]), ...lexicon.correctHomophones(text)]
  for (const corrected of texts) {
    const understood = interpretText(lexicon, corrected)
    const named = understood.kind === 'finding' && !understood.topics.every(isGuessed)
    const better = english ? named : understood.kind === 'finding'
    // A correction that leaves nothing of a question has lost it, one that leaves only "where?" what it is about.
    const lost =
      (understood.kind === 'courtesy' && written.questions > 0) ||
      (understood.kind === 'attribute' && understood.loose.every((one) => asked.includes(one)))
    if (doubtful ? better : !isVague(understood) && !lost) return understood
  }
  return written
}

/** Adds the findings of clauses that name none without small words inside the phrase. */
function addInterrupted(
  lexicon: Lexicon,
  read: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
): readonly PhraseMatch<LexiconEntry>[] {
  const tree = lexicon.tree(read.text)
  const more = read.clauses
    .filter(({ start, end }) => !matches.some((one) => one.start < end && one.end > start))
    .flatMap((clause) => findInterrupted(tree, read.text, clause).filter(isFindingMatch))
  return more.length === 0 ? matches : [...matches, ...more].sort((a, b) => a.start - b.start)
}

const exampleWord = / (?:like|such as|for example|for instance|eg) (?!(?:this|that|it|before)\b)/

/** Drops the examples of what is asked: "Any long-term illness, such as diabetes?". */
function dropExamples(
  sentences: readonly Sentence[],
  matches: readonly PhraseMatch<LexiconEntry>[],
): readonly Sentence[] {
  return sentences.flatMap((sentence, s) => {
    const at = act.example.exec(sentence.text)?.index
    if (at === undefined || !/\p{Script=Han}/u.test(sentence.text)) return [sentence]
    const before = at === 0 ? sentences[s - 1] : sentence
    const from = before?.start ?? 0
    const end = at === 0 ? (before?.end ?? 0) : sentence.start + at
    if (!matches.some((match) => match.start >= from && match.end <= end)) return [sentence]
    return at === 0 ? [] : [{ ...sentence, end, text: sentence.text.slice(0, at) }]
  })
}

/** Keeps of an English question for anything else only its examples: "Any other symptoms, like a rash?". */
function keepExamples(sentence: Sentence, matches: readonly PhraseMatch<LexiconEntry>[]): Sentence {
  const word = exampleWord.exec(sentence.text)
  if (!word || !act.openQuestion.test(sentence.text.slice(0, word.index))) return sentence
  const start = sentence.start + word.index + word[0].length
  const named = matches.some((match) => isFindingMatch(match) && match.start >= start)
  return named
    ? { ...sentence, start, text: sentence.text.slice(start - sentence.start) }
    : sentence
}

/** Asks whether it hurts, and not where. */
const barePain = /^(?:还|也|会|有点?)?(?:疼不疼|疼吗|疼么|疼)$/

/** Characters of the longest question that leaves out the part of the body it is about. */
const longestBareQuestion = 8

/** What a brief Chinese question asks of the part of the body that the one before it named: 眼睛红不红，分泌物多不多. */
function inRegion(
  lexicon: Lexicon,
  meaning: SentenceMeaning,
  text: string,
  before: readonly Sentence[],
): SentenceMeaning {
  const [topic, ...more] = meaning.topics
  const guess = topic?.guessed ? topic.finding : topic ? undefined : meaning.near
  const [region, ...others] = new Set(before.flatMap((one) => regionsIn(one.text)))
  if (more.length > 0 || !region || others.length > 0 || regionsIn(text).length > 0) return meaning
  if (text.length > longestBareQuestion || languageByScript(text) === 'en') return meaning
  // 有没有味儿 is of the breath only where nothing else was named.
  const bare = guess === undefined && !topic && (meaning.asides.length === 1 || barePain.test(text))
  if (
    !bare &&
    (guess === undefined || !isElsewhere(lexicon.knowledge, guess, region.word.zh, true))
  )
    return meaning
  const { topics, asides } = interpretText(lexicon, region.word.zh + text)
  if (bare && (topics.length === 0 || topics.some(isGuessed))) return meaning
  return { ...nothing, topics, asides }
}

/** What a part of a sentence asks as a question of its own, whatever the others are. */
function readAlone(lexicon: Lexicon, text: string): SentenceMeaning {
  const read = normaliseText(text)
  const [sentence, ...more] = splitSentences(read)
  if (!sentence || more.length > 0) return nothing
  const asked = lexicon.exactQuestion(read.text)
  if (asked !== undefined) return { ...nothing, topics: [{ finding: asked }] }
  const matches = findPhrases(lexicon.tree(read.text), read).filter(
    ({ start }) => !isInsideWord(read.text, start),
  )
  const whole = { ...sentence, inquires: true }
  return interpretSentence(
    matchPhrases(lexicon, read, whole, addInterrupted(lexicon, read, matches), false),
  )
}

/** What the sentences of a text ask, and the phrases in it. */
function readSentences(lexicon: Lexicon, read: NormalisedText, sentences: readonly Sentence[]) {
  const phrases = findPhrases(lexicon.tree(read.text), read)
  const written = dropCrossClauseMatches(read, phrases).filter(
    ({ start }) => !isInsideWord(read.text, start),
  )
  const matches = addInterrupted(lexicon, read, written)
  const inquiring = sentences.filter(({ inquires }) => inquires)
  const heard = dropExamples(inquiring.length > 0 ? inquiring : sentences, matches).map((one) =>
    keepExamples(one, matches),
  )
  const theirs = aboutRelatives(sentences)
  const relatives = heard.map(({ end }) =>
    sentences.some((one, s) => one.end === end && theirs[s] === true),
  )
  const meanings = heard.map((s, h) => {
    const phrased = matchPhrases(lexicon, read, s, matches, relatives[h] === true)
    const meaning = interpretSentence({ ...phrased, alone: (text) => readAlone(lexicon, text) })
    return inRegion(lexicon, meaning, s.text, heard.slice(0, h))
  })
  return { matches, meanings, heard }
}

/** The topics of each of several sentences. */
const topicsBySentence = (
  lexicon: Lexicon,
  read: NormalisedText,
  { matches, meanings, heard }: ReturnType<typeof readSentences>,
): readonly (readonly Topic[])[] =>
  meanings.map((one, h) => [
    ...one.topics,
    ...resolveAttributes(lexicon, one.loose, meanings.slice(0, h), () =>
      mentionedBefore(lexicon, read, matches, heard[h]!.start),
    ),
  ])

/** The topics of several sentences, without those that the whole text makes unlikely. */
function collectTopics(
  lexicon: Lexicon,
  read: NormalisedText,
  { matches, meanings, heard }: ReturnType<typeof readSentences>,
): readonly Topic[] {
  const named = topicsBySentence(lexicon, read, { matches, meanings, heard })
    .flat()
    .filter((topic, i, all) => all.findIndex((other) => sameTopic(other, topic)) === i)
  // Two questions that name what they ask are two.
  const asked = meanings.filter(({ topics }) => topics.length > 0)
  const sure = asked.length === named.length && !named.some(isGuessed)
  const english = languageByScript(read.text) === 'en'
  if (sure && !english) return named
  const apart = meanings.filter(({ topics }) => topics.length === 1 && !topics.some(isGuessed))
  // So does a detail of what was named before: "Can't sit still? Since when?".
  const details = english ? named.filter(({ of }) => of !== undefined) : []
  const ids = [
    ...details,
    ...apart.flatMap(({ topics }) => topics),
    ...named.filter(({ joined }) => joined),
  ]
    .map(({ finding }) => finding)
    .filter((id) => english || isWholeIllness(lexicon.knowledge, id))
  return dropUnlikely(lexicon, read, matches, named, new Set(ids))
}

/** Attributes that a question asks for before a complaint is named: "How many days now? Is the fever worse at night?" */
const isUnbound = (lexicon: Lexicon, meanings: readonly SentenceMeaning[], h: number): boolean =>
  meanings[h]!.topics.length === 0 &&
  resolveAttributes(lexicon, meanings[h]!.loose, meanings.slice(0, h), () => undefined).length === 0

/** The questions of an utterance of several, and which of them got nothing out of the reading as a whole. */
function partsOf(
  lexicon: Lexicon,
  read: NormalisedText,
  given: ReturnType<typeof readSentences>,
  topics: readonly Topic[],
): Pick<ParsedUtterance, 'parts'> {
  const { heard, meanings } = given
  if (heard.length < 2 || !heard.every(({ inquires }) => inquires)) return {}
  const own = topicsBySentence(lexicon, read, given)
  const taken = new Set<Topic>()
  const parts = heard.map(({ text }, h): QuestionPart => {
    const kept = topics.filter(
      (topic) => !taken.has(topic) && own[h]?.some((one) => sameTopic(one, topic)),
    )
    for (const topic of kept) taken.add(topic)
    const asides = meanings[h]?.asides ?? []
    // A guess may give way to what was spoken of.
    const guessed = kept.length > 0 && kept.every(isGuessed) && isShort(text)
    return {
      text,
      topics: kept,
      asides,
      open: asides.length === 0 && (own[h]?.length === 0 || guessed),
    }
  })
  return { parts }
}

/** What a recap names, whether it is so or not; undefined for a text that is none. */
function readSummary(
  lexicon: Lexicon,
  read: NormalisedText,
): Pick<ParsedUtterance, 'kind' | 'topics' | 'recap' | 'speech'> | undefined {
  const frame = readRecap(read)
  if (!frame) return undefined
  const named = dropCrossClauseMatches(read, findPhrases(lexicon.tree(read.text), read))
    .filter(isFindingMatch)
    .filter(({ start, value }) => start < frame.end && isPlain(lexicon, value.id))
  if (named.length === 0 && !frame.sure) return undefined
  const topics = [...new Set(named.map(({ value }) => value.id))].map((finding) => ({ finding }))
  const denied = named
    .filter(
      ({ start, end, value }) =>
        isNegated(read, start, end) ||
        saysAbsent(read.text.slice(start, end), lexicon.knowledge.finding.get(value.id)!.name.en),
    )
    .map(({ value }) => value.id)
  const recap = { denied: new Set(denied), invites: frame.invites }
  return topics.length > 0 || frame.invites
    ? { topics, recap, kind: 'finding' }
    : { topics, kind: 'courtesy', speech: 'confirm' }
}

/** Whether a finding is there or not, as the patient knows. */
function isPlain({ knowledge }: Lexicon, id: string): boolean {
  const { type, knownBy } = knowledge.finding.get(id) ?? {}
  return type === 'bool' && knownBy === 'patient'
}

/** "How long have you had it, and does it come and go?" asks for a detail of the topic beside the whole illness. */
function besideTopics(
  lexicon: Lexicon,
  { text }: NormalisedText,
  topics: readonly Topic[],
  meanings: readonly SentenceMeaning[],
): Pick<ParsedUtterance, 'loose' | 'about'> | undefined {
  const whole = topics.every(({ finding, of }) => !of && isWholeIllness(lexicon.knowledge, finding))
  const unbound = meanings.filter((_, h) => whole || isUnbound(lexicon, meanings, h))
  const asked = new Set(topics.map(({ attribute }) => attribute))
  const loose = [...new Set(unbound.flatMap((one) => one.loose))].filter((one) => !asked.has(one))
  return loose.length > 0 ? { loose, about: text } : undefined
}

/** The topics of an opening that want an answer beside the complaint. */
const withoutCourtesies = ({ knowledge }: Lexicon, asides: readonly string[]): readonly string[] =>
  asides.filter((id) => knowledge.aside.get(id)?.act === undefined)

const empty = { topics: [], loose: [], asides: [] } as const

/** Interprets a question of the knowledge base as its author wrote it. */
function interpretWritten({ knowledge }: Lexicon, text: string, asked: string): ParsedUtterance {
  if (asksPastTest(knowledge, text, [asked]))
    return { ...empty, questions: 1, asides: [testsAside], kind: 'aside' }
  const topic = findingTopic(knowledge, asked, [], true, noMatch)
  return { ...empty, questions: 1, topics: [topic], kind: 'finding' }
}

/** Interprets a text as it is written. */
function interpretText(lexicon: Lexicon, text: string): ParsedUtterance {
  const read = normaliseText(text)
  const asked = lexicon.exactQuestion(read.text)
  if (asked !== undefined) return interpretWritten(lexicon, read.text, asked)
  lexicon.compilePatterns(text)
  const sentences = joinTags(splitSentences(read))
  const questions = sentences.reduce((sum, s) => sum + s.questions, 0)
  const none = { ...empty, questions }
  if (act.injection.test(read.text)) return { ...none, kind: 'injection' }
  const summed = readSummary(lexicon, read)
  if (summed) return { ...none, questions: Math.max(1, questions), ...summed }
  if (asksConsent(read)) return { ...none, kind: 'courtesy', speech: 'consent' }
  return interpretSentences(lexicon, read, sentences, none)
}

/** Words of the shortest English statement that is no name or answer repeated: "Hyperthyroid." */
const fewestTold = 4

/**
 * Whether an English text tells: of several sentences none ends in a question mark, and the last one does not begin as a
 * question. What is typed without any mark may ask.
 */
function onlyTells({ text, clauses }: NormalisedText, sentences: readonly Sentence[]): boolean {
  if (languageByScript(text) !== 'en' || clauses.some(({ mark }) => mark === 'question'))
    return false
  const last = sentences.at(-1)?.text ?? ''
  if (act.isRequest(last) || text.split(' ').length < fewestTold) return false
  return clauses.length > 1 && !(act.isQuestionClause(last) || act.hasQuestionWord(last))
}

/**
 * What a sentence asks of the symptom that the sentences before it only mention: nobody asks back whether that is meant.
 * "Double vision, you say. Does it go away if you cover one eye?"
 */
function ofMentioned(
  lexicon: Lexicon,
  read: NormalisedText,
  { matches, meanings, heard }: ReturnType<typeof readSentences>,
  n: number,
): Pick<ParsedUtterance, 'kind' | 'topics' | 'of'> | undefined {
  const [near, sentence] = [meanings[n]?.near, heard[n]]
  // Only what is told, not what is asked.
  const told = matches.filter(
    (one) => !heard.some(({ start, end }) => start <= one.start && one.start < end),
  )
  const of = near && sentence && mentionedBefore(lexicon, read, told, sentence.start)
  if (near === undefined || of === undefined) return undefined
  const { knowledge } = lexicon
  const here = regionOf(knowledge, of)
  if (near === of || (here !== undefined && regionOf(knowledge, near) === here))
    return { kind: 'unmodelled', topics: [], of }
  const { attribute } = knowledge.finding.get(near) ?? {}
  return attribute !== undefined && lexicon.ancestors.get(near)?.has(of)
    ? { kind: 'finding', topics: [{ finding: near, of, attribute, guessed: true }] }
    : undefined
}

/** The habit or allergy that a sentence takes for granted. */
function grantedIn(meanings: readonly SentenceMeaning[]): Pick<ParsedUtterance, 'granted'> {
  const granted = meanings.find((one) => one.granted !== undefined)?.granted
  return granted === undefined ? {} : { granted }
}

/** Interprets a text that is neither a recap nor a plan, by its sentences. */
function interpretSentences(
  lexicon: Lexicon,
  read: NormalisedText,
  sentences: readonly Sentence[],
  none: Pick<ParsedUtterance, 'topics' | 'loose' | 'asides' | 'questions'>,
): ParsedUtterance {
  const heard = readSentences(lexicon, read, sentences)
  const { matches, meanings } = heard
  const topics = collectTopics(lexicon, read, heard)
  const asides = [...new Set(meanings.flatMap((one) => one.asides))]
  const parts = partsOf(lexicon, read, heard, topics)
  if (topics.length > 0) {
    const about = besideTopics(lexicon, read, topics, meanings)
    return { ...none, topics, asides, ...about, ...parts, kind: 'finding' }
  }
  if (meanings.some(({ opens }) => opens))
    return { ...none, asides: withoutCourtesies(lexicon, asides), ...parts, kind: 'open' }
  if (asides.length > 0) return { ...none, asides, ...parts, ...grantedIn(meanings), kind: 'aside' }
  const found = classifyAct(read.text, sentences, matches)
  if (found.kind === 'exam-request' && lexicon.knowledge.aside.has(testsAside))
    if (sentences.some(({ inquires, text: one }) => inquires && act.pastExam.test(one)))
      return { ...none, asides: [testsAside], kind: 'aside' }
  const loose = [...new Set(meanings.flatMap((one) => one.loose))]
  const vague = ['unclear', 'courtesy', 'unmodelled'].includes(found.kind)
  if (vague && loose.length > 0)
    return { ...none, loose, about: read.text, ...parts, kind: 'attribute' }
  if (vague && found.kind !== 'courtesy' && onlyTells(read, sentences))
    return { ...none, ...parts, kind: 'courtesy', speech: 'agreement' }
  const nearest = meanings.findIndex((one) => one.near !== undefined)
  const near = meanings[nearest]?.near
  const expects = expectation(sentences)
  const unread = ['unclear', 'unmodelled'].includes(found.kind)
  const mentioned = unread && ofMentioned(lexicon, read, heard, nearest)
  if (mentioned) return { ...none, ...mentioned, expects, ...parts }
  // A long turn is told or explained more than it is asked: nobody asks back what every word of it meant.
  const long = languageByScript(read.text) === 'en' && read.text.length > longTurn
  if (near !== undefined && !long && unread)
    return { ...none, near, expects, ...parts, kind: 'ambiguous' }
  return { ...none, ...found, ...parts, ...(found.kind === 'unmodelled' ? { expects } : {}) }
}

const interpreters = perKnowledge((knowledge) => {
  const { atOnce, whenReady } = getLexicons(knowledge)
  const reader = (lexicon: Lexicon): TextReader => ({
    parse: memoizeText((utterance: string) => interpret(lexicon, utterance), cacheBounds),
    alike: (text) => lexicon.findSimilar(text),
    named: memoizeText(
      (text) =>
        findPhrases(lexicon.tree(text), normaliseText(text))
          .filter(isFindingMatch)
          .map(({ value }) => value.id),
      cacheBounds,
    ),
    namesAside: (text) => namesAside(lexicon, text),
    isWritten: memoizeText((text) => lexicon.exactQuestion(text) !== undefined, cacheBounds),
  })
  return { atOnce: reader(atOnce), whenReady: reader(whenReady) }
})

/** Reads texts without a dialogue: a pure function of the knowledge base and the text, in bounded time. */
export const textReader = (knowledge: Knowledge): TextReader => interpreters(knowledge).atOnce

/** Interprets an utterance: a pure function of the knowledge base and the text, in bounded time. */
export const understand = (knowledge: Knowledge, utterance: string): ParsedUtterance =>
  textReader(knowledge).parse(utterance)

/**
 * Gives what `use` makes of a reader of texts, without holding up the event loop: a promise where a part of the lexicon
 * is needed for the first time, and is made in slices, or where there are many callers at once.
 * @param use pure: it is called again where a part was not there yet
 */
export const readInSlices = <T>(
  knowledge: Knowledge,
  use: (reader: TextReader) => T,
): T | Promise<T> =>
  inTurn(() => {
    try {
      return use(interpreters(knowledge).whenReady)
    } catch (error) {
      if (!(error instanceof NotReady)) throw error
      return error.prepare().then(() => readInSlices(knowledge, use))
    }
  })
