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
import type { Understanding } from '../../turn.js'
import type { AnswerDraft, AnswerInput } from './nlg/answer.js'
import { answerTopics, volunteerFindings } from './nlg/answer.js'
import { applyManner, losesThread, type Mood } from './nlg/manner.js'
import type { AbsentPolicy } from './nlg/recall.js'
import { joinSentences, type Occasion, pickStockSentence } from './nlg/stock-sentences.js'
import { attributeTopic, dialogueFocus, type Topic } from './nlu/focus.js'
import { type ParsedUtterance, understand, understandInSlices } from './nlu/understand.js'

/** Options of `rulePatient`. */
export interface RulePatientOptions {
  readonly knowledge: Knowledge
  /** Findings answered per utterance; the patient asks the doctor to repeat the others. @default 2 */
  readonly maxFindings?: number
  /** Replaces the persona of every case. @default the case's own */
  readonly persona?: Persona
  /** What a question about an unrecorded finding gives. @default 'unknown' */
  readonly absentPolicy?: AbsentPolicy
}

/** The stock sentence and the understanding of each dialogue act that asks about no finding. */
const occasions: {
  readonly [kind in Exclude<ParsedUtterance['kind'], 'finding' | 'attribute' | 'open'>]: readonly [
    Occasion,
    Understanding,
  ]
} = {
  'diagnosis-request': ['refused', 'refused'],
  injection: ['refused', 'refused'],
  'exam-request': ['exam-request', 'exam-only'],
  advice: ['courtesy', 'courtesy'],
  courtesy: ['courtesy', 'courtesy'],
  ambiguous: ['ambiguous', 'ambiguous'],
  unclear: ['unclear', 'unclear'],
}

const greeting =
  /^[\s\p{P}]*(?:(?:hello|hi|good (?:morning|afternoon|evening|day))\b|[您你]好|早上好|下午好|晚上好)/iu

const interpreted = {
  en: { F: 'She says:', M: 'He says:' },
  zh: { F: '她说：', M: '他说：' },
} as const

/** The mood of a reply. */
function partMood({ understood, told }: AnswerDraft): Mood {
  if (understood === 'courtesy') return 'polite'
  if (understood === 'repeated') return 'again'
  if (told.some(({ state }) => state !== 'absent' && state !== 'unknown')) return 'troubled'
  if (told.length > 0 || understood === 'withheld' || understood === 'open') return 'calm'
  return understood === 'exam-only' ? 'calm' : 'puzzled'
}

/** Adds the persona's manner to a reply, and an interpreter's introduction. */
function deliver(part: AnswerDraft, topic: string, context: PatientContext): string {
  const { view, language } = context
  const said = applyManner(part.text, partMood(part), topic, context)
  if (view.demographics.speaker !== 'interpreter') return said
  return joinSentences(
    [interpreted[language][view.demographics.sex === 'F' ? 'F' : 'M'], said],
    language,
  )
}

/** The topics of an utterance. An attribute without a complaint is resolved to the dialogue focus. */
function resolveTopics(
  knowledge: Knowledge,
  parsed: ParsedUtterance,
  context: PatientContext,
): readonly Topic[] {
  if (parsed.loose.length === 0) return parsed.topics
  const focus = dialogueFocus(knowledge, context)
  return [
    ...parsed.topics,
    ...parsed.loose.map((attribute) => attributeTopic(knowledge, focus, attribute)),
  ]
}

/** Complaints that an open question may bring up: the patient's own boolean findings without a parent. */
const complaintsOf = ({ findings }: Knowledge): readonly FindingDefinition[] =>
  findings.filter(
    ({ knownBy, type, parent, attribute }) =>
      knownBy === 'patient' && type === 'bool' && !parent && attribute === undefined,
  )

/** Makes the reply to an utterance that has been understood. */
function ruleReplies({
  knowledge,
  maxFindings = 2,
  persona,
  absentPolicy = 'unknown',
}: RulePatientOptions) {
  if (!Number.isInteger(maxFindings) || maxFindings < 1)
    throw new RangeError(
      `Expected \`maxFindings\` to be a positive integer, got \`${maxFindings}\``,
    )
  const complaints = complaintsOf(knowledge)
  return (parsed: ParsedUtterance, utterance: string, given: PatientContext): Reply => {
    const context = persona ? { ...given, view: { ...given.view, persona } } : given
    const { questions, kind } = parsed
    const topics = resolveTopics(knowledge, parsed, context)
    const asked = [...new Set(topics.map(({ finding }) => finding))]
    const input: AnswerInput = { knowledge, utterance, absentPolicy, context }
    const theme = asked.join(' ') || kind
    const reply = (part: AnswerDraft): Reply => ({
      ...part,
      text: deliver(part, theme, context),
      questions,
      asked,
    })
    const on = (occasion: Occasion, understood: Understanding): Reply =>
      reply({ text: pickStockSentence(occasion, context, utterance), understood, told: [] })
    if (kind === 'finding' || kind === 'attribute') {
      if (losesThread(theme, asked, context)) return on('again-please', 'unclear')
      const hurried =
        dialLevel(context.view.persona, 'impatient') >= 2 ||
        context.view.demographics.speaker === 'interpreter'
      return reply(answerTopics(topics, hurried ? 1 : maxFindings, input))
    }
    if (kind === 'open') return reply(volunteerFindings(complaints, input))
    if (kind === 'courtesy' && greeting.test(utterance)) return on('greeting', 'courtesy')
    return on(...occasions[kind])
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
  const reply = ruleReplies(options)
  return (utterance, context) =>
    understandInSlices(options.knowledge, utterance, (parsed) => reply(parsed, utterance, context))
}

/**
 * Makes a rule patient for callers that cannot wait: it makes its indices at once, with the same replies.
 * @throws RangeError when `maxFindings` is not a positive integer
 */
export function rulePatientAtOnce(
  options: RulePatientOptions,
): (utterance: string, context: PatientContext) => Reply {
  const reply = ruleReplies(options)
  return (utterance, context) => reply(understand(options.knowledge, utterance), utterance, context)
}
