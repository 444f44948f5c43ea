/** What the patient asked back by name ("Do you mean the cough?"), and the doctor's yes to it. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import type { Language } from '../../../../turn.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import type { FollowUp } from './question.js'

/** English names that are no thing one could ask about: "Uses an inhaler". */
const clause = /^(?:needs|uses|runs|goes|spreads|worse|set off|eased|others)\b/

/** The name by which the patient asks back for a finding; undefined for one that it does not bring up, or has no name for. */
export function nameToAskBack(
  { finding }: Knowledge,
  id: string,
  language: Language,
): string | undefined {
  const { name, kind, knownBy, stigma, attribute } = finding.get(id) ?? {}
  if (!name || kind !== 'symptom' || knownBy !== 'patient' || stigma !== 0) return undefined
  if (attribute !== undefined) return undefined
  if (language === 'zh') return name.zh
  const said = name.en.toLowerCase()
  if (clause.test(said)) return undefined
  return /^\w+ing\b/.test(said) ? said : `the ${said}`
}

/** A yes and no more: "Yes, that's what I meant." */
const yes =
  /^(?:(?:yes|yeah|yep|yup|right|exactly|correct|thats (?:it|right|the one|what i (?:mean|meant))|thats what i was asking|i do|please|ok|okay) ?)+$|^(?:(?:对的?|是的?|嗯|没错|就是(?:这个|问这个|它)?|对啊|是啊|我(?:就)?是(?:问|说|指)这个)(?:啊|呀|呢)?)+$/

/** The question that a yes stands for, after the patient has asked back; undefined for any other words. */
export function confirmed({
  knowledge,
  context,
  reader,
  text,
  alone,
}: FollowUp): ParsedUtterance | undefined {
  const last = context.dialogue.at(-1)
  if (last?.reply.understood !== 'ambiguous' || !yes.test(text)) return undefined
  const { near } = reader.parse(last.utterance)
  const name = near && nameToAskBack(knowledge, near, context.language)
  if (!near || !name || !last.reply.text.includes(name)) return undefined
  return { ...alone, kind: 'finding', questions: 1, topics: [{ finding: near }], asides: [] }
}
