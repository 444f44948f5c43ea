/**
 * The rule patient: answers with the sentences of the knowledge base, from its view of the case, without a model.
 *
 * A pure function of the utterance, the view, the dialogue and the seed. It reports only what it is asked for, so that
 * a doctor's knowledge depends on the questions. The persona changes the style and what needs trust, and never a
 * fact, `fabricating` alone excepted.
 */
import type { FindingDefinition, Knowledge } from '../../knowledge/knowledge.js'
import type { PatientContext, Reply } from '../../patient.js'
import { dialLevel, type Persona } from '../../persona.js'
import type { RevealedFinding, Understanding } from '../../turn.js'
import { answerTopics, volunteerFindings } from './nlg/answer.js'
import type { AnswerDraft, AnswerInput } from './nlg/answer-input.js'
import { answerAsides } from './nlg/aside-answers.js'
import { answerConversation, denyPain, ownIdea } from './nlg/conversation.js'
import { isPain } from './nlg/details.js'
import { pickFresh } from './nlg/fresh.js'
import { applyManner, losesThread } from './nlg/manner.js'
import { momentsOf } from './nlg/moments.js'
import type { AbsentPolicy } from './nlg/recall.js'
import {
  introduced,
  joinSentences,
  type Occasion,
  pickStockSentence,
} from './nlg/stock-sentences.js'
import { followedTopic, type Topic } from './nlu/focus.js'
import { understandInContext } from './nlu/follow-ups/follow-up.js'
import type { TextReader } from './nlu/follow-ups/question.js'
import type { ParsedUtterance } from './nlu/parsed-utterance.js'
import { readInSlices, textReader } from './nlu/understand.js'

/** Options of `rulePatient`. */
export interface RulePatientOptions {
  readonly knowledge: Knowledge
  /** Findings answered per utterance; the patient asks the doctor to repeat the others. @default 4 */
  readonly maxFindings?: number
  /** Replaces the persona of every case. @default the case's own */
  readonly persona?: Persona
  /** What a question about an unrecorded finding gives. @default 'unknown' */
  readonly absentPolicy?: AbsentPolicy
}

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

/** How an interpreter passes an answer on; most of the time without saying so. */
const interpreted = {
  en: {
    F: ['She says:', 'She tells me:', 'As she puts it:'],
    M: ['He says:', 'He tells me:', 'As he puts it:'],
  },
  zh: { F: ['她说：', '她跟我说：', '她的意思是：'], M: ['他说：', '他跟我说：', '他的意思是：'] },
} as const
/** Turns from one such introduction to the next. */
const introducedEvery = 4

/** Adds the persona's manner to a reply, and an interpreter's introduction. */
function deliver(
  part: AnswerDraft,
  parsed: ParsedUtterance,
  topic: string,
  { knowledge, context }: AnswerInput,
): string {
  const { view, language, dialogue } = context
  const moments = () => momentsOf(knowledge, part, parsed)
  const answered = applyManner(part.text, moments, topic, context)
  const said = part.plea ? joinSentences([answered, part.plea], language) : answered
  const { speaker, sex } = view.demographics
  if (speaker !== 'interpreter' || dialogue.length % introducedEvery > 0) return said
  const bank = interpreted[language][sex === 'F' ? 'F' : 'M']
  const words = dialogue.length === 0 ? bank[0] : pickFresh(bank, context, ['interpreted'])
  return introduced(words, said, language)
}

/** "The pain" is one of the patient's pains, whatever the last topic was. */
const painWord = /\b(?:pains?|painful|aches?|aching|hurts?|hurting|sore)\b|疼|痛/i

/** The topics of an utterance. An attribute without a complaint is resolved to what is being talked about. */
function resolveTopics(
  knowledge: Knowledge,
  parsed: ParsedUtterance,
  context: PatientContext,
): readonly Topic[] {
  const pain = painWord.test(parsed.about ?? '')
  const loose = parsed.loose.flatMap(
    (attribute) =>
      followedTopic(knowledge, context, attribute, (id) => !pain || isPain(knowledge, id)) ?? [],
  )
  return [...parsed.topics, ...loose]
}

/** Complaints that an open question may bring up: boolean symptoms without a parent. */
const complaintsOf = ({ findings }: Knowledge): readonly FindingDefinition[] =>
  findings.filter(
    ({ kind, knownBy, type, parent, attribute }) =>
      kind === 'symptom' &&
      knownBy === 'patient' &&
      type === 'bool' &&
      !parent &&
      attribute === undefined,
  )

const toId = ({ finding }: RevealedFinding): string => finding

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
  const { kind } = parsed
  if (kind === 'attribute' && topics.length === 0) return denyPain(input)
  if (kind === 'finding' || kind === 'attribute')
    return answerTopics(topics, most, input, parsed.recap, parsed.asides)
  if (kind === 'open') return beside(parsed.asides, volunteerFindings(complaints, input), input)
  const part = answerConversation(parsed, input)
  if (part) return part
  const [occasion, understood] = occasions[kind as keyof typeof occasions] // what `answerConversation` leaves
  const idea = kind === 'diagnosis-request' ? ownIdea(input.context) : undefined
  const text = idea ?? pickStockSentence(occasion, input.context, input.utterance)
  return { text, understood, told: [] }
}

/** Topics answered at once, where the persona or an interpreter leaves time for one only. */
const isHurried = ({ view: { persona, demographics } }: PatientContext): boolean =>
  dialLevel(persona, 'impatient') >= 2 || demographics.speaker === 'interpreter'

/** A reply, and what it says without the persona's manner. */
export interface RuleReply {
  readonly reply: Reply
  readonly core: string
}

/** Makes the reply to an utterance that has been understood. */
// Long because its steps share the utterance's meaning.
function ruleReplies({
  knowledge,
  maxFindings = 4,
  persona,
  absentPolicy = 'unknown',
}: RulePatientOptions) {
  if (!Number.isInteger(maxFindings) || maxFindings < 1)
    throw new RangeError(
      `Expected \`maxFindings\` to be a positive integer, got \`${maxFindings}\``,
    )
  const complaints = complaintsOf(knowledge)
  return (utterance: string, given: PatientContext, reader: TextReader): RuleReply => {
    const context = persona ? { ...given, view: { ...given.view, persona } } : given
    const parsed = understandInContext(knowledge, utterance, context, reader)
    const { questions, kind } = parsed
    const topics = resolveTopics(knowledge, parsed, context)
    const asked = [
      ...new Set([
        ...topics.map(({ finding }) => finding),
        ...(parsed.of === undefined ? [] : [parsed.of]),
      ]),
    ]
    const input: AnswerInput = { knowledge, utterance, absentPolicy, context }
    const theme = asked.join(' ') || kind
    const reply = (part: AnswerDraft): RuleReply => ({
      core: part.text,
      reply: {
        text: deliver(part, parsed, theme, input),
        understood: part.understood,
        told: part.told,
        questions,
        // What the patient tells beside the question was asked for with it.
        asked: kind === 'open' ? asked : [...new Set([...asked, ...part.told.map(toId)])],
      },
    })
    if (asked.length > 0 && losesThread(theme, asked, context)) {
      const text = pickStockSentence('again-please', context, utterance)
      return reply({ text, understood: 'unclear', told: [] })
    }
    const most = isHurried(context) ? 1 : maxFindings
    return reply(draftAnswer(parsed, topics, most, complaints, input))
  }
}

/**
 * Makes a rule patient. It answers in `context.language` whatever language it is asked in. It never holds up the event
 * loop for long: a reply is a promise where it needs an index of the knowledge base for the first time, or where many
 * are asked at once.
 * @throws RangeError when `maxFindings` is not a positive integer
 */
export function rulePatient(
  options: RulePatientOptions,
): (utterance: string, context: PatientContext) => Reply | Promise<Reply> {
  const answer = ruleReplies(options)
  return (utterance, context) =>
    readInSlices(options.knowledge, (reader) => answer(utterance, context, reader).reply)
}

/** The rule patient's replies with what they say, for whoever puts that into other words. */
export function ruleDrafts(
  options: RulePatientOptions,
): (utterance: string, context: PatientContext) => RuleReply | Promise<RuleReply> {
  const answer = ruleReplies(options)
  return (utterance, context) =>
    readInSlices(options.knowledge, (reader) => answer(utterance, context, reader))
}

/**
 * Makes a rule patient for callers that cannot wait: it makes its indices at once, with the same replies.
 * @throws RangeError when `maxFindings` is not a positive integer
 */
export function rulePatientAtOnce(
  options: RulePatientOptions,
): (utterance: string, context: PatientContext) => Reply {
  const answer = ruleReplies(options)
  return (utterance, context) => answer(utterance, context, textReader(options.knowledge)).reply
}
