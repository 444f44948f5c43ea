/**
 * Interprets one sentence of a doctor's utterance: by an exact question, the phrases it names, or similarity.
 * Long because each way of reading a sentence gives way to the next one, in an order that is seen best in one place.
 */
import type { NormalisedText, PhraseMatch } from '../../../text/phrase-search.js'
import * as act from './acts.js'
import { isQuestionClause } from './acts.js'
import { asideLeads, asidesOfRelatives, asideValue, findAsides, isAsideMatch } from './asides.js'
import {
  type AskedAttribute,
  findAttributes,
  isGeneric,
  isPersonal,
  looseAttribute,
  removeAttributes,
  stripGenericWords,
} from './attributes.js'
import { opensVisit } from './chinese/openings.js'
import { familyIllness, healthOfSpouse, illnessesOfRelatives } from './chinese/relatives.js'
import { treatmentAsked } from './chinese/treatment.js'
import {
  askedOfSelf,
  asksOfTests,
  asksTreatment,
  changesAsked,
  namedTrigger,
  testsAside,
  triedAside,
} from './english/beside-symptoms.js'
import { spokenTopic } from './english/spoken-topics.js'
import { checksDuration } from './english/spoken-turns.js'
import { isEvident } from './evidence/evidence.js'
import { matchFindingList } from './finding-list.js'
import type { FindingMatch, PhrasedSentence } from './finding-match.js'
import {
  chooseFinding,
  guessFinding,
  isFindingMatch,
  languageByScript,
  minComplaintScore,
  nearestFinding,
  removeMatches,
} from './finding-match.js'
import { attributeTopic, findingTopic, isWholeIllness } from './focus.js'
import { sequelAtOnce } from './follow-ups/at-once.js'
import { namesRegion } from './follow-ups/regions.js'
import type { Lexicon, LexiconEntry } from './lexicon.js'
import { nothing, type SentenceMeaning } from './parsed-utterance.js'
import {
  contactFinding,
  findContact,
  isAddress,
  isOfAnother,
  namesPeople,
  nearestFamily,
} from './people.js'

import type { Sentence } from './sentences.js'
import type { SimilarityMatch } from './similarity.js'

/** Added to the thresholds of similarity where the sentence is likely to be about something else. */
const doubtPenalty = 0.3
/** Added to them where the sentence names something that no finding answers. */
const asidePenalty = { zh: 0.15, en: 0.3 } as const
/** Share of a sentence that phrases of such topics cover, from which it is about them alone. */
const mostCovered = 0.85
/** Taken off them where the sentence names a broad topic that the finding belongs to. */
const belongsBonus = 0.25
/** Added, too, times the share of a Chinese sentence that names it: the more of it, the surer. */
const asideShare = 0.5
/** How far a topic named in a Chinese sentence may be below the best value, to be what it asks. */
const maxAsideLag = 0.1
/** Least score of such a topic at which the sentence is its own question, whatever else is near. */
const ownAsideScore = 0.9
/** Characters of the longest text that similarity and spelling correction are used for. */
export const maxFuzzyLength = 160

/** Whether a finding can be asked for: one about relatives in a sentence about relatives, any in another. */
const fitsPerson = (lexicon: Lexicon, relatives: boolean, text: string) => {
  const own = !relatives && !namesPeople(text)
  return (id: string): boolean =>
    lexicon.familyFindings.has(id) ? !own : !relatives || id === contactFinding
}

/** A similarity match computed on first use: building its index takes a while. */
function lazyMatch(alike: () => SimilarityMatch): SimilarityMatch {
  let made: SimilarityMatch | undefined
  const similarity = (): SimilarityMatch => {
    made ??= alike()
    return made
  }
  return {
    get value() {
      return similarity().value
    },
    get score() {
      return similarity().score
    },
    get next() {
      return similarity().next
    },
    scoreOf: (id) => similarity().scoreOf(id),
    bestOf: (fits) => similarity().bestOf(fits),
    shareOf: (values) => similarity().shareOf(values),
  }
}

/** What similarity finds where it is not asked. */
export const noMatch: SimilarityMatch = {
  value: undefined,
  score: 0,
  next: 0,
  scoreOf: () => 0,
  bestOf: () => 0,
  shareOf: () => 0,
}

/** As much of a text as similarity is used for: what follows a long question mostly explains it. */
function beginning(text: string): string {
  if (text.length <= maxFuzzyLength) return text
  const space = text.lastIndexOf(' ', maxFuzzyLength)
  return text.slice(0, space > 0 ? space : maxFuzzyLength)
}

/** Compares two times of the day: 早上好一点晚上重一点. */
const bothTimes =
  /(?:早上|早晨|白天|上午)[^几]{0,6}[好轻重厉][^几]{0,6}(?:晚上|夜里|下午|傍晚)[^几]{0,3}[好轻重厉]/

/** The attributes a sentence asks for without naming a complaint, as a whole or clause by clause. */
function sentenceAttributes({
  read: { text, clauses },
  sentence,
  here,
}: PhrasedSentence): readonly AskedAttribute[] {
  if (bothTimes.test(sentence.text) && !here.some(isFindingMatch)) return ['timing']
  const whole = checksDuration(sentence.text) ? 'duration' : looseAttribute(sentence.text)
  if (whole !== undefined) return [whole]
  const parts = clauses
    .filter(({ start, end }) => start >= sentence.start && end <= sentence.end)
    .map(({ start, end }) => looseAttribute(text.slice(start, end)))
  const loose = parts.flatMap((attribute) => attribute ?? [])
  // "Where does it hurt, can you show me?"
  const named = here.length > 0 || languageByScript(sentence.text) === 'en'
  return loose.length === parts.length || !named ? loose : []
}

/** Selects the phrase matches of one sentence. */
export function matchPhrases(
  lexicon: Lexicon,
  read: NormalisedText,
  sentence: Sentence,
  all: readonly PhraseMatch<LexiconEntry>[],
  relatives: boolean,
): PhrasedSentence {
  const { start, end, text } = sentence
  const here = all.filter(
    (match) =>
      match.start >= start && match.start < end && !isAddress(read.text, match.start, match.end),
  )
  const fitsSentence = fitsPerson(lexicon, relatives, text)
  const fits = (id: string): boolean => lexicon.knowledge.finding.has(id) && fitsSentence(id)
  const found = here
    .filter(isFindingMatch)
    .filter(
      ({ value, start: from, end: to }) =>
        fits(value.id) || act.family.test(read.text.slice(from, to)),
    )
    // What follows "such as" only explains what came before.
    .filter(({ start: from }, m) => m === 0 || !act.example.test(text.slice(0, from - start)))
  const similarity = lazyMatch(() => lexicon.findSimilar(beginning(text)))
  return { lexicon, read, sentence, similarity, fits, here, found, relatives }
}

/** A part of a sentence; `whole` where nothing in it can be what is asked for. */
interface ExcludedPart {
  readonly from: number
  readonly to: number
  readonly whole: boolean
  /** Nothing in it is a member of a list. */
  readonly skipped?: boolean
}

const latin = /\p{Script=Latin}/u
/** A circumstance that the sentence begins with: "And with this headache, have you …". */
const fronted =
  /^(?:(?:and|so|but|ok|okay|now) ){0,2}(?:along )?with (?=(?:this|that|the|your|these)\b)/
/** The time that a sentence begins with. */
const atStart =
  /^(?:(?:and|so|but|ok|okay|now) ){0,2}(?:(?:thinking|going) back to )?(?:just |right )?(?:when|before|around when) (?:it|this|that|all this|all of this|they|(?:the|your) (?!last\b)\w+) (?:\w+ )?(?:came on|comes on|started|began|happened)\b/

/** The part of a sentence that excludes something: "apart from the cough, …". */
function excludedPart({
  read: { clauses },
  sentence: { start, end, text },
}: PhrasedSentence): ExcludedPart | undefined {
  const clause = clauses.find((one) => one.start === start && one.end < end)
  // "When it came on, did you go clammy?"
  if (clause && atStart.test(text))
    return { from: 0, to: clause.end - start, whole: false, skipped: true }
  const word = act.exclusion.exec(text) ?? fronted.exec(text)
  if (!word) return undefined
  const before = /之外|以外/.test(word[0])
  if (before) return { from: 0, to: word.index, whole: false }
  const length = act.excludedEnd.exec(text.slice(word.index + word[0].length))?.index
  return {
    from: word.index,
    to: length === undefined ? text.length : word.index + word[0].length + length,
    whole: length !== undefined && latin.test(text) && act.exclusion.test(text),
    skipped: latin.test(text) && act.exclusion.test(text),
  }
}

/** Of the asides of a sentence about somebody else, those that are not about the patient's own illnesses. */
function ofPerson({ lexicon, sentence, relatives }: PhrasedSentence, asides: readonly string[]) {
  if (asides.length < 2 && isOfAnother(sentence.text)) return asides
  if (!relatives && !isOfAnother(sentence.text)) return asides
  const isOwn = (id: string) =>
    lexicon.knowledge.aside.get(id)?.also?.some((one) => !lexicon.familyFindings.has(one))
  const others = asides.filter((id) => !isOwn(id))
  return others.length > 0 || !isOfAnother(sentence.text) ? others : asides
}

/** The finding that the patient takes a medicine. */
const regularMedicine = 'regular-medication'
/** The topic that a question about relatives is about, where none of its words is known. */
const relativesAside = 'family-health'

/** What a sentence asks about other people than the patient that a finding or a topic of its own answers. */
function askedOfOthers(
  given: PhrasedSentence,
  illnesses: readonly string[] | undefined,
): SentenceMeaning | undefined {
  const contact = findContact(given)
  const spouse = contact === undefined ? healthOfSpouse(given) : undefined
  if (spouse !== undefined) return { ...nothing, asides: [spouse] }
  const family = contact ?? (illnesses ? undefined : nearestFamily(given))
  const asked = contact === undefined && illnesses ? illnesses : family ? [family] : []
  const { knowledge } = given.lexicon
  const topics = asked.map((id) => findingTopic(knowledge, id, [], true, noMatch))
  return topics.length > 0 ? { ...nothing, topics } : undefined
}

/** What a sentence asks about what was taken or done for the complaint; undefined for another. */
function askedOfTreatment(given: PhrasedSentence): SentenceMeaning | undefined {
  const { knowledge, exactQuestion } = given.lexicon
  const treatment = treatmentAsked(given)
  if (treatment === 'taking' && knowledge.finding.has(regularMedicine))
    return { ...nothing, topics: [{ finding: regularMedicine }] }
  const asks = treatment || (!exactQuestion(given.sentence.text) && asksTreatment(given))
  return knowledge.aside.has(triedAside) && asks ? { ...nothing, asides: [triedAside] } : undefined
}

/** The topic of whether the complaint was there before. */
const everBefore = 'ever-before'
/** Asks of what is there now whether it was there before: 这个疹子以前起过没有. */
const nowAndBefore =
  /这(?:个|种|样|些|次)[^，]{0,8}(?:以前|从前|过去|原来|之前)[^，]{0,4}过(?:没有?|吗|么)?$/

/** What a Chinese sentence about a symptom asks that is only whether it was there before. */
function askedOfBefore(
  { lexicon: { knowledge }, sentence: { text, inquires } }: PhrasedSentence,
  { topics }: SentenceMeaning,
): SentenceMeaning | undefined {
  if (!inquires || !nowAndBefore.test(text) || !knowledge.aside.has(everBefore)) return undefined
  const symptoms = topics.every(({ finding }) => knowledge.finding.get(finding)?.kind === 'symptom')
  return symptoms ? { ...nothing, asides: [everBefore] } : undefined
}

/** What a sentence asks of a habit or an allergy beyond whether it is there: 戒过烟没有. */
function grantedBy(
  { lexicon, sentence: { text } }: PhrasedSentence,
  { topics, asides }: SentenceMeaning,
): SentenceMeaning | undefined {
  const [topic, ...more] = topics
  if (!topic || more.length + asides.length > 0 || lexicon.exactQuestion(text) !== undefined)
    return undefined
  const id = sequelAtOnce(lexicon.knowledge, text, topic.finding)
  return id === undefined ? undefined : { ...nothing, asides: [id], granted: topic.finding }
}

/** The pain that a Chinese sentence begins with, and where its name ends: 胸疼一开始是怎么来的. */
function complaintOf({ lexicon, sentence, found }: PhrasedSentence) {
  const first = found.find(({ value }) => {
    const { kind, type, attribute, name } = lexicon.knowledge.finding.get(value.id) ?? {}
    return kind === 'symptom' && type === 'bool' && !attribute && /[疼痛]/.test(name?.zh ?? '')
  })
  return first && { id: first.value.id, end: first.end - sentence.start }
}

/** 月经什么时候来的 asks for the periods, and not when the patient came. */
const ofPeriods = /月经|例假|大姨妈/

/** Interprets one sentence: its findings, then what no finding answers. Long because each reading gives way to the next. */
export function interpretSentence(given: PhrasedSentence): SentenceMeaning {
  const { lexicon, sentence, here, relatives } = given
  const { text, inquires, fragment } = sentence
  const shown = spokenTopic(given)
  if (shown) return shown
  const known = lexicon.knowledge.aside
  const aside = zhAsides.find(([id, asks]) => known.has(id) && asks.test(text))?.[0]
  if (aside !== undefined && lexicon.exactQuestion(text) === undefined)
    return { ...nothing, asides: [aside] }
  const choice = onsetChoice.exec(text)
  const own = choice || goesTo.test(text) ? complaintOf(given) : undefined
  if (choice && own !== undefined && choice.index > own.end)
    return { ...nothing, topics: [attributeTopic(lexicon.knowledge, own.id, 'onset')] }
  if (choice && !here.some((match) => match.start - sentence.start < choice.index))
    return { ...nothing, loose: ['onset'] }
  if (goesTo.test(text) && inquires && lexicon.exactQuestion(text) === undefined)
    return own && !attributeTopic(lexicon.knowledge, own.id, 'radiation').missing
      ? { ...nothing, topics: [attributeTopic(lexicon.knowledge, own.id, 'radiation')] }
      : { ...nothing, loose: ['radiation'] }
  const illnesses = illnessesOfRelatives(given)
  const ofOthers = askedOfOthers(given, illnesses)
  if (ofOthers) return ofOthers
  if (lexicon.exactQuestion(text) === undefined && asksOfTests(given))
    return { ...nothing, asides: [testsAside] }
  // No finding about relatives is of an illness that the sentence names.
  const meaning = illnesses || asideLeads(given) ? nothing : interpretFindings(given)
  const visits = opensVisit(text) && !ofPeriods.test(text)
  if (visits && meaning.topics.every(({ guessed }) => guessed)) return { ...nothing, opens: true }
  const silent = !inquires && !(fragment && here.some(isAsideMatch))
  const says = here.some(isAsideMatch)
  if (act.asksDiagnosis(text)) return meaning
  if (silent || (!says && act.offer.test(text) && !act.isRequest(text))) return meaning
  const named = meaning.topics.length > 0
  const open = act.openQuestion.test(text) && !act.pastTrouble.test(text)
  if (!named && !says && (open || act.invitesQuestions.test(text))) return meaning
  // "Where did it start?" asks for a detail of the complaint, whatever other question it is like.
  if (meaning.loose.length > 0 && (!says || checksDuration(text))) return meaning
  const treatment = askedOfTreatment(given) ?? askedOfBefore(given, meaning)
  if (treatment) return treatment
  const granted = grantedBy(given, meaning)
  if (granted) return granted
  const other = named ? askedOfSelf(given, meaning) : []
  if (other.length > 0) return { ...nothing, asides: other }
  const spoken = findAsides(given, here, named, (id) => {
    const aside = known.get(id)
    return aside?.denied !== undefined && !aside.also
  })
  const changed = changesAsked(given, meaning, spoken)
  if (changed) return changed
  const theirs = relatives ? asidesOfRelatives(spoken, known) : spoken
  const broad = !theirs.some((id) => /^(?:family-(?!health)|genetic$)/.test(id))
  if (illnesses && broad && known.has(familyIllness)) return { ...nothing, asides: [familyIllness] }
  // How relatives are in general is no more than the finding about them that is named.
  const beside = relatives ? theirs.filter((id) => id !== relativesAside) : theirs
  // 哪只眼睛 names the eye only to ask which.
  const ofSide = !named && languageByScript(text) === 'zh' && findAttributes(text).includes('side')
  if (ofSide && inquires && beside.every((id) => /-general$/.test(id)))
    return { ...nothing, loose: ['side'] }
  const asides = [...new Set([...meaning.asides, ...(named ? beside : ofPerson(given, theirs))])]
  if (asides.length > 0) return named ? { ...meaning, asides } : { ...nothing, asides }
  if (named || !relatives || !inquires) return meaning
  // "Anyone in the family with shaky hands?" names what no finding about relatives is of.
  const illness = here.some(({ value }) => value.kind === 'finding') && known.has(familyIllness)
  const theirHealth = illness ? familyIllness : relativesAside
  return known.has(theirHealth) ? { ...nothing, asides: [theirHealth] } : meaning
}

/** What a sentence means that asks for findings, as members of a list or each by itself. */
type Topics = (ids: readonly string[], listed?: boolean) => SentenceMeaning

/** The attributes that each clause of a sentence asks for, one a clause: "How much did you lose, and since when?" */
function attributesApart({ read, sentence, found }: PhrasedSentence): readonly AskedAttribute[] {
  const inside = read.clauses.filter(
    ({ start, end }) => start >= sentence.start && end <= sentence.end,
  )
  const wanted = inside.flatMap(({ start, end }) => {
    const here = found.filter((one) => one.start >= start && one.end <= end)
    return findAttributes(removeMatches(read.text.slice(start, end), start, here))[0] ?? []
  })
  return [...new Set(wanted)]
}

/** "Can you show me where it itches?" has the form of a yes-or-no question only. */
const asksToTell =
  /\b(?:can|could|would|will) you (?:just |please |maybe )*(?:show|tell|point|say|describe|explain|remember)\b/

const allTheTime = /\ball the t(?:ime|iem|im)\b/

/** Interprets one sentence: by an exact question, the phrases it names, or similarity. */
function interpretFindings(given: PhrasedSentence): SentenceMeaning {
  const { lexicon, sentence, similarity, found } = given
  const { start, end, text, inquires, fragment } = sentence
  const whole = found.find((match) => match.start === start && match.end >= end)
  const exact = lexicon.exactQuestion(text)
  const offers = act.offer.test(text) && !act.isRequest(text)
  if (!exact && !whole && ((!inquires && !fragment) || offers)) return nothing
  if (exact !== undefined)
    return { ...nothing, topics: [findingTopic(lexicon.knowledge, exact, [], true, noMatch)] }
  const details = found.filter(({ value }) => isWholeIllness(lexicon.knowledge, value.id))
  const english = languageByScript(text) === 'en'
  // "Tired all the time?" asks whether it is there.
  const idle = english && allTheTime.test(text) && !/ or /.test(text)
  const wanted = [
    // "How long does it last when it comes?" is about one time.
    ...findAttributes(text).filter((one) => one === 'spell'),
    ...details.flatMap(({ value }) => lexicon.knowledge.finding.get(value.id)?.attribute ?? []),
    ...findAttributes(removeMatches(text, start, found)).filter(
      (one) => !(idle && one === 'pattern'),
    ),
  ]
  // "How long have you had the cough?" asks for its duration, whatever its form.
  const presence = isQuestionClause(text) && details.length === 0 && !asksToTell.test(text)
  const apart = presence ? [] : attributesApart(given)
  const topics: Topics = (ids, listed = false) => ({
    ...nothing,
    topics: ids.flatMap((id) => {
      const symptom = lexicon.knowledge.finding.get(id)
      if (apart.length > 1 && symptom?.kind === 'symptom' && symptom.attribute === undefined)
        return apart.map((attribute) => attributeTopic(lexicon.knowledge, id, attribute))
      const jargon = found.some(({ value }) => value.id === id && value.jargon)
      const known = found.some(({ value }) => value.id === id && !value.jargon)
      // "More breathless or tight in the chest?" asks for the two, not for what they are like.
      const details = listed && english && (presence || !act.hasQuestionWord(text)) ? [] : wanted
      const topic = findingTopic(lexicon.knowledge, id, details, presence, similarity)
      return jargon && !known ? { ...topic, jargon } : topic
    }),
  })
  return whole ? topics([whole.value.id]) : interpretNamed(given, details, topics)
}

/** Whether a Chinese sentence asks how long one time lasts. */
const zhSpell = (text: string): boolean =>
  languageByScript(text) === 'zh' && findAttributes(text).includes('spell')

/** How it began, of what was spoken of: 是一下子糊涂的还是一天天慢慢来的. */
const onsetChoice =
  /(?:一下子?|突然|忽然|猛地?)[^，]{0,8}，? ?还是[^，]{0,6}(?:慢慢|逐渐|渐渐|一点点|一天天)/

/** Topics by the form of a Chinese sentence: who the relative is, and injuries. */
const zhAsides: readonly (readonly [aside: string, asks: RegExp])[] = [
  [
    'companion',
    /^(?:你)?是?(?:不是)?(?:老人家?|孩子|宝宝|小朋友|他|她|患者|病人|老爷子|老太太|大爷|大妈|奶奶|爷爷)(?:的|家)?(?:妈妈?|爸爸?|儿子|女儿|闺女|老伴儿?|爱人|家属|家长|媳妇|孙子|孙女|奶奶|姥姥|爷爷)(?:吧|吗|么|是吧|对吧)$/,
  ],
  [
    'broken-bones',
    /^(?:你|最近|近来|前几天|这几天|之前|以前|有没有|是不是)*(?:(?:搬|抬|扛)过?重[东物]西?(?:或者?|和|、)?)?(?:(?:摔|磕|撞|砸|碰|扭)(?:着|到|伤)(?:或者?|和|、)?){1,3}[^疼，]{0,4}(?:过)?(?:没有?|吗|么)$/,
  ],
]

/** Where a pain goes, with parts of the body: 往胳膊、后背串不串. */
const goesTo = /(?:往|向|到)[^，]{1,16}(?:串|窜|放射|扩散|牵扯)(?!门|亲)/

/** What a question for the whole illness is about, where it says so: "has this been going on for six weeks?". */
const ofIllness = /\b(?:it|this|that|these|those|they|symptoms?|things?)\b|这|病|症状/

/** Words of asking a carer to tell about it. */
const askingZh = /宝宝|孩子|小朋友|老人家?|描述|样子|当时|刚[才刚]|哦/g

/** Whether a clause of a sentence asks for a finding by its name and nothing else: "…, do you feel sick?". */
function isNamedPlainly({ read, sentence, found }: PhrasedSentence, id: string): boolean {
  return read.clauses.some(({ start, end }) => {
    if (start < sentence.start || end > sentence.end) return false
    const text = read.text.slice(start, end)
    const here = found.filter((one) => one.start >= start && one.end <= end)
    const own = here.find(({ value }) => value.id === id)
    if (!own) return false
    const rest = removeMatches(text, start, here)
    if (languageByScript(text) === 'zh') return isGeneric(rest.replace(askingZh, ''))
    // "Any cough or flem?" names the cough, whatever the rest.
    const first = isGeneric(text.slice(0, own.start - start)) && text.slice(own.end - start)
    const plain = isGeneric(rest) || (first !== false && /^ (?:or|and) /.test(first))
    return isQuestionClause(text) && plain
  })
}

/** Interprets a sentence by the findings it names, where it is not about something else. */
function interpretNamed(
  given: PhrasedSentence,
  details: readonly FindingMatch[],
  topics: Topics,
): SentenceMeaning {
  const { sentence, found } = given
  const { start, text } = sentence
  const open =
    act.openQuestion.test(text) && !act.wholeIllness.test(text) && !act.pastTrouble.test(text)
  const excludes = excludedPart(given)
  const about = found.filter(
    (match) =>
      !details.includes(match) &&
      !(excludes && match.start - start >= excludes.from && match.end - start <= excludes.to),
  )
  // 一阵多长时间 is about one time, and not about the whole illness.
  const ofSpell = details.length === found.length && found.length > 0 && zhSpell(text)
  if (ofSpell) return { ...nothing, loose: ['spell'] }
  // "What has been going on?" is about the whole illness too, "anything apart from the fever?" about the rest.
  if (open && about.length === 0) return nothing
  const list = matchFindingList(given, about, excludes?.skipped ? excludes : undefined)
  if (list) {
    const meaning = topics(list.findings, true)
    const joined = meaning.topics.map((topic) =>
      list.joined.includes(topic.finding) ? { ...topic, joined: true } : topic,
    )
    return { ...meaning, topics: joined, asides: list.asides }
  }
  // What was excluded by name is not asked for, what a fronted "with …" names is where nothing else is.
  const named =
    about.length > 0 || (found.length > 0 && !excludes?.whole)
      ? chooseFinding(given, about.length > 0 ? about : found)
      : undefined
  if (named === undefined) return interpretUnnamed(given, topics)
  const plain =
    isGeneric(removeMatches(text, start, found)) ||
    isNamedPlainly(given, named) ||
    (isWholeIllness(given.lexicon.knowledge, named) && ofIllness.test(text))
  return plain || isEvident(given, named) ? topics([named]) : { ...nothing, near: named }
}

/** How far the same detail of another complaint may be below: more, and the sentence has words of its own. */
const maxRivalLag = 0.25

/** The best score of the same detail of another complaint. */
const rivalScore = ({ knowledge }: Lexicon, similarity: SimilarityMatch, id: string): number =>
  similarity.bestOf((other) => {
    const [one, detail] = [knowledge.finding.get(id), knowledge.finding.get(other)]
    return detail?.attribute === one?.attribute && detail?.parent?.finding !== one?.parent?.finding
  })

/** Least score of a detail, and least lead over that of another complaint, at which the sentence is sure to say of what. */
const boundScore = { score: 0.6, lead: 0.3 } as const

/** The detail that a sentence asks for, where it says in other words of which complaint. */
function boundDetail(
  { lexicon, sentence: { text }, similarity, fits }: PhrasedSentence,
  loose: readonly AskedAttribute[],
): string | undefined {
  // "How bad is the pain?" says of none.
  if (isGeneric(removeAttributes(text))) return undefined
  const { value, score } = similarity
  const { attribute, parent } = lexicon.knowledge.finding.get(value ?? '') ?? {}
  if (value === undefined || parent === undefined || !fits(value)) return undefined
  if (!loose.some((one) => one === attribute) || score < boundScore.score) return undefined
  return score - rivalScore(lexicon, similarity, value) >= boundScore.lead ? value : undefined
}

/** How much of what an English sentence says beside an attribute may be of a complaint that it does not name. */
const mostShared = 0.2

/** The attribute of a guessed detail, where the sentence asks for it and says nothing of the complaint. */
function unboundAttribute(
  { lexicon, sentence: { text }, similarity }: PhrasedSentence,
  id: string,
): AskedAttribute | undefined {
  const { attribute, parent } = lexicon.knowledge.finding.get(id) ?? {}
  if (attribute === undefined || parent === undefined) return undefined
  if (languageByScript(text) === 'en') {
    // "On a scale of one to ten, how bad is it?" is like the severity of a headache, and says of none.
    if (!findAttributes(text).includes(attribute) || namesRegion(text)) return undefined
    const rest = stripGenericWords(removeAttributes(text))
    const own = lexicon.findSimilar(rest).shareOf([id, parent.finding])
    return rest !== '' && own > mostShared ? undefined : attribute
  }
  if (similarity.scoreOf(parent.finding) >= minComplaintScore) return undefined
  const rival = rivalScore(lexicon, similarity, id)
  const bare = isGeneric(removeAttributes(text))
  if (!bare && similarity.scoreOf(id) - rival > maxRivalLag) return undefined
  const asked = findAttributes(text)
  return asked.includes(attribute) ? attribute : bare ? asked[0] : undefined
}

/** Added to the thresholds of a guess for the topics that a sentence names: they speak against every finding but their own. */
function topicDoubt({ lexicon, sentence, similarity, here, relatives }: PhrasedSentence): number {
  const named = here.filter(isAsideMatch)
  if (named.length === 0) return 0
  const { text } = sentence
  const language = languageByScript(text)
  const guess = nearestFinding(lexicon, similarity)
  const agrees = named.some(
    ({ value }) =>
      guess !== undefined && lexicon.knowledge.aside.get(value.id)?.also?.includes(guess),
  )
  // "Are you passing urine all right?" asks how that is in general.
  const inGeneral = language === 'zh' || relatives || act.asksIfInOrder(text)
  if (agrees) return inGeneral ? 0 : -belongsBonus
  return asidePenalty[language] + (language === 'zh' ? asideShare * coveredShare(named, text) : 0)
}

/** The share of a sentence that phrases cover. */
const coveredShare = (phrases: readonly PhraseMatch<unknown>[], text: string): number =>
  phrases.reduce((sum, { start, end }) => sum + end - start, 0) / text.length

/** Whether a sentence is about the topics it names alone, or as near to one as to a finding: 您做过手术吗. */
function isAboutTopics({
  lexicon,
  sentence: { text, start },
  similarity,
  here,
}: PhrasedSentence): boolean {
  const named = here.filter(isAsideMatch)
  if (languageByScript(text) === 'en') return coveredShare(named, text) >= mostCovered
  const nearest = nearestFinding(lexicon, similarity) ?? ''
  // 走路稳不稳 is what the topic of walking is about, too.
  const own = named.some(
    ({ value }) => !lexicon.knowledge.aside.get(value.id)?.also?.includes(nearest),
  )
  if (named.length > 0 && !own) return false
  // 开过刀没有 says nothing but its name.
  if (own && isGeneric(removeMatches(text, start, named))) return true
  const least = Math.min(similarity.score - maxAsideLag, ownAsideScore)
  return named.some(({ value }) => similarity.scoreOf(asideValue(value.id)) >= least)
}

/** Says an answer over again: "Yellow, OK." */
const echo = / (?:ok|okay|right|fine|good|great|sure|yeah|excellent)$/

/** Interprets a sentence that names no finding: an attribute of the focus, or the most similar finding. */
function interpretUnnamed(given: PhrasedSentence, topics: Topics): SentenceMeaning {
  const { sentence, here, relatives, similarity } = given
  const { text, inquires } = sentence
  const other =
    here.some((match) => !isFindingMatch(match) && !isAsideMatch(match)) ||
    act.diagnosisRequest.test(text)
  if (other && !act.history.test(text) && !relatives) return nothing
  const loose = sentenceAttributes(given)
  const example = loose.includes('aggravating') ? namedTrigger(given) : undefined
  if (example !== undefined) return topics([example])
  if (loose.length > 0) {
    const detail = boundDetail(given, loose)
    return detail === undefined ? { ...nothing, loose } : topics([detail])
  }
  if (isGeneric(text) || isPersonal(text) || isAboutTopics(given)) return nothing
  if (!inquires && echo.test(text)) return nothing
  const unsure = !inquires || (other && !relatives && !act.family.test(text))
  const { id, near } = guessFinding(given, unsure ? doubtPenalty : topicDoubt(given))
  const open = id === undefined ? undefined : unboundAttribute(given, id)
  if (open !== undefined) return { ...nothing, loose: [open] }
  if (id !== undefined && !isEvident(given, id)) return { ...nothing, near: id }
  if (id !== undefined) {
    const meaning = topics([id])
    return { ...meaning, topics: meaning.topics.map((topic) => ({ ...topic, guessed: true })) }
  }
  const nearest = near ? similarity.value : undefined
  return nearest === undefined ? nothing : { ...nothing, near: nearest }
}
