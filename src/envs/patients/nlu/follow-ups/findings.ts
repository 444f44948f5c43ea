/** Which finding a follow-up question is about, where it names none or another one of the same name. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../../knowledge/per-knowledge.js'
import * as act from '../acts.js'
import { type AskedAttribute, findAttributes, isGeneric } from '../attributes.js'
import { ownViews } from '../english/beside-symptoms.js'
import { languageByScript } from '../finding-match.js'
import {
  attributeTopic,
  findAncestors,
  isKnown,
  lastAsked,
  lastHistory,
  type Topic,
} from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import type { SimilarityMatch } from '../similarity.js'
import {
  asksContent,
  choice,
  type FollowUp,
  isBrief,
  isVague,
  pronoun,
  replaced,
} from './question.js'
import { namesRegion, type Region, regionOf } from './regions.js'

/** Least score at which a detail of the topic is taken: of a question that says nothing else, and of any other. */
const detail = { score: 0.2, told: 0.35, sure: 0.4, lead: 0.1 } as const
/** By how much it may be below the best of all findings. */
const lag = { vague: 0.25, guessed: 0.1 } as const
/** Least scores at which another finding of the same region is taken, with the word for the region and without. */
const regional = { whole: 0.35, own: 0.18 } as const

/** An English question of one word. */
const oneWord = /^[a-z]+$/

/** Words at the end that add nothing. */
const filler = /(?: (?:at all|as well|too|then|with (?:it|that)))+$/

/** A text with the word for what it leaves out: in place of a pronoun, else before it in Chinese and after it in English. */
export function complete(
  whole: string,
  word: { readonly en: string; readonly zh: string },
): string {
  const text = whole.replace(filler, '')
  if (languageByScript(text) === 'zh') return word.zh + text
  return replaced.test(text) ? text.replace(replaced, `the ${word.en}`) : `${text} ${word.en}`
}

/** Another reading of the same question: about this topic. */
export const aboutTopic = (alone: ParsedUtterance, topic: Topic): ParsedUtterance => ({
  ...alone,
  kind: 'finding',
  topics: [topic],
  loose: [],
  asides: [],
})

/** The reading as a question about a finding that is not named. */
export const aboutFinding = (alone: ParsedUtterance, finding: string): ParsedUtterance =>
  aboutTopic(alone, { finding, guessed: true })

/** The topmost ancestor of a finding. */
export const rootOf = (knowledge: Knowledge, id: string): string =>
  findAncestors(knowledge, id).at(-1) ?? id

/** Of some findings, the one that a text is most similar to, with its score. */
export function nearestOf(ids: readonly string[], { scoreOf }: SimilarityMatch) {
  const scored = ids.map((id) => ({ id, score: scoreOf(id) }))
  return scored.reduce<(typeof scored)[number] | undefined>(
    (a, b) => (a && a.score >= b.score ? a : b),
    undefined,
  )
}

/** Whether a question is about what was done for a topic: an English one must name that. */
const treats = ({ reader, text }: Pick<FollowUp, 'reader' | 'text'>): boolean =>
  languageByScript(text) === 'zh' || reader.namesAside(text)

/** The findings of the knowledge base, by what `keyOf` gives of each. */
function idsBy<K>(
  findings: Knowledge['findings'],
  keyOf: (id: string) => K | undefined,
): ReadonlyMap<K, readonly string[]> {
  const ids = new Map<K, string[]>()
  for (const { id } of findings) {
    const key = keyOf(id)
    if (key !== undefined) ids.set(key, [...(ids.get(key) ?? []), id])
  }
  return ids
}

/** A complaint with its details, by the complaint. */
const idsByRoot = perKnowledge((knowledge) =>
  idsBy(knowledge.findings, (id) => rootOf(knowledge, id)),
)

/** What a patient knows of a region. */
const idsByRegion = perKnowledge((knowledge) =>
  idsBy(
    knowledge.findings.filter(({ knownBy }) => knownBy === 'patient'),
    (id) => regionOf(knowledge, id),
  ),
)

/** "Even more in bed?" after the itch: the detail of a topic that the question is most similar to. */
export function detailOfTopic(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, reader, text, alone, doubtful, followed } = given
  if (!doubtful && alone.kind !== 'aside') return undefined
  // What was done for the topic is no detail of it: 胸疼的时候怎么办.
  if (alone.asides.includes('tried') && treats({ reader, text })) return undefined
  if (languageByScript(text) === 'en' && alone.asides.some((id) => ownViews.has(id)))
    return undefined
  // "Itching?" says nothing but its name.
  if (oneWord.test(text) && followed.includes(alone.topics[0]?.finding ?? '')) return undefined
  // "Have you been …" was given up.
  const empty = languageByScript(text) === 'en' && isGeneric(text) && !pronoun.test(text)
  if (empty && findAttributes(text).length === 0) return undefined
  const alike = reader.alike(text)
  // A habit or a medicine was asked about since, or the question is likely to be about something else.
  const sure = alone.kind === 'aside' || lastHistory(knowledge, context) !== undefined
  const least = sure ? (pronoun.test(text) ? detail.told : detail.sure) : detail.score
  const [asked] = asksContent.test(text) && isVague(alone) ? findAttributes(text) : []
  const below = isVague(alone) ? lag.vague : lag.guessed
  for (const topic of followed) {
    const root = rootOf(knowledge, topic)
    const wanted = asked && attributeTopic(knowledge, topic, asked)
    if (wanted && !wanted.missing && rootOf(knowledge, wanted.finding) === root)
      return aboutTopic(alone, wanted)
    const nearest = nearestOf(idsByRoot(knowledge).get(root) ?? [], alike)
    if (!nearest || nearest.score < Math.max(least, alike.score - below)) continue
    const cue = languageByScript(text) === 'zh' ? findAttributes(text)[0] : undefined
    // 是突然痒起来的吗 is not about the itch at night.
    if (cue !== undefined && isVague(alone) && knowledge.finding.get(nearest.id)?.attribute !== cue)
      return aboutTopic(alone, attributeTopic(knowledge, topic, cue))
    if (nearest.id !== root)
      return aboutTopic(alone, { finding: nearest.id, of: root, guessed: true })
    // Its name is in many questions about something else.
    if (nearest.score < detail.sure || alike.value !== root) return undefined
    const [attribute] = findAttributes(text)
    return attribute === undefined
      ? aboutFinding(alone, root)
      : aboutTopic(alone, attributeTopic(knowledge, root, attribute))
  }
  return undefined
}

/** Asks only whether it hurts. */
const painOnly =
  /^(?:(?:and|so|is|are|it|they|does|do|did|any|also|at all|as well|with|that|there|the|have|has|had|having|you|he|she|got|get|been|in|feel|feeling|noticed|kind of|sort of) ?)*(?:pain|pains|painful|hurt|hurts|sore|ache|aches)(?: or (?:aches?|pains?|discomfort|soreness|anything))?(?: (?:at all|as well|too|with (?:it|that)|there|then|anywhere|now|right now|at the moment))*$|^(?:还|也|会|有点?)?(?:疼不疼|疼吗|疼么|疼呢)$/
/** Whether a name is that of a pain. */
export const painful = /\b(?:pain|painful)\b/

const besideTopic = / with (?:it|that|this)$/

/** Whether an English question asks for pain, of nothing in particular. */
export const asksPain = (text: string): boolean =>
  languageByScript(text) === 'en' &&
  painOnly.test(text) &&
  !pronoun.test(text.replace(besideTopic, ''))

/** The pain of a region, or of the one that hurts with it, that was not talked about. */
const painOfRegion = ({ knowledge, followed }: FollowUp, region: Region): string | undefined =>
  knowledge.findings.find(({ id, name, kind }) => {
    if (kind !== 'symptom' || followed.includes(id) || !painful.test(name.en.toLowerCase()))
      return false
    const own = regionOf(knowledge, id)
    return own === region || (own !== undefined && own.word.en === region.aches)
  })?.id

/** The finding of a region that a question means once the word for the region is added to it. */
function findingOfRegion(given: FollowUp, region: Region): string | undefined {
  const { knowledge, reader, text, alone, doubtful, followed } = given
  const said = alone.topics[0]?.finding
  const near = (id: string) => regionOf(knowledge, id) === region && id !== followed[0]
  const whole = complete(text, region.word)
  const { kind, topics } = reader.parse(whole)
  const found = kind === 'finding' ? topics[0]?.finding : undefined
  const names = reader.named(whole)
  // That the word for the region names it by itself says nothing, nor does a phrase that is still there.
  const word = region.word[languageByScript(text)]
  // "How did it start?" asks for a detail of the topic, not of another pain of its region.
  const { attribute } = knowledge.finding.get(found ?? '') ?? {}
  const detail = findAttributes(text).some((asked) => asked === attribute)
  const one = found !== undefined && !detail && !reader.named(word).includes(found)
  if (one && found !== said && near(found) && !(said && names.includes(said))) return found
  if (!doubtful || choice.test(text)) return undefined
  const those = idsByRegion(knowledge)
    .get(region)
    ?.filter((id) => id !== followed[0])
  const alike = reader.alike(text)
  const nearest = nearestOf(those ?? [], reader.alike(whole))
  // The word for the region must not be all that they have in common.
  return nearest &&
    alike.scoreOf(nearest.id) >= regional.own &&
    nearest.score >= Math.max(regional.whole, alike.score)
    ? nearest.id
    : undefined
}

/** "Itchy?" after a red eye is about the eye: another finding of the region doctor and patient are talking about. */
export function sameRegion(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone, doubtful, followed } = given
  if (namesRegion(text) || !(doubtful || isBrief(text))) return undefined
  const said = alone.topics[0]?.finding
  const here = [...lastAsked(context), ...followed].flatMap((id) => regionOf(knowledge, id) ?? [])
  for (const region of new Set(here)) {
    if (said !== undefined && regionOf(knowledge, said) === region) return undefined
    const found = painOnly.test(text) ? painOfRegion(given, region) : findingOfRegion(given, region)
    if (found !== undefined) return aboutFinding(alone, found)
  }
  return undefined
}

/** Whether a complaint was talked about, be it only as told beside another one. */
export const isMentioned = (
  root: string,
  { knowledge, context, followed }: Pick<FollowUp, 'knowledge' | 'context' | 'followed'>,
): boolean =>
  [
    ...followed,
    ...context.dialogue.flatMap(({ reply }) =>
      reply.told.filter(isKnown).map((one) => one.finding),
    ),
  ].some((id) => rootOf(knowledge, id) === root)

/**
 * A guess at a detail of a complaint that nobody has mentioned: a question with a yes or a no for an answer is about that
 * complaint, another one about the topic.
 */
export function foreignDetail({ knowledge, context, text, alone, followed }: FollowUp) {
  const [said] = alone.topics
  if (alone.kind !== 'finding' || !said?.guessed || !knowledge.finding.get(said.finding)?.parent)
    return undefined
  const root = rootOf(knowledge, said.finding)
  if (isMentioned(root, { knowledge, context, followed })) return undefined
  return act.isQuestionClause(text) && !act.hasQuestionWord(text)
    ? aboutFinding(alone, root)
    : undefined
}

/** Asks how something is, which is no more than whether it is in order. */
const asksHow = /(?:怎么?样|如何|咋样)(?:了|啊|呢)?$/

/** Attributes that a yes-or-no question asks for beside a symptom that was told: "咳嗽晚上重吗？". */
const ofDetail: readonly AskedAttribute[] = [
  ...(['pattern', 'timing', 'onset', 'radiation'] as const),
  ...(['aggravating', 'relieving', 'site', 'frequency', 'duration'] as const),
]

const isPresent = ({ dialogue, view }: FollowUp['context'], finding: string): boolean =>
  view.complaint.findings.includes(finding) ||
  dialogue.some(({ reply }) =>
    reply.told.some((one) => one.finding === finding && one.state === 'present'),
  )

/** "What did the thermometer say?" of a fever that was told: more of it than that it is there. */
export function moreOfTold({ knowledge, context, reader, text, alone }: FollowUp) {
  const [said] = alone.topics
  if (alone.kind !== 'finding' || !said || said.guessed || said.attribute !== undefined)
    return undefined
  const told = context.dialogue.some(({ reply }) =>
    reply.told.some((one) => one.finding === said.finding && isKnown(one)),
  )
  if (!told) return undefined
  // "睡眠怎么样？" asks whether it is in order.
  const content = asksContent.test(text) && !asksHow.test(text)
  const [attribute] = findAttributes(text)
  const yesNo = languageByScript(text) === 'zh' && attribute !== undefined
  const detailed = yesNo && ofDetail.includes(attribute) && isPresent(context, said.finding)
  if (attribute !== undefined && (content || detailed))
    return aboutTopic(alone, attributeTopic(knowledge, said.finding, attribute))
  const own = knowledge.findings.filter(({ id }) =>
    findAncestors(knowledge, id).includes(said.finding),
  )
  const nearest = nearestOf(
    own.map(({ id }) => id),
    reader.alike(text),
  )
  if (oneWord.test(text)) return undefined
  // "You have a rash, you say?" is about the rash itself.
  const least = content
    ? detail.score
    : Math.max(detail.told, reader.alike(text).scoreOf(said.finding) + detail.lead)
  if (nearest && nearest.score >= least)
    return aboutTopic(alone, { finding: nearest.id, of: said.finding, guessed: true })
  return content
    ? aboutTopic(alone, { ...said, of: said.finding, attribute: 'which', missing: true })
    : undefined
}
