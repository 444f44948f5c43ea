/** Corrections by the doctor: "The cough, I mean." asks of the cough what the question before asked of something else. */
import { languageByScript } from '../finding-match.js'
import { attributeTopic, dialogueFocus } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { isRepair } from '../plain-words.js'
import { aboutTopic, painful } from './findings.js'
import type { FollowUp } from './question.js'

/** Names nothing but a pain, whichever it is. */
const barePain =
  /^(?:what about )?(?:(?:the|your|his|her|this|that|it) )*(?:pains?|aches?|aching|soreness)$|^(?:那个?|这个?|它)?(?:疼|痛|疼痛)(?:的?(?:事|地方))?[呢啊呀]?$/

/** What a correction names: a symptom by its name, or the pain that is spoken of. */
function correctedTo({ knowledge, context, reader, text }: FollowUp): string | undefined {
  const [clause = text] = text.split(/[,，?？]/)
  if (barePain.test(clause)) {
    const language = languageByScript(text)
    return dialogueFocus(knowledge, context, (id) => {
      const name = knowledge.finding.get(id)?.name
      return language === 'zh'
        ? /[疼痛]/.test(name?.zh ?? '')
        : painful.test(name?.en.toLowerCase() ?? '')
    })
  }
  return reader.named(text).find((id) => {
    const { kind, attribute } = knowledge.finding.get(id) ?? {}
    return kind === 'symptom' && attribute === undefined
  })
}

/** What a correction asks: of what it names, the detail that the question before asked for. */
export function corrected(given: FollowUp, said: string): ParsedUtterance | undefined {
  const { knowledge, context, reader, alone } = given
  if (
    !isRepair(said) ||
    alone.topics.some(({ attribute }) => attribute !== undefined && !alone.topics[0]?.guessed)
  )
    return undefined
  const symptom = correctedTo(given)
  if (symptom === undefined) return undefined
  const before = reader.parse(context.dialogue.at(-1)?.utterance ?? '')
  const attribute = before.loose.at(-1) ?? before.topics.at(-1)?.attribute
  return aboutTopic(
    alone,
    attribute === undefined ? { finding: symptom } : attributeTopic(knowledge, symptom, attribute),
  )
}
