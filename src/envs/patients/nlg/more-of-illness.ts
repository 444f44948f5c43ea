/** What a patient tells who is asked for more of what was said: how it began, how it went, what it hinders. */
import type { PatientContext } from '../../../patient.js'
import { biographySentence } from './biography-sentences.js'

/** Asks to be told more of what was said: "You said you can't sleep. Tell me more about that." */
const asksMore =
  /\b(?:tell me|say|talk|hear|know)(?: a (?:bit|little))? more about (?:it|that|this|them)\b|(?:再|多|详细|具体)(?:跟我)?(?:说说|讲讲|说一说)/i
const moreSlots = ['began', 'course', 'impact'] as const

/** What the patient has not said yet of how the illness began and went, for who asks to be told more; nothing for others. */
export const moreOfIllness = (utterance: string, context: PatientContext): readonly string[] =>
  (context.dialogue.length > 0 && asksMore.test(utterance) ? moreSlots : [])
    .flatMap((slot) => biographySentence(slot, context) ?? [])
    .filter((text) => !context.dialogue.some(({ reply }) => reply.text.includes(text)))
    .slice(0, 1)
