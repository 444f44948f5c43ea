/** Acts of conversation: what a doctor says that asks about no finding, by patterns over the normal form, zh and en. */
import type { ConversationAct } from '../../../knowledge/knowledge.js'
import { isWorded } from './acts.js'
import type { Sentence } from './sentences.js'

/** How an utterance without a topic is answered. */
export type SpeechAct = ConversationAct | 'has-illness'

/** Patterns by act, the most telling first. */
const acts: readonly (readonly [ConversationAct, RegExp])[] = [
  [
    'confirm',
    /\b(?:is|was) (?:that|this|it) (?:all )?(?:right|correct|so|true|possible)\b|^(?:correct|isnt it|arent you|dont you|havent you|has it|have you|do you|are you|did you say|is it)$|\b(?:have|did) i (?:got|get|understood|understand|heard|hear|missed|miss) (?:(?:that|it|you|all|everything|this|any of) ?)+(?:right|correctly|wrong|straight|out)?$|是否一致|一致吗|说得对吗|^(?:你好)?请问你?是.{2,6}吗$|是这样吗|对(?:吗|吧|不对)$|没错吧/,
  ],
  [
    'hearing',
    /\b(?:can|could|do) you (?:still )?(?:(?:hear|see) (?:and|or) )?(?:hear|see) me\b|\bam i (?:audible|coming through)\b|\b(?:cant|cannot|couldnt|can barely) (?:quite )?(?:hear|see) you\b|\b(?:breaking up|cutting out|frozen|your (?:mic|microphone|camera|webcam|picture|signal|connection))\b|\b(?:turn|put) (?:it|your volume|the volume|your sound|the sound) (?:up|down)\b|\bcloser to the (?:phone|screen|microphone|mic)\b|听(?:得)?(?:见|到|清)(?:我)?(?:说话)?吗|能听(?:见|到|清)/,
  ],
  [
    'any-questions',
    /\b(?:any|other|more|further|no) (?:other |more |further )?(?:questions?|queries)\b|\b(?:do|did) you have (?:any )?(?:questions?|queries)\b|\b(?:want|like) to ask me\b|\banything (?:else )?(?:that )?you(?:d| would)? (?:like|want|wanted) to ask\b|\b(?:is|was) (?:there )?anything (?:unclear|not clear|you (?:dont|didnt) understand)\b|\b(?:go over|explain) (?:\w+ ){0,2}again\b|(?:还)?有(?:没有)?(?:什么|其他|别的)?(?:想(?:要)?(?:了解|知道)|疑问|要问|想问|问题(?:要|想)问|要问的(?:吗|么|没有?)|(?<=你还有)问题(?:吗|么|没有?)$|不明白|不清楚)/,
  ],
  [
    'clear',
    /\b(?:does|is|did) (?:that|this|it|everything|all that|the \w+(?: \w+)?) (?:all )?(?:make sense|sound|clear|ok|okay|alright|all right|suit)|\bhow(?:s| does| do)? (?:that|this)(?: \w+)? (?:sound|seem)\b|\bhow(?:s| does| do)? (?:that|this)(?: (?:for|with|to) you)?$|\bhow (?:do |would )?you feel about (?:that|this)\b|\b(?:are you|would you be|youre|you are) (?:happy|ok|okay|fine|comfortable) (?:with|about)\b|\b(?:are you|would you be) (?:happy|willing|prepared|able|ok|okay|free) to (?:call|ring|come|see|go|try|have|do|start|take|make|book|let|attend|stay)\b|\bis (?:that|this|it) (?:ok|okay|alright|all right|clear|fine)\b|^(?:(?:so|and|are you) )?(?:happy|ok|okay|comfortable|alright|all right) with (?:that|this|the plan)$|\bthat (?:ok|okay|alright)$|\bwould (?:that|it|this) be (?:ok|okay|alright|all right|fine|possible)\b|\b(?:have you )?heard of (?:that|this|it)\b|\bsomething (?:that )?(?:youve|you have) heard of\b|\b(?:treatment )?plan clear\b|\bare we agreed\b|说(?:明白|清楚)了(?:吗|没)|听(?:明白|懂|清楚)了(?:吗|没)|(?<![得体况还挺很都眠口己会能])(?:可以|行|成|好|同意|没问题|没意见|能接受|能配合)(?:吗|不|吧|么)$|好不好$|行不行$|您看(?:行|可以|怎么样)|你看(?:行|可以|怎么样)|同意(?:吗|么|不)|同不同意|能接受(?:吗|么|不)$|记住了(?:吗|没)|(?:都)?(?:记得|知道|明白|懂)了(?:吗|吧|没)|没意见吧/,
  ],
  [
    'readiness',
    /\b(?:private|quiet|safe|secure|comfortable|confidential|suitable) (?:and \w+ )?(?:place|space|room|location|conversation)\b|\b(?:place|space|room|location) thats\b|\b(?:ok|okay|able|free|happy|alright|good time) to (?:talk|speak|chat|start|begin|carry on|go ahead)\b|\bshall we (?:start|begin)\b|\bgood (?:time|moment) (?:for you )?to\b|\bshould we (?:start|begin)\b|(?:方便|可以|能)(?:说话|聊|开始|谈)|(?:我|咱们?)[^吗]{0,8}(?:聊|谈|问|了解|说)[^吗]{0,6}(?:行|好|可以|成|方便)(?:吗|不|吧|么)$/,
  ],
  [
    'repeat',
    /^(?:(?:oh|so|and|ok|okay|right) )*(?:(?:its|thats|it is|that is|youre) )?(?:not (?:so |too |very |really |that |feeling )*(?:good|great|well|nice|normal|right|brilliant)|(?:pretty|quite|really|that|so) bad)(?: (?:at all|then|is it|are you))?$|\b(?:repeat|(?<!\b(?:makes|made|make|do|did|would) (?:you|him|her|them) )say) (?:that|it)(?: again)?\b|\b(?:which|what)(?: (?:bit|part|thing|of (?:that|it)))? (?:(?:did|have) i (?:get|got|misse?d?)|(?:is|was)) (?:wrong|not right|mistaken)\b|\bcatch that\b|\b(?:didnt|did not|couldnt|cant|did i|dont|i) (?:quite |really )?(?:hear|get) that\b|\bwhat was that\b|^(?:sorry|pardon|pardon me|come again|what)$|\b(?:pardon|come again)\b|再(?:说|讲|重复)一?[遍次下]|重复一[遍下次]|没听(?:清|见|到|明白|懂)|声音(?:可以|能)?(?:再)?大一?点|信号|掉线|卡(?:住|顿|了)/,
  ],
  [
    'consent',
    /\b(?:id|i would|id just|i) (?:like|want|need) to (?:just )?(?:examine|have a (?:look|listen|feel)|listen|check|feel|take a look|look at|press|measure)\b|\b(?:is it|would it be) (?:possible|ok|okay|all right|alright|fine)(?: for (?:me|us) to| if (?:i|we)(?: \w+)?) (?:examine|have a (?:look|listen|feel)|listen|feel|take a look|look|press|see)\b|\b(?:can|could|may|shall|let) (?:i|me|us|we)(?: \w+)? (?:examine|have a (?:look|listen|feel)|listen|check your|feel your|take a look|take your|look (?:at|in|into|inside)|press)\b|^(?:please |just |now |and |can you |could you |would you )*(?:take a deep|breathe|roll up|lie (?:down|back)|sit up|open (?:your|wide)|stick out|turn (?:over|round|your)|lift|hold (?:still|out)|push|squeeze|follow my|look (?:up|down|at))\b|我(?:来|先|再|要|得)?(?:给你|帮你)?(?:听|摸|按|看看|检查一下|查一下|量|测)|(?:张|深)(?:开|大)?(?:嘴|吸)|躺(?:下|好|平)|把(?:袖子|衣服|裤子)/,
  ],
  [
    'parting',
    /\b(?:bye|goodbye|(?<!\b(?:to|and|or|can|could|should|would|will|we|well|examine|be) )see you(?= (?:soon|then|later|next|in|on|again|tomorrow|around|at)\b|$)|all the best|take care(?: now)?|have a (?:good|nice|lovely)|wish you|good luck|catch up (?:soon|then)|nice (?:talking|speaking|to have (?:met|spoken|talked))|speak (?:soon|then))\b|再见|慢走|回头见|早日康复|保重/,
  ],
  [
    'thanks',
    /\b(?:thank you|thanks|much appreciated|youre welcome|my pleasure|glad i could help)\b|谢谢|感谢|多谢|辛苦/,
  ],
  [
    'sympathy',
    /\b(?:sorry to (?:hear|)|sorry (?:about|for) (?:that|your)|that must be|must have been|sounds (?:awful|horrible|difficult|hard|nasty|unpleasant|like youve)|oh dear|poor (?:you|thing)|i (?:can )?(?:understand|imagine|appreciate|see) (?:how|that|why|your|its)|frustrating|i feel for you|bless you)\b|(?:能|特别|很|确实)?理解(?:你)?|(?:真|挺|很|够)(?:难受|不容易|辛苦|受罪|遭罪)|不好受|心疼/,
  ],
  ['apology', /\b(?:apologi[sz]e|apologies|sorry)\b|不好意思|抱歉|对不起|让你(?:久等|等)/],
  [
    'reassurance',
    /\b(?:dont (?:worry|panic)|no need to (?:worry|panic)|nothing to worry|try not to worry|youre in good hands|rest assured|well (?:sort|get|look after|take care)|well get you|reassur\w+|(?:does|did|will) (?:that|this|it) (?:ease|settle|rest) your mind|(?:that|this) (?:put|set)s? your mind at (?:rest|ease)|(?:feel|feeling) (?:(?:a bit|a little|any) )?(?:more at ease|less worried)|youll be (?:fine|ok|okay)|its (?:ok|okay|alright|all right))\b|别(?:担心|紧张|着急|急|怕|害怕)|不(?:用|要|必)(?:太)?(?:担心|紧张|着急|怕|害怕)|放心|放松|没(?:关系|事)/,
  ],
  [
    'patience',
    /\b(?:(?:just )?(?:a|one) (?:moment|second|minute|sec)|bear with me|hold on|take your time|give me a (?:moment|second|minute)|let me (?:just )?(?:write|note|see|think|look|check))\b|稍等|等一下|等我|慢慢(?:说|讲|来|想)|不(?:着)?急|我(?:先)?记(?:一下|下来)/,
  ],
  [
    'greeting',
    /\b(?:hello|hi|hiya|hey|good (?:morning|afternoon|evening|day)|nice to (?:meet|see) you|(?<!\b(?:it|they|that|this|pain) )come (?:on )?in(?= (?:please|and|have|take|sit|mr|mrs|sir|love)\b|$)|take a seat|have a seat|im (?:dr|doctor)|my names|this is (?:dr|doctor)|its (?:dr|doctor))\b|[您你]好|早上好|下午好|晚上好|请(?:坐|进)|我(?:是|姓).{0,12}(?:医生|大夫|医师)|接诊医生|欢迎/,
  ],
  [
    'praise',
    /\b(?:well done|good (?:job|for you|to (?:hear|know))|glad to hear|thats (?:good|great|fantastic|excellent|brilliant|helpful|perfect|reassuring)|excellent|fantastic|brilliant|perfect|you did the right thing|congratulations)\b|真棒|做得(?:很)?(?:好|对)|不错|很好|太好了|那就好|继续保持/,
  ],
]

/** What is told and never asked. */
const told: ReadonlySet<ConversationAct> = new Set(['thanks', 'sympathy', 'praise', 'patience'])

const backchannel =
  /^(?:(?:yeah|yes|yep|yup|no|ok|okay|right|sure|fine|good|great|of course|i see|got it|gotcha|mhm|oh|ohh|ah|aha|wow|really|exactly|absolutely|definitely|alright|all right|and|so|but|fair enough|thats fine|thats correct|correct|go on|no problem|indeed|then|well|now|very|lovely|cool|not a problem|that is|it is|it does|is it|like i said|at all) ?)+$|^(?:嗯|哦|噢|啊|好|好的|是|是的|对|对的|行|可以|明白|明白了|知道了|了解|了解了|这样|这样啊|原来如此|没错|然后|那|呢|我知道|清楚了|收到)+$/

/** A word of listening or agreeing in a short statement: "It's Wednesday, OK." */
const heardWord =
  /\b(?:ok|okay|yeah|yes|right|alright|sure|fine|great|good|oh|cool|lovely|marvell?ous|no)\b|^(?:嗯|好|哦|行|对)/

/** Characters of the longest backchannel. */
const maxBackchannel = 60

/** Statements say, ask or want something of a listener; a shorter text without a known word is none. */
const isStatement = (text: string, sentences: readonly Sentence[]): boolean =>
  isWorded(text) && sentences.every(({ inquires }) => !inquires)

/** The act of an utterance that asks about no finding; undefined for a question, and for what is no language. */
export function classifySpeech(
  text: string,
  sentences: readonly Sentence[],
): ConversationAct | undefined {
  if (text.length <= maxBackchannel && backchannel.test(text)) return 'backchannel'
  const asks = sentences.filter(({ inquires }) => inquires).map((one) => one.text)
  // What an utterance ends with counts: "Hello. Can you hear me?"
  const read = asks.length > 0 ? asks.join(' ') : text
  const tells = asks.length > 0 && /\p{Script=Han}/u.test(read)
  // "You said your health is very good, is it?" is no praise.
  const found = acts.find(([act, pattern]) => !(tells && told.has(act)) && pattern.test(read))
  if (found) return found[0]
  // "I will send it today, OK?"
  if (asks.length > 0 && asks.every((one) => backchannel.test(one))) return 'agreement'
  if (asks.length === 0 && heardWord.test(text)) return 'backchannel'
  return isStatement(text, sentences) ? 'agreement' : undefined
}
