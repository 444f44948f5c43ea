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
import { draftReply } from './draft.js'
import type { AnswerDraft, AnswerInput } from './nlg/answer-input.js'
import { applyManner, losesThread } from './nlg/manner.js'
import { momentsOf } from './nlg/moments.js'
import type { AbsentPolicy } from './nlg/recall.js'
import { introduced, joinSentences, pickStockSentence } from './nlg/stock-sentences.js'
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

/** How an interpreter passes an answer on; most of the time without saying so. */
const interpreted = {
  en: { F: 'She says:', M: 'He says:' },
  zh: { F: '她说：', M: '他说：' },
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
  const answered = applyManner(part.text, moments, topic, context, parsed.questions)
  const said = part.plea ? joinSentences([answered, part.plea], language) : answered
  const { speaker, sex } = view.demographics
  if (speaker !== 'interpreter' || dialogue.length % introducedEvery > 0) return said
  // What the interpreter did not understand is nobody else's question.
  if (part.understood === 'unclear' || part.understood === 'ambiguous') return said
  return introduced(interpreted[language][sex === 'F' ? 'F' : 'M'], said, language)
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

/** Questions answered at once where the persona or an interpreter leaves less time. */
const mostHurried = 3
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
    const most = isHurried(context) ? Math.min(mostHurried, maxFindings) : maxFindings
    const input: AnswerInput = { knowledge, utterance, absentPolicy, context }
    const { draft, asked } = draftReply(parsed, input, { most, complaints, reader })
    const theme = asked.join(' ') || kind
    const reply = (part: AnswerDraft): RuleReply => ({
      core: part.text,
      reply: {
        text: deliver(part, parsed, theme, input),
        understood: part.understood,
        told: part.told,
        questions,
        asked,
      },
    })
    if (asked.length > 0 && losesThread(theme, asked, context, utterance)) {
      const text = pickStockSentence('again-please', context, utterance)
      return reply({ text, understood: 'unclear', told: [] })
    }
    return reply(draft)
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
