/**
 * The rule patient: answers in the sentences of the knowledge base, from its view of the case, for free.
 *
 * A pure function of the utterance, the view, the dialogue and the seed. It tells what it is asked for and
 * nothing else, so that what a doctor knows is what the doctor asked. The persona changes how it says things
 * and what it says only when trusted, never what is so, unless it fabricates.
 */
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { PatientContext, Reply } from '../../patient.js'
import type { Persona } from '../../persona.js'
import { dialOf } from '../../persona.js'
import type { Understanding } from '../../turn.js'
import type { Hearing, Part } from './nlg/answer.js'
import { answerAll, tellMore } from './nlg/answer.js'
import type { Mood } from './nlg/manner.js'
import { inManner, losesThread } from './nlg/manner.js'
import type { Occasion } from './nlg/realise.js'
import { join, say } from './nlg/realise.js'
import type { AbsentPolicy } from './nlg/recall.js'
import type { Topic } from './nlu/focus.js'
import { focusOf, topicIn } from './nlu/focus.js'
import type { Understood } from './nlu/understand.js'
import { understand } from './nlu/understand.js'

export interface RulePatientOptions {
  readonly knowledge: Knowledge
  /** Findings answered per utterance; of the others the patient asks to be asked again. @default 2 */
  readonly maxFindings?: number
  /** Plays every case with this persona. @default the case's own */
  readonly persona?: Persona
  /** What a question about something the case does not record gives. @default 'unknown' */
  readonly absentPolicy?: AbsentPolicy
}

const occasions: {
  readonly [kind in Exclude<Understood['kind'], 'finding' | 'attribute' | 'open'>]: readonly [
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

/** How a patient speaks who says this: of trouble, of no trouble, again, politely, or of nothing at all. */
function moodOf({ understood, told }: Part): Mood {
  if (understood === 'courtesy') return 'polite'
  if (understood === 'repeated') return 'again'
  if (told.some(({ state }) => state !== 'absent' && state !== 'unknown')) return 'troubled'
  if (told.length > 0 || understood === 'withheld' || understood === 'open') return 'calm'
  return understood === 'exam-only' ? 'calm' : 'puzzled'
}

/** What is said, in the manner of the patient and through whoever speaks. */
function delivered(part: Part, topic: string, context: PatientContext): string {
  const { view, language } = context
  const said = inManner(part.text, moodOf(part), topic, context)
  if (view.demographics.speaker !== 'interpreter') return said
  return join([interpreted[language][view.demographics.sex === 'F' ? 'F' : 'M'], said], language)
}

/** The topics of an utterance; of an attribute that names no complaint, those of what was last spoken of. */
function topicsOf(
  knowledge: Knowledge,
  heard: Understood,
  context: PatientContext,
): readonly Topic[] {
  if (heard.loose.length === 0) return heard.topics
  const focus = focusOf(knowledge, context)
  return [...heard.topics, ...heard.loose.map((attribute) => topicIn(knowledge, focus, attribute))]
}

/**
 * Makes a rule patient; it answers at once, and in `context.language` whatever language it is asked in.
 * @throws RangeError when `maxFindings` is not a positive integer
 */
export function rulePatient({
  knowledge,
  maxFindings = 2,
  persona,
  absentPolicy = 'unknown',
}: RulePatientOptions): (utterance: string, context: PatientContext) => Reply {
  if (!Number.isInteger(maxFindings) || maxFindings < 1)
    throw new RangeError(
      `Expected \`maxFindings\` to be a positive integer, got \`${maxFindings}\``,
    )
  const complaints = knowledge.findings.filter(
    ({ knownBy, type, parent, attribute }) =>
      knownBy === 'patient' && type === 'bool' && !parent && attribute === undefined,
  )
  return (utterance, given) => {
    const context = persona ? { ...given, view: { ...given.view, persona } } : given
    const heard = understand(knowledge, utterance)
    const { questions, kind } = heard
    const topics = topicsOf(knowledge, heard, context)
    const asked = [...new Set(topics.map(({ finding }) => finding))]
    const hearing: Hearing = { knowledge, utterance, absentPolicy, context }
    const theme = asked.join(' ') || kind
    const reply = (part: Part): Reply => ({
      ...part,
      text: delivered(part, theme, context),
      questions,
      asked,
    })
    const on = (occasion: Occasion, understood: Understanding): Reply =>
      reply({ text: say(occasion, context, utterance), understood, told: [] })
    if (kind === 'finding' || kind === 'attribute') {
      if (losesThread(theme, asked, context)) return on('again-please', 'unclear')
      const hurried =
        dialOf(context.view.persona, 'impatient') >= 2 ||
        context.view.demographics.speaker === 'interpreter'
      return reply(answerAll(topics, hurried ? 1 : maxFindings, hearing))
    }
    if (kind === 'open') return reply(tellMore(complaints, hearing))
    if (kind === 'courtesy' && greeting.test(utterance)) return on('greeting', 'courtesy')
    return on(...occasions[kind])
  }
}
