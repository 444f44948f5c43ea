/** What a patient has to say of the findings an utterance asks about, or leaves them free to bring up. */

import { isMoot } from '../../../inference/generative-model.js'
import { yearsOf } from '../../../inference/posterior.js'
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext, Reply } from '../../../patient.js'
import { dialOf } from '../../../persona.js'
import { pronounOf, thirdPerson } from '../../../text/third-person.js'
import type { Told, Understanding } from '../../../turn.js'
import type { Topic } from '../nlu/focus.js'
import { knowsWord } from './manner.js'
import type { Occasion } from './realise.js'
import { join, say } from './realise.js'
import type { AbsentPolicy } from './recall.js'
import { closedGate, closedSentence, sentenceFor, toldState } from './recall.js'
import { volunteered, wasTold, withholds } from './willing.js'

/** What the patient has to say, before manner and speaker. */
export type Part = Pick<Reply, 'text' | 'understood' | 'told'>

interface Answer {
  readonly how: Extract<
    Understanding,
    'answered' | 'unknown' | 'exam-only' | 'repeated' | 'withheld' | 'unclear'
  >
  readonly sentence: string
  readonly told?: Told
  /** To be introduced as said before. */
  readonly again?: boolean
}

/** What one utterance is answered from. */
export interface Hearing {
  readonly knowledge: Knowledge
  readonly utterance: string
  readonly absentPolicy: AbsentPolicy
  readonly context: PatientContext
}

/** Whether the patient points out that something was said before; an interpreter has put a colon there already. */
const saysAgain = ({ view: { demographics, persona } }: PatientContext): boolean =>
  demographics.speaker !== 'interpreter' && dialOf(persona, 'terse') < 2

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
  const before = wasTold(context, finding.id)
  const again = before && saysAgain(context)
  const own =
    gate && state === 'absent'
      ? closedSentence(finding, gate, context)
      : sentenceFor(finding, state, context, again)
  const sentence = own === undefined ? say('unknown', context, utterance) : voiced(own, context)
  const how = before ? 'repeated' : state === 'unknown' ? 'unknown' : 'answered'
  return { how, sentence, again, told: { finding: finding.id, state } }
}

/** Whether the patient is of another sex or age than the finding is of. */
const cannotBe = (
  finding: FindingDefinition,
  { view: { demographics } }: PatientContext,
): boolean => isMoot({ finding }, { sex: demographics.sex, age: yearsOf(demographics.age) })

function answer(topic: Topic, hearing: Hearing): Answer | undefined {
  const { knowledge, utterance, context } = hearing
  const because = (how: Answer['how'], occasion: Occasion): Answer => ({
    how,
    sentence: say(occasion, context, utterance),
  })
  if (topic.missing) return because('unknown', 'no-detail')
  const finding = knowledge.finding.get(topic.finding)
  if (!finding) return undefined
  if (finding.knownBy === 'exam' && !context.view.findings.has(finding.id))
    return because('exam-only', 'exam-only')
  if (cannotBe(finding, context)) return because('unknown', 'moot')
  if (topic.jargon && !knowsWord(finding.id, context)) return because('unclear', 'jargon')
  if (withholds(finding, utterance, context)) return because('withheld', 'withheld')
  return settle(finding, hearing)
}

const ranks = ['answered', 'unknown', 'withheld', 'repeated', 'exam-only', 'unclear'] as const

/** Answers the first of the topics, as many as the patient can take, and asks for the others one at a time. */
export function answerAll(topics: readonly Topic[], most: number, hearing: Hearing): Part {
  const { context, utterance } = hearing
  const answers = topics.slice(0, most).flatMap((topic) => answer(topic, hearing) ?? [])
  const first = answers.findIndex(({ again }) => again)
  const parts = answers.flatMap(({ sentence }, i) =>
    i === first ? [say('again', context, utterance), sentence] : [sentence],
  )
  if (topics.length > most) parts.push(say('one-at-a-time', context, utterance))
  return {
    text: join(parts.length > 1 ? [...new Set(parts)] : parts, context.language),
    understood: ranks.find((rank) => answers.some(({ how }) => how === rank)) ?? 'unknown',
    told: answers.flatMap(({ told }) => told ?? []),
  }
}

/** Brings up what was not spoken of, if there is any. */
export function tellMore(
  complaints: readonly FindingDefinition[],
  { utterance, context }: Hearing,
): Part {
  const next = volunteered(complaints, context)
  const texts = next.flatMap((finding) => sentenceFor(finding, 'present', context, true) ?? [])
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
