/** Which attribute of the topic a follow-up question asks for: how long, where, what makes it worse. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import { type AskedAttribute, findAttributes, looseAttribute } from '../attributes.js'
import { whatChanges } from '../english/spoken-turns.js'
import { languageByScript } from '../finding-match.js'
import { attributeTopic, followedTopic, isWholeIllness, lastHistory, type Topic } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { isMentioned, nearestOf, rootOf } from './findings.js'
import { asksContent, type FollowUp, goesOn, isBrief, isShort } from './question.js'
import { namesRegion, regionOf } from './regions.js'

/** The attribute of the whole illness that a question asks for; undefined for any other question. */
function wholeAttribute(knowledge: Knowledge, { kind, topics }: ParsedUtterance) {
  const [only, ...more] = topics
  return kind === 'finding' && only && more.length === 0 && isWholeIllness(knowledge, only.finding)
    ? knowledge.finding.get(only.finding)?.attribute
    : undefined
}

/** The reading as a question of an attribute that names no complaint. */
const loosely = ({ alone, text }: FollowUp, attribute: AskedAttribute): ParsedUtterance => ({
  ...alone,
  kind: 'attribute',
  topics: [],
  asides: [],
  loose: [attribute],
  about: text,
})

const aboutAttribute = (alone: ParsedUtterance, topics: readonly Topic[]): ParsedUtterance => ({
  ...alone,
  kind: 'finding',
  topics,
  loose: [],
  asides: [],
})

/** Words of taking something or having a habit, which "how long?" then is about. */
const ofHabit =
  /\b(?:on (?:it|that|them|those)|taking|taken|takes?|smok\w+|drink\w*|drunk|doing|us(?:e|ed|ing)|start(?:ed)? (?:on )?(?:that|them|those|taking))\b|吃|抽|喝|用|^(?:那)?(?:有)?(?:多久|多少年|几年|多长时间)(?:了)?$/

/** Attributes in which an open question of the same words can be meant: "what brings it on?". */
const opening: readonly AskedAttribute[] = ['aggravating', 'relieving', 'timing']

/** Whether the topic has this attribute on record of itself, beside that of the whole illness. */
function hasOwn({ knowledge, followed: [topic] }: FollowUp, attribute: AskedAttribute): boolean {
  const own = topic === undefined ? undefined : attributeTopic(knowledge, topic, attribute)
  return own !== undefined && !own.missing && !isWholeIllness(knowledge, own.finding)
}

/** A question of nothing but an attribute, which reads like something else without the dialogue. */
export function looseOfTopic(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone, doubtful, followed } = given
  const { kind } = alone
  // A second detail is asked for beside the first.
  if (alone.topics.length > 0 && alone.loose.length > 0) return undefined
  const whole = wholeAttribute(knowledge, alone)
  if (whole === 'duration' && lastHistory(knowledge, context) && ofHabit.test(text))
    return loosely(given, whole)
  const attribute = looseAttribute(text)
  if (attribute === undefined) return undefined
  if (attribute === whole) return hasOwn(given, attribute) ? loosely(given, attribute) : undefined
  const counted = ['frequency', 'spell', 'doing', 'last', 'latency'].includes(attribute)
  const [topic] = followed
  // "Which ear?" after an earache names what the topic is of.
  const own = topic === undefined ? undefined : regionOf(knowledge, topic)
  const modelled = () =>
    isBrief(text) &&
    ['severity', 'site'].includes(attribute) &&
    followedTopic(knowledge, context, attribute, () => true)?.missing === undefined
  const named = kind === 'aside' && (counted || own?.named.test(text) || modelled())
  const shows = kind === 'courtesy' && attribute === 'site'
  const opens = kind === 'open' && opening.includes(attribute)
  return doubtful || opens || shows || named || whole !== undefined
    ? loosely(given, attribute)
    : undefined
}

/** "About the cough: how long?": the attribute of what the question names, not of the topic. */
export function attributeOfNamed(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, reader, text, alone } = given
  const whole = wholeAttribute(knowledge, alone)
  if (alone.kind !== 'attribute' && whole === undefined) return undefined
  // "Any worse when you cough?" is not about a cough.
  const definition = reader
    .named(text.slice(0, whatChanges(text).from))
    .flatMap((id) => knowledge.finding.get(id) ?? [])
    .findLast(({ kind, type }) => kind === 'symptom' && type === 'bool')
  if (!definition) return undefined
  const wanted = whole === undefined ? alone.loose : [whole]
  return aboutAttribute(
    alone,
    wanted.map((one) => attributeTopic(knowledge, definition.id, one)),
  )
}

/** Puts a case: "and if you cough?", "is it worse when you cough?", "走路的时候呢？". */
const circumstance =
  /^(?:(?:and|but|so|or) )*(?:is|are|does|do) (?:it|they|that|this) (?:get |feel |any |hurt |come |comes |bother you |on )*(?:worse |better |more |easier )?(?:if|when|while|after) |^(?:(?:and|but|so|or) )*(?:does|do|did|will|would) (?:\w+ ){1,5}?(?:make|makes|bring|brings|set|sets) (?:it|them|that|this|the pain)(?: (?:on|off|hurt|ache|worse|better|easier|any|come|feel|more|much|a lot))+$|^(?:(?:and|but|so|or|what about|how about) )*(?:if|when|while|after|before) (?:you|it|youre)\b|(?:时|时候|之?后|之?前|起来|下来)呢$|^(?:那)?(?:低头|抬头|弯腰|平躺|躺下|躺着|侧躺|走路|走动|活动|运动|深呼吸|吸气|咳嗽|用力|休息|歇着?)(?:一会儿)?呢$/

/** A question of its own after the case. */
const main = / (?:do|does|did|is|are|was|were|have|has|had|can|could|what|any) |(?: \w+){11}/

/** Least score at which a detail of the topic is what changes in a case that is put. */
const circumstantial = 0.1

/** 咳嗽呢 puts a case of a pain that a cough jolts, and else asks for the cough. */
const coughAlone = /^(?:那)?咳嗽呢$/
const jolted = /头[疼痛]|胸|腹|肚|腰/

/** Whether a question only puts a case, and leaves out what of the topic then happens. */
export const supposes = ({ knowledge, text, alone, followed }: FollowUp): boolean =>
  circumstance.test(text) &&
  !(
    coughAlone.test(text) && !jolted.test(knowledge.finding.get(followed[0] ?? '')?.name.zh ?? '')
  ) &&
  !main.test(text) &&
  // What a medicine does is another matter.
  alone.topics.every(({ finding }) => knowledge.finding.get(finding)?.kind === 'symptom') &&
  alone.topics.every(({ of, finding }) => of === undefined && !followed.includes(finding))

/** Rest, which eases by itself, and is no treatment. */
const byResting = /\b(?:rest|resting|lying|sitting|sleep)\b|休息|躺|坐|睡/

/** Attributes that a case can change. */
const changing: readonly AskedAttribute[] = ['aggravating', 'relieving', 'timing', 'radiation']

const eases = /\b(?:better|easier)\b/

/** "Is it worse when you lie down?", "and if you cough?": what makes the topic better or worse, whatever that is. */
export function changeOfTopic(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, reader, text, alone, doubtful, followed } = given
  const [topic] = followed
  if (supposes(given) && topic !== undefined) {
    const root = rootOf(knowledge, topic)
    const wanted = eases.test(text) ? changing.filter((one) => one !== 'aggravating') : changing
    const details = knowledge.findings.filter(
      ({ id, attribute }) =>
        attribute && wanted.includes(attribute) && rootOf(knowledge, id) === root,
    )
    const nearest = nearestOf(
      details.map(({ id }) => id),
      reader.alike(text),
    )
    if (nearest && nearest.score >= circumstantial)
      return aboutAttribute(alone, [{ finding: nearest.id, of: root, guessed: true }])
  }
  const attribute = supposes(given)
    ? 'aggravating'
    : findAttributes(text).find((one) => one === 'aggravating' || one === 'relieving')
  // A topic that a text names besides is what makes the difference: "worse when you turn over?".
  const other =
    alone.kind === 'aside' && (languageByScript(text) === 'zh' || !reader.namesAside(text))
  const reads = supposes(given) || ((doubtful || other) && isShort(text))
  const treats = alone.asides.some((aside) => aside === 'tried' || aside === 'helped')
  if (!reads || (treats && !byResting.test(text))) return undefined
  const change = attribute && followedTopic(knowledge, context, attribute, () => true)
  return change && aboutAttribute(alone, [change])
}

/** Of several details of a topic that answer the same question, the nearest: "worse on bumps?", not "after meals?". */
function nearestDetail({ knowledge, reader, text }: FollowUp, topic: Topic): Topic {
  const { of, attribute, missing } = topic
  if (missing || of === undefined || !/[a-z]/.test(text)) return topic
  const root = rootOf(knowledge, of)
  const ids = knowledge.findings.filter(
    (one) => one.attribute === attribute && rootOf(knowledge, one.id) === root,
  )
  const alike = reader.alike(text)
  const nearest = nearestOf([topic.finding, ...ids.map(({ id }) => id)], alike)
  return nearest && nearest.score > alike.scoreOf(topic.finding)
    ? { ...topic, finding: nearest.id }
    : topic
}

/** What a Chinese question puts as a case. */
const caseZh = /[躺坐站走咳冷热累睡歇]|活动|低头|弯腰|翻身|休息|天气|情绪|洗澡|吃|饭|喝/

/** A detail of one circumstance is none of another: 平躺会不会加重 is not about meals. */
function unlessElse({ knowledge, reader, text }: FollowUp, topic: Topic): Topic {
  const { of, attribute, finding, missing } = topic
  if (missing || of === undefined || !caseZh.test(text)) return topic
  if (attribute !== 'aggravating' && attribute !== 'relieving') return topic
  const fits = knowledge.finding.get(finding)?.type !== 'bool'
  return fits || reader.alike(text).scoreOf(finding) >= circumstantial
    ? topic
    : { finding: of, of, attribute, missing: true }
}

/**
 * "Is it worse after food?" of a sickness, where only a belly ache has that on record: a detail of a complaint that was
 * not mentioned asks for the same attribute of the topic.
 */
export function sameAttribute(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, reader, text, alone, followed } = given
  const [said, ...more] = alone.topics
  const definition = said && knowledge.finding.get(said.finding)
  if (!definition?.attribute || !definition.parent || more.length > 0) return undefined
  const root = rootOf(knowledge, definition.id)
  const [topic] = followed
  const named = reader.named(text).includes(root) || namesRegion(text)
  if (topic === undefined || named || isMentioned(root, { knowledge, context, followed }))
    return undefined
  // What a thermometer shows is of nothing else.
  const asked = findAttributes(text)
  // A Chinese question that names no complaint leaves it out, however long: 休息以后能缓解吗.
  const goes = goesOn(text) || (languageByScript(text) === 'zh' && asked.length > 0)
  if (!goes || asked.includes('reading')) return undefined
  const own = attributeTopic(knowledge, topic, definition.attribute)
  return aboutAttribute(alone, [nearestDetail(given, unlessElse(given, own))])
}

/**
 * "Whereabouts are the cramps?", where the words are like those of what eases them: the attribute that is asked for, not
 * the one that was guessed.
 */
export function attributeOfGuess(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone, followed } = given
  const [said, ...more] = alone.topics
  const definition = said?.guessed ? knowledge.finding.get(said.finding) : undefined
  const [asked, ...others] = findAttributes(text)
  if (!definition?.attribute || !definition.parent || more.length > 0) return undefined
  if (asked === undefined || others.includes(definition.attribute)) return undefined
  const root = rootOf(knowledge, definition.id)
  const about = isMentioned(root, { knowledge, context, followed })
  return asked !== definition.attribute && about && asksContent.test(text)
    ? aboutAttribute(alone, [attributeTopic(knowledge, root, asked)])
    : undefined
}
