/** Recaps: a doctor says what they understood and asks whether it is right: "So no fever, but a cough, right?". */
import type { NormalisedText, TextClause } from '../../../../text/phrase-search.js'
import { isQuestionClause } from '../acts.js'

/** What a doctor has summed up, to be confirmed. */
export interface Recap {
  /** Findings that it says the patient does not have. */
  readonly denied: ReadonlySet<string>
  /** Whether it asks, too, what is missing: "Did I miss anything?". */
  readonly invites: boolean
}

/** Where a recap is told, and what its closing asks. */
export interface RecapFrame extends Pick<Recap, 'invites'> {
  /** End of what is told. */
  readonly end: number
  /** Whether it is one whatever it tells. */
  readonly sure: boolean
}

const lead = '(?:(?:so|and|now|then|well|ok|okay|but|or) )*'
const summed =
  '(?:that|it|this|you|everything|all that|all of (?:that|this|it)|those|things)(?: (?:all|about|roughly|more or less))*'
const rightly = '(?:right|correct|correctly|straight|properly|so|true|it|fair|accurate|everything)'
/** Closings that only a recap has. */
const strong = new RegExp(
  [
    `^${lead}(?:is (?:that|this|it)|was (?:that|this|it)|is ${summed})(?: (?:all|about|roughly|more or less|pretty much|still))* ${rightly}(?: so far| then)?$`,
    `^${lead}(?:have|did|do|am) i (?:got|get|getting|have|hear|heard|understood|understand|understanding|put|summed|follow|following) (?:up )?${summed} ?(?:up )?${rightly}?(?: so far)?$`,
    `^${lead}(?:am i (?:right|correct|on the right (?:track|lines))|(?:does|would|do) (?:that|this|it|all that|you say that) (?:all )?(?:sound|seem|look|cover|sum)(?: (?:it|things|everything))?(?: up)?(?: (?:about|all))?(?: ${rightly})?|(?:is|was|would) (?:that|this|it)(?: be)? (?:a )?(?:fair|good|accurate|right|correct|reasonable) (?:summary|picture|description|account|reflection)|(?:a )?(?:fair|good|accurate|right|correct) (?:summary|picture|description|account)|(?:thats|that is) (?:about )?${rightly}|would you agree(?: with that)?)$`,
    '^(?:那|这样?|我)?(?:你看|你觉得)?(?:我)?(?:这样?|这么)?(?:子)?(?:说|讲|记|听|理解|总结|归纳|概括)(?:得|的)?(?:都|还)?(?:对|准确?|全|齐|清楚|没错)(?:吗|吧|不对?|么)$',
    '^(?:都|应该|我)*(?:没有?|没)(?:说|讲|记|听|弄|搞|理解)错(?:什么)?(?:吧|吗)$|^你看(?:是这样吗|(?:这样)?对(?:吗|吧|不对?|么))$',
  ].join('|'),
)
const weak =
  /^(?:right|correct|fair enough|agreed|yes|yeah|yep|isnt it|dont you|havent you|arent you|didnt you)$|^(?:对吗|对吧|对不对|对不|是吧|是吗|是不是|没错吧|是这样(?:吗|吧|的吧)?)$/
/** Closings that ask what is missing or wrong. */
const inviting = new RegExp(
  [
    `^${lead}(?:(?:did|have|am) i (?:miss|missed|missing|forget|forgot|forgotten|leave|left|leaving|get|got) (?:anything|something)(?: (?:out|else|wrong|important))*)$`,
    `^${lead}(?:(?:is|was) (?:there )?)?(?:anything|something)(?: else)?(?: that)? (?:(?:i|ive|i have|i ve) (?:missed|forgotten|forgot|left out|got wrong|misunderstood|misheard)|(?:you|youd|you would)(?: like| want| wish| care)?(?: to)? (?:add|change|correct)|to (?:add|change|correct)|missing|wrong)(?: (?:to|with|in|about) (?:that|this|it))?$`,
    '^(?:那)?(?:还|我)*(?:有(?:没有)?)?(?:什么|哪些|哪里)?(?:是)?我?(?:漏|落下|遗漏|说错|记错|讲错|要补充|想补充|需要补充|补充|说得不对)(?:掉|下|了|的|什么|地方)*(?:吗|没有?|么|吧)?$|^(?:应该|我|都|该|就|这样)*没(?:有)?(?:漏|落下?|遗漏|忘)(?:掉|下|了|什么|啥|的|东西)*(?:吧|吗|么)?$',
  ].join('|'),
)
const beginning =
  /^(?:(?:ok|okay|right|so|well|and|just|good|alright|all right|great|thanks|thank you|lovely|fine|hm|now|then) )*(?:so |(?:just )?to (?:recap|summari[sz]e|confirm|sum|check|go over|repeat|be clear|make sure)|in (?:summary|short)|summing up|(?:let me|ill|i will|can i) (?:just )?(?:recap|summari[sz]e|check|sum|see if|go over|repeat|run through|make sure)|(?:what )?i(?:ve| have)? (?:heard|understand|understood|gather|gathered)|if (?:ive|i have|i) (?:got|understood|understand|heard)|you (?:said|say|mentioned|told|have|ve|are|re|had|dont|havent|cant)|youve|youre|no |not |theres no)|^(?:好的?|嗯|行|那|那么)*(?:所以|也就是说|那?就是说|总结|小结|(?:那)?我(?:再|先|来|跟你)?(?:说说|重新)?(?:确认|总结|重复|小结|归纳|归拢|捋|复述|概括|梳理|核对|回顾|整理|理一|听到|理解|过一遍)|刚才|你(?:刚才|刚刚|说|是|没|这次|现在)|除了|没有|不)/
const negation =
  /(?:\b(?:no|not|without|dont|havent|hasnt|doesnt|didnt|arent|isnt|never|nor|or any)(?: \w+){0,3} |(?:没有?|无|不|未)[^，]{0,4})$/

/** A denial as part of what it denies; 没有力气 is a symptom. */
const withinNegation = /^没有(?!力|劲|胃口|食欲|精神|兴趣|感觉|知觉)/

/** Says of what was named that it is in order: "mood fine". */
const inOrder =
  /^ (?:(?:is|are|was|has been|have been|all) )*(?:fine|ok|okay|normal|good|all right|alright|regular|no problem|well|clear|done|complete|up to date|as usual|unchanged|steady)\b|^(?:都|也|还|一直|是|挺|很|比较)*(?:正常|清楚|挺?好|没问题|没事|还行|齐全?|全|打全了|打齐了|如常|跟平时一样)/

/** What a body does: who is "not sleeping" has the trouble that the word stands for. */
const ofFunction = /^(?:sleep\w*|appetite|eating|energy)$/

/** Whether what stands at a place is denied within its clause: "no fever", "you haven't had a cough". */
export function isNegated(
  { text, clauses }: NormalisedText,
  start: number,
  end: number = start,
): boolean {
  const clause = clauses.find((one) => start >= one.start && start < one.end)
  const phrase = text.slice(start, end)
  const fine = inOrder.test(text.slice(end, clause?.end))
  if (ofFunction.test(phrase)) return fine
  return negation.test(text.slice(clause?.start ?? 0, start)) || withinNegation.test(phrase) || fine
}

const healthy = /\b(?:dry|normal|regular|fine|good|healthy)\b/

/** Whether the words for a finding say that it is not there: a dry cough is one without phlegm. */
export const saysAbsent = (phrase: string, name: string): boolean =>
  healthy.test(phrase) && !healthy.test(name.toLowerCase())

/** The words of a closing at the end of a clause that tells: "… and no fever is that right". */
const runOn =
  / (?:is (?:that|this|it|all that) (?:all |about )*(?:right|correct)|(?:have|did) i (?:got|get|understood|understand) (?:that|it|this|you|everything) (?:all )?(?:right|correctly)|correct|right)$|(?:对吗|对吧|对不对|没错吧|是吧)$/

/** The closing of a text, clause by clause from its end; undefined where it has none. */
function closingOf(text: string, clauses: readonly TextClause[]) {
  let [from, sure, invites] = [clauses.length, false, false]
  while (from > 0) {
    const { start, end } = clauses[from - 1]!
    const clause = text.slice(start, end)
    const [asks, closes] = [inviting.test(clause), strong.test(clause)]
    if (!asks && !closes && !weak.test(clause)) break
    sure ||= closes || asks
    invites ||= asks
    from--
  }
  if (from < clauses.length) return { told: clauses.slice(0, from), sure, invites }
  const last = clauses.at(-1)
  const words = last && runOn.exec(text.slice(last.start, last.end))
  if (!last || !words) return undefined
  const rest = { ...last, end: last.start + words.index }
  return { told: [...clauses.slice(0, -1), rest], sure: false, invites }
}

/** Openings that ask whether what follows is right: "tell me if I've got this wrong: …", 我说一遍您听对不对：…. */
const checksAhead = new RegExp(
  [
    `^${lead}(?:please |just )*(?:(?:tell|let) me (?:know )?(?:if|whether)|stop me (?:if|where|when)|correct me (?:if|where)|see if|check (?:if|that)|say if|shout if) (?:i|im|ive|this|that|it|anything|any of (?:this|that))\\b.*\\b(?:right|wrong|correct|correctly|straight|mistaken|off|missed|sounds?)$`,
    '(?:说|捋|理|念|复述|总结|重复|归纳|讲|过)一?(?:遍|下|次)?[^，]{0,6}(?:看|听|瞧)?(?:看|听)?(?:我)?(?:说得|讲得|记得)?(?:对不对|对吗|有没有(?:说)?错|有没有(?:什么)?(?:漏|遗漏)|是不是这样|准不准|全不全)$',
    '^(?:那|好|行|嗯)?(?:你)?(?:看|听)(?:看|听)?(?:我)?(?:说|记|理解)?(?:得)?(?:对不对|对吗|有没有错|是不是这样)$',
  ].join('|'),
)

/** What is told after an opening that asks whether it is right; undefined where there is none. */
function aheadOf(text: string, clauses: readonly TextClause[]) {
  const at = clauses.findIndex(({ start, end }) => checksAhead.test(text.slice(start, end)))
  const told = at < 0 ? [] : clauses.slice(at + 1)
  return told.length > 1 ? { told, sure: true, invites: false } : undefined
}

/**
 * Where a text sums up what the doctor has understood; undefined for a text that is no recap. A mere "…, right?" makes one
 * where the text begins like one, or tells several things.
 */
export function readRecap({ text, clauses }: NormalisedText): RecapFrame | undefined {
  const closing = closingOf(text, clauses) ?? aheadOf(text, clauses)
  const last = closing?.told.at(-1)
  if (!closing || !last) return undefined
  const { told, sure, invites } = closing
  if (told.some(({ start, end }) => isQuestionClause(text.slice(start, end)))) return undefined
  const begins = told.some(({ start, end }) => beginning.test(`${text.slice(start, end)} `))
  return begins || (sure && told.length > 1)
    ? { end: last.end, invites, sure: sure || told.length > 2 }
    : undefined
}

/** Whether a text ends by asking whether what it says is right. */
export const asksIfRight = ({ text, clauses }: NormalisedText): boolean =>
  closingOf(text, clauses) !== undefined
