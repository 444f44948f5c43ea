/**
 * The rule patient: answers in the sentences of the knowledge base, from its view of the case, for free.
 *
 * A pure function of the utterance, the view, the dialogue and the seed. It tells what it is asked for and
 * nothing else, so that what a doctor knows is what the doctor asked. The persona changes how it says things
 * and what it says only when trusted, never what is so, unless it fabricates.
 */
import type { FindingDefinition, Knowledge } from '../../knowledge.js'
import type { PatientContext, Reply } from '../../patient.js'
import type { Persona } from '../../persona.js'
import { dialOf } from '../../persona.js'
import { normal } from '../../phrases.js'
import type { Told, Understanding } from '../../turn.js'
import { pronounOf, thirdPerson } from '../../voice.js'
import type { Topic } from './focus.js'
import { focusOf, topicIn } from './focus.js'
import { inManner, knowsWord, losesThread } from './manner.js'
import type { Occasion } from './realise.js'
import { join, say } from './realise.js'
import type { AbsentPolicy } from './recall.js'
import { closedGate, closedSentence, sentenceFor, toldState } from './recall.js'
import type { Understood } from './understand.js'
import { understand } from './understand.js'
import { isTactful, volunteered, withholds } from './willing.js'

export interface RulePatientOptions {
  readonly knowledge: Knowledge
  /** Findings answered per utterance; of the others the patient asks to be asked again. @default 2 */
  readonly maxFindings?: number
  /** Plays every case with this persona. @default the case's own */
  readonly persona?: Persona
  /** What a question about something the case does not record gives. @default 'unknown' */
  readonly absentPolicy?: AbsentPolicy
}

interface Answer {
  readonly how: Extract<
    Understanding,
    'answered' | 'unknown' | 'exam-only' | 'repeated' | 'withheld' | 'unclear'
  >
  readonly sentence: string
  readonly told?: Told
}

/** What one utterance is answered from. */
interface Hearing {
  readonly knowledge: Knowledge
  readonly utterance: string
  readonly tactful: boolean
  readonly absentPolicy: AbsentPolicy
  readonly context: PatientContext
}

const wasTold = ({ dialogue }: PatientContext, id: string): boolean =>
  dialogue.some(({ reply }) => reply.told.some(({ finding }) => finding === id))

/** A sentence of the knowledge base in the mouth of whoever speaks. */
const voiced = (sentence: string, { view, language }: PatientContext): string =>
  view.demographics.speaker === 'caregiver'
    ? thirdPerson(sentence, language, pronounOf(view.demographics.sex))
    : sentence

function settle(finding: FindingDefinition, hearing: Hearing): Answer {
  const { knowledge, utterance, context, absentPolicy } = hearing
  const { view } = context
  const gate = closedGate(knowledge, finding, view)
  const state = toldState(finding, gate !== undefined, context, absentPolicy)
  const own =
    gate && state === 'absent'
      ? closedSentence(finding, gate, context)
      : sentenceFor(finding, state, context)
  const sentence = own === undefined ? say('unknown', context, utterance) : voiced(own, context)
  const told = { finding: finding.id, state }
  if (!wasTold(context, finding.id))
    return { how: state === 'unknown' ? 'unknown' : 'answered', sentence, told }
  // An interpreter puts a colon before it already.
  const plain = view.demographics.speaker === 'interpreter' || dialOf(view.persona, 'terse') >= 2
  const again = plain
    ? sentence
    : join([say('again', context, utterance), sentence], context.language)
  return { how: 'repeated', sentence: again, told }
}

function answer(topic: Topic, hearing: Hearing): Answer | undefined {
  const { knowledge, utterance, context, tactful } = hearing
  const because = (how: Answer['how'], occasion: Occasion): Answer => ({
    how,
    sentence: say(occasion, context, utterance),
  })
  if (topic.missing) return because('unknown', 'no-detail')
  const finding = knowledge.finding.get(topic.finding)
  if (!finding) return undefined
  if (finding.knownBy === 'exam' && !context.view.findings.has(finding.id))
    return because('exam-only', 'exam-only')
  if (topic.jargon && !knowsWord(finding.id, context)) return because('unclear', 'jargon')
  if (withholds(finding, tactful, context)) return because('withheld', 'withheld')
  return settle(finding, hearing)
}

const ranks = ['answered', 'unknown', 'withheld', 'repeated', 'exam-only', 'unclear'] as const

function answerAll(
  topics: readonly Topic[],
  most: number,
  hearing: Hearing,
): Pick<Reply, 'text' | 'understood' | 'told'> {
  const { context, utterance } = hearing
  const answers = topics.slice(0, most).flatMap((topic) => answer(topic, hearing) ?? [])
  const parts = answers.map(({ sentence }) => sentence)
  if (topics.length > most) parts.push(say('one-at-a-time', context, utterance))
  return {
    text: join(parts.length > 1 ? [...new Set(parts)] : parts, context.language),
    understood: ranks.find((rank) => answers.some(({ how }) => how === rank)) ?? 'unknown',
    told: answers.flatMap(({ told }) => told ?? []),
  }
}

function tellMore(
  complaints: readonly FindingDefinition[],
  { utterance, context }: Hearing,
): Pick<Reply, 'text' | 'understood' | 'told'> {
  const next = volunteered(complaints, context)
  const texts = next.flatMap((finding) => sentenceFor(finding, 'present', context) ?? [])
  const spoken = texts.map((text) => voiced(text, context))
  return {
    text: join(
      spoken.length > 0 ? spoken : [say('nothing-more', context, utterance)],
      context.language,
    ),
    understood: 'open',
    told: next.map(({ id }) => ({ finding: id, state: 'present' })),
  }
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

const interpreted = {
  en: { F: 'She says:', M: 'He says:' },
  zh: { F: '她说：', M: '他说：' },
} as const

/** What is said, in the manner of the patient and through whoever speaks. */
function delivered(text: string, topic: string, context: PatientContext): string {
  const { view, language } = context
  const said = inManner(text, topic, context)
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
    ({ knownBy, type, parent }) => knownBy === 'patient' && type === 'bool' && !parent,
  )
  return (utterance, given) => {
    const context = persona ? { ...given, view: { ...given.view, persona } } : given
    const heard = understand(knowledge, utterance)
    const { questions, kind } = heard
    const topics = topicsOf(knowledge, heard, context)
    const asked = [...new Set(topics.map(({ finding }) => finding))]
    const tactful = isTactful(normal(utterance).text)
    const hearing: Hearing = { knowledge, utterance, tactful, absentPolicy, context }
    const theme = asked.join(' ') || kind
    const reply = (part: Pick<Reply, 'text' | 'understood' | 'told'>): Reply => ({
      ...part,
      text: delivered(part.text, theme, context),
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
    return on(...occasions[kind])
  }
}
