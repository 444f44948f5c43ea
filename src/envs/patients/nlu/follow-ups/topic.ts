/** Short questions about nothing but the topic: whether it is still there, and how much of it there is. */
import { findAttributes } from '../attributes.js'
import { languageByScript } from '../finding-match.js'
import { attributeTopic, dialogueFocus } from '../focus.js'
import { aboutFinding, aboutTopic, isMentioned, rootOf } from './findings.js'
import { type FollowUp, isShort } from './question.js'
import { namesRegion } from './regions.js'

/** Asks whether the topic is still there: "现在还疼吗？". */
const still =
  /^(?:那|嗯|你|他|她|孩子|现在|这会儿|今天|目前|此刻|到现在)*(?:还|仍)(?:在)?(疼|难受|有|这样|那么|不舒服|有这种?感觉)得?(?:厉害|难受|很|慌)?[吗么不没]?$|^(?:(?:and|so|but) )*(?:(?:is|are) (?:it|that|this|they|those)(?: still| there)+(?: here| now| today| at the moment| with you)*|do you (?:still have|have) (?:it|that|them)(?: (?:now|still|today|right now|at the moment))+|have you (?:still )?got (?:it|that|them)(?: (?:now|still|today|right now|at the moment))+)$/

/** Whether what doctor and patient are talking about is still there. */
export function stillThere({ knowledge, context, text, alone, followed }: FollowUp) {
  const asked = still.exec(text)
  const word = asked?.[1]
  if (asked === null || alone.topics.some(({ guessed }) => !guessed)) return undefined
  const hurts = (id: string) => /[疼痛]/.test(knowledge.finding.get(id)?.name.zh ?? '')
  const topic = word === '疼' ? dialogueFocus(knowledge, context, hurts) : followed[0]
  return topic === undefined ? undefined : aboutFinding(alone, topic)
}

/** 血量多不多 of bloody stools, where only periods have that on record: the attribute of the topic. */
export function attributeOfTopic({ knowledge, context, text, alone, followed }: FollowUp) {
  const [said, ...more] = alone.topics
  const [topic] = followed
  if (languageByScript(text) === 'en' || topic === undefined || more.length > 0) return undefined
  if (!said?.guessed || !isShort(text) || namesRegion(text)) return undefined
  if (knowledge.finding.get(said.finding)?.kind !== 'symptom') return undefined
  if (isMentioned(rootOf(knowledge, said.finding), { knowledge, context, followed }))
    return undefined
  const [attribute] = findAttributes(text)
  return attribute && aboutTopic(alone, attributeTopic(knowledge, topic, attribute))
}
