/** Drafts of the rule patient's replies: to one question, or to several in one utterance, one after the other. */
import type { FindingDefinition, Knowledge } from '../../knowledge/knowledge.js'
import type { PatientContext } from '../../patient.js'
import type { Language, RevealedFinding, Understanding } from '../../turn.js'
import { answerTopics, precedence, volunteerFindings } from './nlg/answer.js'
import type { AnswerDraft, AnswerInput } from './nlg/answer-input.js'
import { answerRecap } from './nlg/answer-recap.js'
import { answerAsides } from './nlg/aside-answers.js'
import { answerConversation, denyPain, ownIdea } from './nlg/conversation.js'
import { isPain } from './nlg/details.js'
import { isTactful, withholds } from './nlg/disclosure.js'
import { joinOnce, joinSentences, type Occasion, pickStockSentence } from './nlg/stock-sentences.js'
import { isQuestionClause } from './nlu/acts.js'
import { findAttributes, isGeneric } from './nlu/attributes.js'
import { languageByScript } from './nlu/finding-match.js'
import { followedSymptoms, followedTopic, type Topic } from './nlu/focus.js'
import { understandInContext } from './nlu/follow-ups/follow-up.js'
import { asksContent, isShort, type TextReader } from './nlu/follow-ups/question.js'
import type { ParsedUtterance, QuestionPart } from './nlu/parsed-utterance.js'

/** The stock sentence and the understanding of each dialogue act that asks about no finding. */
const occasions: {
  readonly [kind in Exclude<
    ParsedUtterance['kind'],
    'finding' | 'attribute' | 'aside' | 'unmodelled' | 'open' | 'advice' | 'courtesy'
  >]: readonly [Occasion, Understanding]
} = {
  'diagnosis-request': ['refused', 'refused'],
  injection: ['refused', 'refused'],
  'exam-request': ['exam-request', 'exam-only'],
  ambiguous: ['ambiguous', 'ambiguous'],
  unclear: ['unclear', 'unclear'],
}

/** "The pain" is one of the patient's pains, whatever the last topic was. */
const painWord = /\b(?:pains?|painful|aches?|aching|hurts?|hurting|sore)\b|疼|痛/i

const toId = ({ finding }: RevealedFinding): string => finding

/** The topics of an utterance. An attribute without a complaint is resolved to what is being talked about. */
function resolveTopics(
  knowledge: Knowledge,
  parsed: ParsedUtterance,
  context: PatientContext,
): readonly Topic[] {
  const said = context.dialogue.flatMap(({ reply }) => reply.told.map(toId))
  const spoken = [...followedSymptoms(knowledge, context), ...said]
  // 疼得厉害吗 of whoever has spoken of no pain is about what they have spoken of.
  const pain =
    painWord.test(parsed.about ?? '') &&
    (context.language === 'en' || spoken.some((id) => isPain(knowledge, id)))
  const loose = parsed.loose.flatMap(
    (attribute) =>
      followedTopic(knowledge, context, attribute, (id) => !pain || isPain(knowledge, id)) ?? [],
  )
  return [...parsed.topics, ...loose]
}

/** An answer with those to other topics of the same utterance before it: "What shall I call you? What brings you in?" */
function beside(asides: readonly string[], part: AnswerDraft, input: AnswerInput): AnswerDraft {
  if (asides.length === 0) return part
  const { sentences, told } = answerAsides(asides, input)
  const text = joinSentences([...sentences, part.text], input.context.language)
  return { ...part, text, told: [...told, ...part.told] }
}

/** The answer to an utterance that has been understood. */
function draftAnswer(
  parsed: ParsedUtterance,
  topics: readonly Topic[],
  most: number,
  complaints: readonly FindingDefinition[],
  input: AnswerInput,
): AnswerDraft {
  const { kind, recap } = parsed
  if (recap) {
    const checked = answerRecap(
      topics.map(({ finding }) => finding),
      recap,
      most,
      input,
    )
    if (!recap.invites) return checked
    const { context, utterance } = input
    const reply = { ...checked, asked: [], questions: 1 }
    const then = { ...context, dialogue: [...context.dialogue, { utterance, reply }] }
    const more = volunteerFindings(complaints, { ...input, context: then })
    return joinDrafts([checked, more], context.language)
  }
  if (kind === 'attribute' && topics.length === 0) return denyPain(input)
  if (kind === 'finding' || kind === 'attribute')
    return answerTopics(topics, most, input, parsed.asides)
  if (kind === 'open') return beside(parsed.asides, volunteerFindings(complaints, input), input)
  const granted = input.knowledge.finding.get(parsed.granted ?? '')
  if (granted && withholds(granted, input.utterance, input.context)) {
    const text = pickStockSentence('withheld', input.context, input.utterance)
    return { text, understood: 'withheld', told: [] }
  }
  const part = answerConversation(parsed, granted ? { ...input, granted: granted.id } : input)
  if (part) return part
  const [occasion, understood] = occasions[kind as keyof typeof occasions] // what `answerConversation` leaves
  const idea = kind === 'diagnosis-request' ? ownIdea(input.context) : undefined
  const text = idea ?? pickStockSentence(occasion, input.context, input.utterance)
  return { text, understood, told: [] }
}

/** Several drafts as one. */
function joinDrafts(drafts: readonly AnswerDraft[], language: Language): AnswerDraft {
  const said = [...new Set(drafts.map(({ text }) => text).filter((text) => text !== ''))]
  const plea = drafts.find((one) => one.plea)?.plea
  return {
    text: joinOnce(said, language),
    understood:
      precedence.find((rank) => drafts.some(({ understood }) => understood === rank)) ??
      drafts[0]?.understood ??
      'unclear',
    told: drafts.flatMap(({ told }) => told),
    ...(plea && { plea }),
  }
}

/** A draft, and the findings that were asked about. */
export interface DraftedReply {
  readonly draft: AnswerDraft
  readonly asked: readonly string[]
}

/** What drafts are made with. */
export interface Drafting {
  /** Questions answered at once. */
  readonly most: number
  /** What an open question may bring up. */
  readonly complaints: readonly FindingDefinition[]
  readonly reader: TextReader
}

/** Drafts the reply to an utterance that is one question, or is answered as one. */
function draftOne(
  parsed: ParsedUtterance,
  input: AnswerInput,
  { most, complaints }: Pick<Drafting, 'most' | 'complaints'>,
): DraftedReply {
  const { kind, of, recap } = parsed
  const topics = resolveTopics(input.knowledge, parsed, input.context)
  const draft = draftAnswer(parsed, topics, most, complaints, input)
  const named = [...topics.map(({ finding }) => finding), ...(of === undefined ? [] : [of])]
  // What the patient tells beside the question was asked for with it.
  const told = kind === 'open' || recap?.invites ? [] : draft.told.map(toId)
  return { draft, asked: [...new Set([...named, ...told])] }
}

/** Kinds of reading that a question of several is answered by. */
const answered: ReadonlySet<ParsedUtterance['kind']> = new Set([
  ...(['finding', 'attribute', 'aside', 'diagnosis-request'] as const),
])
/** Exchanges, those of the same utterance among them, in which an open question may stand beside others. */
const firstTurns = 3
/** Asks for more than a yes or a no, wherever it stands: "Do you remember how it started?". */
const interrogative = /\b(?:how|what|when|where|which|who|why)\b/

/** "Any discharge? Is it sticky?" of an eye: an English question of a few words that is another one in its dialogue. */
const inDialogue = ({ kind, topics, loose }: ParsedUtterance, text: string): boolean =>
  languageByScript(text) === 'en' &&
  isShort(text) &&
  (kind === 'attribute' ? loose.length === 1 : kind === 'finding' && topics.length === 1)

/** What one question of several asks, in the dialogue so far; undefined where it asks nothing. */
function readPart(
  { text, topics, asides, open }: QuestionPart,
  whole: ParsedUtterance,
  { knowledge, context }: AnswerInput,
  reader: TextReader,
): ParsedUtterance | undefined {
  const { parts: _, ...rest } = whole
  if (!open)
    return topics.length + asides.length === 0
      ? undefined
      : { ...rest, topics, asides, loose: [], kind: topics.length > 0 ? 'finding' : 'aside' }
  const mark = languageByScript(text) === 'zh' ? '？' : '?'
  const {
    parts: __,
    of: ___,
    ...read
  } = understandInContext(knowledge, text + mark, context, reader)
  const { kind, expects, speech } = read
  // "Have you got a …" was given up.
  const says = !isGeneric(text) || kind === 'open' || findAttributes(text).length > 0
  if (!says && mark === '?' && topics.length === 0) return undefined
  // A guess only gives way to what is said more of.
  if (topics.length > 0)
    return kind === 'aside' || inDialogue(read, text)
      ? read
      : { ...rest, topics, asides, loose: [], kind: 'finding' }
  if (kind === 'open')
    return context.dialogue.length < firstTurns || isShort(text) ? read : undefined
  // A shrug adds nothing to an answer, but a no does.
  const denies = kind === 'unmodelled' && expects !== 'content' && isQuestionClause(text)
  const polar = !asksContent.test(text) && !interrogative.test(text)
  return (denies && polar) || answered.has(kind) || speech === 'any-questions' ? read : undefined
}

/** Drafts the reply to several questions, each in the light of the answers before it. Long because one loop carries what was said. */
function draftParts(
  whole: ParsedUtterance,
  input: AnswerInput,
  drafting: Drafting,
): DraftedReply | undefined {
  const { utterance, context } = input
  const { parts = [] } = whole
  const tactful = isTactful(utterance)
  const drafts: DraftedReply[] = []
  let [dialogue, left, plea, shrugged] = [context.dialogue, drafting.most, '', false]
  // A shrug beside an answer says no to what was not understood.
  const real = whole.kind === 'finding' || whole.kind === 'aside'
  // Guesses alone are answered together, unless one gives way.
  let lost = parts.some(({ open, topics }) => open && topics.length === 0)
  for (const part of parts) {
    const here = { ...input, context: { ...context, dialogue } }
    const read = readPart(part, whole, here, drafting.reader)
    const shrugs = read?.kind === 'unmodelled'
    if (!read || (shrugs && (shrugged || (real && languageByScript(part.text) === 'en')))) continue
    // "Do you smoke? How many a day?" is answered by the no.
    const again = read.topics.map(({ finding }) => finding)
    const said = drafts.flatMap(({ draft }) => draft.told)
    const denied = (id: string) => said.some((one) => one.finding === id && one.state === 'absent')
    if (again.length > 0 && again.every(denied)) continue
    if (left <= 0) {
      plea ||= pickStockSentence('one-at-a-time', context, utterance)
      break
    }
    const asking = { ...here, utterance: tactful ? utterance : part.text }
    const one = draftOne(read, asking, { ...drafting, most: left })
    shrugged ||= shrugs
    lost ||= part.open && read.kind === 'aside'
    left -= Math.max(1, read.topics.length)
    drafts.push(one)
    const reply = { ...one.draft, asked: one.asked, questions: 1 }
    dialogue = [...dialogue, { utterance: part.text, reply }]
  }
  if (!lost || drafts.length < (real ? 2 : 1)) return undefined
  const draft = joinDrafts(
    drafts.map((one) => one.draft),
    context.language,
  )
  return {
    draft: plea ? { ...draft, plea } : draft,
    asked: [...new Set(drafts.flatMap(({ asked }) => asked))],
  }
}

/** Drafts the reply to an utterance: question by question where one of several would else be lost. */
export const draftReply = (
  parsed: ParsedUtterance,
  input: AnswerInput,
  drafting: Drafting,
): DraftedReply =>
  (parsed.parts?.some(({ open }) => open) && parsed.kind !== 'attribute'
    ? draftParts(parsed, input, drafting)
    : undefined) ?? draftOne(parsed, input, drafting)
