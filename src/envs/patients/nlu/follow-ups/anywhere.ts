/** What many parts of the body can have, such as pain and blood: of which of them a question is that names none. */
import { findAttributes } from '../attributes.js'
import { languageByScript } from '../finding-match.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { aboutFinding, asksPain, complete, isMentioned, painful, rootOf } from './findings.js'
import { type FollowUp, isBrief, replaced } from './question.js'
import { namesRegion, regionOf } from './regions.js'

/** The topic of any pain there is. */
const painAside = 'any-pain'

/** "Any pain?": the pain that is spoken of, else any there is. */
export function anyPain({
  knowledge,
  text,
  alone,
  followed,
}: FollowUp): ParsedUtterance | undefined {
  if (!asksPain(text)) return undefined
  const pain = /\banywhere\b/.test(text)
    ? undefined
    : followed.find((id) => painful.test(knowledge.finding.get(id)?.name.en.toLowerCase() ?? ''))
  if (pain !== undefined) return aboutFinding(alone, pain)
  if (!knowledge.aside.has(painAside)) return undefined
  return { ...alone, kind: 'aside', topics: [], loose: [], asides: [painAside] }
}

/** Symptoms that many parts of the body can have. */
const shared =
  /\b(?:blood|bloody|bleed\w*|itch\w*|discharge|swelling|swollen|sticky)\b|血|痒|肿|分泌物/

/** "Any blood in it?" of a sickness: a topic that only the word for the region names. */
export function asideOfRegion(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, reader, text, doubtful, followed } = given
  const [topic] = followed
  const region = topic === undefined ? undefined : regionOf(knowledge, topic)
  if (languageByScript(text) === 'zh' || !doubtful || !region || namesRegion(text)) return undefined
  if (!shared.test(text) || !replaced.test(text)) return undefined
  const whole = complete(text, region.word)
  const parsed = reader.parse(whole)
  return parsed.kind === 'aside' && reader.namesAside(whole) ? parsed : undefined
}

/** "Any blood?" of a sickness, where only other parts of the body have that on record: not about those. */
export function sharedSymptom(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone, followed } = given
  const [said, ...more] = alone.topics
  const [topic] = followed
  if (!said || more.length > 0 || topic === undefined || namesRegion(text)) return undefined
  if (!shared.test(text) || !isBrief(text)) return undefined
  // 血量多不多 asks how much of it there is.
  if (languageByScript(text) === 'zh' && findAttributes(text).length > 0) return undefined
  const [there, here] = [regionOf(knowledge, said.finding), regionOf(knowledge, topic)]
  const elsewhere = there !== undefined && here !== undefined && there !== here
  if (!elsewhere || isMentioned(rootOf(knowledge, said.finding), { knowledge, context, followed }))
    return undefined
  return { ...alone, kind: 'unmodelled', topics: [], expects: 'no', of: topic }
}
