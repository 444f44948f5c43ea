/** Whether what is there now was there before: "Any headaches in the past?" of somebody who has a headache. */
import { languageByScript } from '../finding-match.js'
import { findAncestors } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import type { FollowUp } from './question.js'

/** The finding that the whole illness was there before. */
const earlier = 'previous-episodes'

const before =
  /\b(?:in the past|previously|before (?:this|all (?:of )?this|now|today)|(?:normally|usually|ever|never) (?:get|got|gets|have|had|has|suffer\w*))\b|(?<!\b(?:than|as|like|day|night|week|month|year)) before$/

const rated = /\b(?:worst|scale|out of (?:ten|10)|rate)\b/

/** The earlier times of the complaint, where an English question names it and asks only for them. */
export function hadBefore({
  knowledge,
  reader,
  text,
  alone,
  followed,
}: FollowUp): ParsedUtterance | undefined {
  if (languageByScript(text) === 'zh' || !knowledge.finding.has(earlier)) return undefined
  if (alone.questions > 1 || alone.asides.length > 0) return undefined
  // "Is it the worst headache you have ever had?" is about this one.
  if (!before.test(text) || rated.test(text)) return undefined
  const named = reader.named(text).flatMap((id) => [id, ...findAncestors(knowledge, id)])
  if (!named.some((id) => followed.includes(id))) return undefined
  const others = alone.topics.filter(({ finding, of }) => !named.includes(of ?? finding))
  const illness = others.every(({ finding }) => !knowledge.finding.get(finding)?.parent)
  if (others.length > 0 && !illness) return undefined
  return { ...alone, kind: 'finding', topics: [{ finding: earlier }], loose: [], asides: [] }
}
