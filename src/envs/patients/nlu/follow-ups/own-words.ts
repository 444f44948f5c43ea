/** Questions about what the patient has said: what a word of theirs means, and how a reaction to a medicine showed. */
import { isKnown } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { aboutTopic } from './findings.js'
import type { FollowUp } from './question.js'

/** Asks what the patient means by what they said. */
const asksMeaning =
  /\bwhat (?:do|did|does|would) (?:you|he|she|they) mean\b|\bwhat (?:exactly )?is it you mean\b|\bmeaning what\b|\b(?:in what way|how do you mean|how so)\b|什么意思|什么叫|怎么讲|怎么理解|指的?是什么|指什么|是说什么/

/** Words that say nothing of what is meant. */
const plainWord =
  /^(?:what|when|with|that|this|have|been|from|your|youre|mean|means|meant|tell|first|really|exactly|more|about|like|just|said|says|saying|feel|feeling|them|they|does|would|could)$/

/** The words of a text that may have been the patient's: English ones of four letters, Chinese ones of two characters. */
const tellingWords = (text: string): readonly string[] => [
  ...(text.match(/[a-z]{3,}/g) ?? []).filter((word) => !plainWord.test(word) && word.length > 2),
  ...(text.match(/\p{Script=Han}+/gu) ?? []).flatMap((run) =>
    [...run].slice(1).map((second, i) => [...run][i] + second),
  ),
]

/** What the patient has told in words of the question, or last. */
function saidWith({ knowledge, context, text }: FollowUp): string | undefined {
  const words = tellingWords(text.replace(asksMeaning, ' '))
  const told = context.dialogue.flatMap(({ reply }) =>
    reply.told.filter(isKnown).map(({ finding }) => finding),
  )
  const all = [...context.view.complaint.findings, ...told]
  const says = (id: string): boolean => {
    const { say, aliases } = knowledge.finding.get(id) ?? {}
    const own = [say?.present, aliases].flatMap((one) => Object.values(one ?? {})).flat()
    return words.some((word) => own.some((one) => one.toLowerCase().includes(word)))
  }
  return all.findLast(says) ?? all.at(-1)
}

/** "What do you mean by cut off?": the same in other words. */
export function ownWords(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, text, alone } = given
  if (!asksMeaning.test(text)) return undefined
  const finding = saidWith(given)
  if (finding === undefined || knowledge.finding.get(finding)?.kind !== 'symptom') return undefined
  return aboutTopic(alone, { finding, rephrase: true })
}

/** Asks what a medicine did to the patient. */
const asksReaction =
  /\bwhat (?:did|does|do) .{1,30} do\b|\bwhat happen(?:s|ed)\b|\breact(?:ion|ed|s)?\b|\bhow did .{1,20} (?:show|come out)\b|过敏.{0,6}(?:什么|怎么|啥|哪)|(?:什么|怎么|啥).{0,4}(?:反应|过敏)/

/** "What did penicillin do, a rash or trouble breathing?": the reaction alone, not what the patient has today. */
export function reactionTo({ knowledge, text, alone }: FollowUp): ParsedUtterance | undefined {
  const allergy = alone.topics.find(
    ({ finding }) => knowledge.finding.get(finding)?.kind === 'allergy',
  )
  if (!allergy || alone.recap || !asksReaction.test(text)) return undefined
  const { finding } = allergy
  return aboutTopic(alone, { finding, of: finding, attribute: 'character', missing: true })
}
