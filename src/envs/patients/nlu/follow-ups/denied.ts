/** Chinese questions that take for granted what the patient has just denied: 当时住院了吗, 一天多少. It is denied again. */
import { normaliseText } from '../../../../text/phrase-search.js'
import * as act from '../acts.js'
import { languageByScript } from '../finding-match.js'
import { isKnown, isWholeIllness } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { aboutTopic } from './findings.js'
import type { FollowUp } from './question.js'
import { aboutAside, sequelOf } from './sequels.js'

/** Exchanges back that a denial is gone on about. */
const memory = 2

/** Goes on about an event or an illness of old. */
const ofThen =
  /(?:当时|那次|那回|那会儿|那时候?|后来)[^，]{0,6}(?:住院|治|看(?:过|的|医)|[吃用][的了过]?什么|手术|查|处理|停|怎么好|多大|几岁|多久|原因)|^(?:那)?(?:是)?(?:在)?哪一?年|^住(?:了)?(?:多久|几天|过?院)|出院|复查|治好|怎么(?:治|停)的?|为什么停/

/** Goes on about something taken or a habit. */
const ofHabit =
  /^(?:那)?(?:一天|每天|一次|每次|一顿|平时)?(?:大概)?(?:要|得|都)?(?:吃|用|抽|喝|抹|打)?(?:过)?了?的?(?:多少|几[根支包两瓶片粒次年]|多久|什么|啥)(?:药|酒|烟)?(?:了|呢|年了|一天)?$|^(?:那)?(?:吃|用|抽|喝|含|抹)(?:了|完|过)?(?:以后|之后|后)?(?:管用|有用|能缓解|能好|好[点些])|戒(?:了|过)/

/** May ask of the illness of today. */
const ofToday = /开始|这次|什么时候|多久|几[天年次]|一样|怎么样/

/** Says at its beginning that there is or was no such thing. */
const saysNo = /^(?:(?:嗯|没有|没|哦|呃)，)?[我他她]?(?:们|一直|从来|还|以前|都|真|倒)*(?:没|不|无)/

/** What was denied last: a finding or a topic of the base. */
interface Denied {
  readonly finding?: string
  readonly aside?: string
}

/** What the patient denied in the last exchanges that is no symptom; undefined where something else was spoken of since. */
function lastDenied({ knowledge, context, reader }: FollowUp): Denied | undefined {
  for (const { utterance, reply } of context.dialogue.slice(-memory).reverse()) {
    if (reply.understood === 'courtesy' || reply.understood === 'unknown') continue
    if (reply.told.some(isKnown)) return undefined
    const absent = reply.told.find(({ finding, state }) => {
      const { kind } = knowledge.finding.get(finding) ?? {}
      return state === 'absent' && kind !== 'symptom' && reply.asked.includes(finding)
    })
    if (absent) return { finding: absent.finding }
    if (reply.asked.length > 0) return undefined
    const id = reader.parse(utterance).asides.at(-1)
    const aside = id === undefined ? undefined : knowledge.aside.get(id)
    if (!aside) return undefined
    const old = act.history.test(normaliseText(utterance).text)
    return old && (aside.denied || saysNo.test(reply.text)) ? { aside: aside.id } : undefined
  }
  return undefined
}

/** 当时怎么治的 after a no: the same again. */
export function ofDenied(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, reader, text, alone } = given
  if (languageByScript(text) === 'en') return undefined
  const denied = lastDenied(given)
  if (!denied) return undefined
  const named = reader
    .named(text)
    .some((id) => id !== denied.finding && !isWholeIllness(knowledge, id))
  if (named || alone.recap) return undefined
  const { finding, aside } = denied
  const { kind } = knowledge.finding.get(finding ?? '') ?? {}
  const habit = kind === 'social' || kind === 'medication'
  // 什么时候开始的 after a denied episode is about the illness of today.
  const more = habit || !ofToday.test(text)
  const sequel = more ? sequelOf(given, [finding ?? aside ?? '']) : undefined
  const takes = habit && ofHabit.test(text)
  if (!sequel && !takes && !ofThen.test(text)) return undefined
  if (finding !== undefined) return aboutTopic(alone, { finding })
  return aside === undefined ? undefined : aboutAside(alone, aside)
}
