/**
 * "And the legs?", "耳朵呢？": a question that only names a part of the body, what comes out of it, a time or the household.
 * It is about what can go with the complaint there: ankles that swell with breathlessness, not those of the knowledge
 * base at large, and by the diseases of the knowledge base that have both.
 */
import { isInapplicable } from '../../../../inference/generative-model.js'
import { ageInYears } from '../../../../inference/posterior.js'
import type { FindingDefinition, Knowledge } from '../../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../../knowledge/per-knowledge.js'
import { findAncestors } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { aboutFinding, aboutTopic, rootOf } from './findings.js'
import type { FollowUp } from './question.js'
import { regionOf } from './regions.js'
import { aboutAside } from './sequels.js'

/** What a question can name alone. */
interface Organ {
  /** Fits the question without the words around its noun. */
  readonly asked: RegExp
  /** Fits the names of the findings that it can be about. */
  readonly named: RegExp
  /** Only details of the complaint, such as that it is worse at night. */
  readonly detail?: true
  /** Only where the topic is of this region. */
  readonly within?: string
  /** The topic of the knowledge base that it is in a small child. */
  readonly infant?: string
}

// biome-ignore format: a table
const organs: readonly Organ[] = [
  { asked: /^(?:legs?|feet|foot|ankles?)$|^(?:双|两)?(?:腿|脚|下肢|脚踝|脚脖子|小腿)$/, named: /\b(?:legs?|ankles?|feet|foot|limbs?)\b|腿|脚|下肢|肢体/ },
  { asked: /^(?:hands?|fingers?)$|^(?:双|两)?手(?:指)?$/, named: /\b(?:hands?|fingers?)\b|手/ },
  { asked: /^arms?$|^(?:胳膊|手臂|上肢)$/, named: /\b(?:arms?|limbs?)\b|胳膊|手臂|肢体|肩/ },
  { asked: /^eyes?$|^眼睛?$/, named: /\b(?:eyes?|sight|vision|light)\b|眼|视|光/ },
  { asked: /^(?:(?:eye)?sight|vision)$|^(?:视力|看东西)$/, named: /\b(?:sight|vision)\b|视|看东西/ },
  { asked: /^ears?$|^耳朵$/, named: /\b(?:ears?|hearing)\b|耳|听力/ },
  { asked: /^hearing$|^(?:听力|听东西)$/, named: /\bhearing\b|听力/ },
  { asked: /^nose$|^鼻子$/, named: /\b(?:nose|nasal|smell)\b|鼻/ },
  { asked: /^throat$|^(?:喉咙|嗓子)$/, named: /\bthroat\b|喉|咽|嗓/ },
  { asked: /^neck$|^(?:脖子|颈部)$/, named: /\bneck\b|颈|脖/ },
  { asked: /^(?:back|loins?)$|^(?:后背|背|腰|后腰)$/, named: /\b(?:back|flank)\b|后背|腰/ },
  { asked: /^groin$|^(?:大腿根|腹股沟)$/, named: /\bgroin\b|大腿根|腹股沟/ },
  { asked: /^face$|^(?:脸|面部)$/, named: /\b(?:face|facial)\b|脸|面/ },
  { asked: /^(?:speech|talking)$|^(?:说话|讲话|口齿)$/, named: /\bspeech\b|说话|口齿/ },
  { asked: /^(?:skin)$|^皮肤$/, named: /\b(?:skin|rash|itch\w*)\b|皮肤|疹|痒/ },
  { asked: /^(?:heart)$|^心脏?$/, named: /\b(?:palpitations?|heartbeat)\b|心慌|心悸/ },
  { asked: /^chest$|^(?:胸口?|胸部)$/, named: /\bchest\b|胸/ },
  { asked: /^(?:tummy|belly|stomach|abdomen|insides)$|^(?:肚子|腹部|胃)$/, named: /\b(?:belly|abdominal|stomach|tummy)\b|腹痛|肚子/ },
  { asked: /^(?:bowels?|stools?|motions?|poos?|(?:the )?other end|number twos?)$|^(?:大便|拉的)$/, named: /\b(?:stools?|diarrhoea|constipation|bowel)\b|便|腹泻/ },
  { asked: /^(?:waterworks|urine|water|wee|pee|peeing|weeing|bladder)$|^(?:小便|尿)(?:的?颜色)?$/, named: /\b(?:urine|urination|pee|wee)\b|尿|小便/, infant: 'wet-nappies' },
  { asked: /^(?:what )?colou?r(?: is it| is that)?$|^(?:什么)?颜色(?:的)?$/, named: /\bblood in (?:the )?urine\b|血尿/, within: 'urine' },
  { asked: /^(?:sleep|sleeping)$|^(?:睡眠|睡觉)$/, named: /\b(?:sleep|sleeping)\b|睡/ },
  { asked: /^(?:breathing|breath)$|^(?:呼吸|喘气)$/, named: /\b(?:breathless\w*|wheez\w*)\b|气短|喘/ },
  { asked: /^(?:at |in the |during the |over )?(?:nights?|night ?time|overnight)$|^(?:夜里|晚上|夜间|半夜|睡觉的?时候)$/, named: /\bnights?\b|夜/, detail: true },
  { asked: /^(?:food|foods|eating|anything you ate|meals?)$|^(?:吃东西|饮食|吃的东西|吃饭)$/, named: /\b(?:food|eat\w*|meals?)\b|饭|吃|食/, detail: true },
  { asked: /^(?:(?:the )?(?:rest of|others? in) (?:your |the )?(?:family|household|house)|(?:the )?others? at home|(?:the )?others|everyone else|everybody else|(?:anyone|anybody) else (?:at home|in the (?:family|house|household))|(?:wife|husband|partner) and (?:the )?(?:kids|children))$|^(?:家里)?(?:其他|别的|其它)(?:的)?人$|^(?:老婆|爱人|老公)孩子$/, named: /\b(?:others|someone ill)\b|同住的人|接触过/ },
]

const leading =
  /^(?:(?:and|but|so|ok|okay|right|then) )*(?:(?:what|how) about |(?:hows|how is|how are) )?(?:(?:and|with|round|down|in|up to|to|through to|up) )*(?:(?:your|the|his|her|their) )*/
const trailing =
  /(?: (?:any pain|any trouble|any problems?|then|at all|too|as well|all right|ok|okay))+$/
const leadingZh = /^(?:那|那么|还有|嗯|您|你|他|她|孩子|宝宝)*的?/
const trailingZh = /(?:呢|怎么样|咋样|怎样|好(?:不好|吗)|有(?:没有)?(?:事|问题)[吗没]?)(?:呢)?$/

/** A question without the words around the one that it names; undefined where it does not merely name one. */
function nounOf(text: string): string | undefined {
  if (/[a-z]/.test(text)) return text.replace(leading, '').replace(trailing, '')
  if (/^(?:是)?什么颜色的?$/.test(text)) return '颜色'
  return trailingZh.test(text) ? text.replace(trailingZh, '').replace(leadingZh, '') : undefined
}

/** The names of a finding, and of the values that it takes. */
const namesOf = ({ name, values = [] }: FindingDefinition): string =>
  [name.en.toLowerCase(), name.zh, ...values].join(' ')

const isOneOf = (values: Readonly<Record<string, number>>) => Object.values(values)

/** How likely a disease brings a finding: of one of several values, any at all. */
const brought = (one: Knowledge['diseases'][number]['findings'][string] | undefined): number =>
  typeof one === 'number' ? one : one === undefined ? 0 : Math.max(...isOneOf(one))

/** The diseases of each finding, with how much likelier than at large they bring it. */
const bringersOf = perKnowledge(({ diseases, findings }) => {
  const table = new Map<string, readonly (readonly [Knowledge['diseases'][number], number])[]>()
  for (const { id, leak } of findings) {
    const base = typeof leak === 'number' ? leak : 0
    const own = diseases.map((one) => [one, brought(one.findings[id]) - base] as const)
    table.set(
      id,
      own.filter(([one, more]) => one.findings[id] !== undefined && more > 0),
    )
  }
  return table
})

/** How often a finding goes with a complaint: over the diseases that bring both. */
function linkOf(knowledge: Knowledge, complaint: string, id: string): number {
  const complaints = new Map(bringersOf(knowledge).get(complaint) ?? [])
  return (bringersOf(knowledge).get(id) ?? []).reduce(
    (sum, [disease, more]) => sum + disease.prior.base * (complaints.get(disease) ?? 0) * more,
    0,
  )
}

/** What was spoken of with an answer: nobody asks again for it by the part of the body alone. */
const told = ({ dialogue }: FollowUp['context']): ReadonlySet<string> =>
  new Set(dialogue.flatMap(({ reply }) => reply.told.map(({ finding }) => finding)))

/** Attributes of a complaint that a place in the body names, and that an occasion does. */
const places = ['radiation', 'site'] as const
const occasions = ['timing', 'aggravating'] as const

/** The detail of a topic that is of the organ: the pain that goes through to the back. */
function detailOf(given: FollowUp, { named, detail }: Organ): string | undefined {
  const { knowledge, followed } = given
  const attributes = detail ? occasions : places
  const said = told(given.context)
  for (const topic of followed) {
    const root = rootOf(knowledge, topic)
    const found = knowledge.findings.find(
      (one) =>
        one.knownBy === 'patient' &&
        attributes.some((attribute) => attribute === one.attribute) &&
        !said.has(one.id) &&
        findAncestors(knowledge, one.id).includes(root) &&
        named.test(namesOf(one)),
    )
    if (found) return found.id
  }
  return undefined
}

/** The finding of the organ that goes best with the first of the topics that any goes with, and one that the patient has. */
function linkedTo(given: FollowUp, { named }: Organ): readonly string[] {
  const { knowledge, context, followed } = given
  const { sex, age } = context.view.demographics
  const said = told(context)
  const fits = knowledge.findings.filter(
    (finding) =>
      finding.knownBy === 'patient' &&
      finding.type === 'bool' &&
      finding.parent === undefined &&
      !followed.includes(finding.id) &&
      !said.has(finding.id) &&
      named.test(namesOf(finding)) &&
      !isInapplicable({ finding }, { sex, age: ageInYears(age) }),
  )
  for (const topic of context.view.complaint.findings.concat(followed)) {
    const links = fits
      .map(({ id }) => ({ id, link: linkOf(knowledge, topic, id) }))
      .sort((a, b) => b.link - a.link)
    const [best, ...more] = links.filter(({ link }) => link > 0)
    if (!best) continue
    const has = more.find(({ id }) => {
      const { state, stigma } = context.view.findings.get(id) ?? {}
      return state === 'present' && stigma === 0
    })
    return has ? [best.id, has.id] : [best.id]
  }
  return []
}

/** Asks, in Chinese, how something is. */
const asksHow = /(?:怎么样|咋样|怎样)(?:呢)?$/

/** Says that something else is asked for. */
const goesOn = /^(?:and|but|so|what about|how about)\b|呢$| too$/

/** Years up to which a child wears nappies. */
const nappiesUpTo = 2

/** The name of a finding that is of the hands and of the feet. */
const ofLimbs = /\bhands? or feet\b|\blimbs?\b/

/** A question that only names an organ, as one about what goes with the complaint there. */
export function ofOrgan(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, text, alone, followed } = given
  const noun = followed.length > 0 ? nounOf(text) : undefined
  const organ = noun === undefined ? undefined : organs.find(({ asked }) => asked.test(noun))
  if (!organ) return undefined
  // "睡眠怎么样？" names a finding by itself.
  if (asksHow.test(text) && alone.topics.some(({ guessed }) => !guessed)) return undefined
  const { within, infant } = organ
  const [topic = ''] = followed
  const definition = knowledge.finding.get(topic)
  // "Sleep?" of who came because of it asks for that.
  if (!within && !goesOn.test(text) && definition && organ.named.test(namesOf(definition)))
    return undefined
  if (within && regionOf(knowledge, followed[0] ?? '')?.word.en !== within) return undefined
  const age = ageInYears(given.context.view.demographics.age)
  if (infant && knowledge.aside.has(infant) && age !== undefined && age < nappiesUpTo)
    return aboutAside(alone, infant)
  const detail = detailOf(given, organ)
  if (detail !== undefined)
    return aboutTopic(alone, { finding: detail, of: rootOf(knowledge, detail), guessed: true })
  const name = definition?.name.en.toLowerCase() ?? ''
  if (ofLimbs.test(name) && organ.named.test(name)) return aboutFinding(alone, topic)
  const [first, second] = organ.detail ? [] : linkedTo(given, organ)
  if (first === undefined) return undefined
  const read = aboutFinding(alone, first)
  return second === undefined
    ? read
    : { ...read, topics: [...read.topics, { finding: second, guessed: true }] }
}
