/** Plans that a doctor asks the patient to agree to: "I'll examine your hands. Happy with that?". */
import type { NormalisedText } from '../../../../text/phrase-search.js'
import { isQuestionClause } from '../acts.js'

const fine = '(?:ok|okay|fine|alright|all right|good|happy|comfortable|reasonable|acceptable)'
const it = '(?:that|this|it|the plan|me)'
/** Asks for agreement, or what the patient makes of it. */
const asksAgreement = new RegExp(
  [
    `^(?:(?:so|and|now|then|but|ok|okay) )*(?:(?:is|would|will) ${it}(?: be)?(?: all)? ${fine}(?: (?:with|by|for|to) \\w+(?: both| all| two)?)*|(?:are|will|would) (?:you|she|he|they) (?:be )?(?:${fine}|willing|prepared|up for (?:it|that|this|\\w+ing\\b.*))(?: (?:with|about|for|to|if) .+)?|(?:you )?${fine}(?: (?:with|about|for|by) (?:${it}|you))?|does ${it}(?: all)? (?:sound .+|make sense)(?: to you)?|sounds? ${fine}|do you (?:mind|agree|object)(?: .+)?|(?:does|do|will|would|did|is|are) (?:you|he|she|they|everyone|both of you)(?: both| all| two)? (?:agree|consent|mind|object|ok|okay|fine|happy|willing|all right|alright|want that|up for (?:it|that|this))(?: (?:to|with|about) .+)?|any objections?|would you mind(?: .+)?|(?:can|may|shall|could) (?:i|we)(?: (?:do|go ahead with) ${it}| go ahead)?|(?:will|would|can|does) (?:she|he|they|it) (?:let (?:me|us|you)|mind|cope|manage|cooperate|sit still|hold still)(?: .+)?|would it be (?:${fine}|possible)(?: (?:with|for) (?:you|him|her|them))? if .+|how (?:do|does|would|did|about) (?:you|she|he|that|this|it)(?: feel| sound| think)?(?: (?:about|to|with) (?:${it}|you))?|what do you (?:think|say)(?: (?:about|of|to) ${it})?|hows that(?: sound)?|do i have your (?:permission|consent|agreement))$`,
    '^(?:那|这样|你看|你觉得|你|孩子|他|她|这|就|觉得|看)*(?:(?:行|好|可以|成|同意|愿意|介意|(?:有|没)?意见|(?:能)?接受|(?:能|肯|会)?配合|没问题)(?:吗|吧|不|么|嘛)|好不好|行不行|可不可以|同不同意|愿不愿意|介不介意|怎么样|咋样|如何|怎么想|(?:能|会|肯)(?:让我|听话|闹|哭)[^，]{0,4}(?:吗|不|吧))$',
  ].join('|'),
)
const planned =
  /\b(?:ill|i will|im going to|i am going to|im gonna|id like|i would like|i want to|i need to|i think|id suggest|i suggest|id recommend|i recommend|well|we will|we need|we should|were going to|we are going to|wed like|lets|let me|youll need|you will need|you need|can i|could i|may i|can we|could we|happy for (?:me|us)|(?:mind|ok|okay|all right|alright|fine|possible)(?: (?:with|for) (?:you|him|her|them))? if (?:i|we)|ready for)\b.*\b(?:examine|examination|listen|look|check|feel|press|shine|test\w*|measure|weigh|blood|needle|sample|urine|stool|swab|scan|x ?ray|ultrasound|ecg|tracing|camera|mri|ct|refer|send|book|arrange|order|admit|keep you|operat\w+|surg\w+|start|give|put|try|prescribe|tablets?|medicine|antibiotics?|drip|injection|jab|walk|pop you|hospital|see you|therapy|treatment|treat)\b|(?:我|咱|让|先|再|去|来|要|得|需要|想|准备|打算|建议|安排|待会儿?|一会儿?|等会儿?|等下|给|帮)[^，]{0,10}(?:看看|看一下|看下|听|按|摸|量|查|做|抽|拍|照|开点?药|开个?单|扎|验|敲|测|住院|手术|输液|打针|用药|治|留|取|张嘴|躺)/
/** Words that ask for information, which nobody consents to. */
const informs =
  /\b(?:ask you|know|hear|sum up|recap|summari[sz]e|understand|clarify|questions?|check (?:i|ive|if|whether|that))\b|问|聊|谈|了解|说说|确认|总结|小结/

/** Whether a text tells what the doctor is about to do and asks the patient to agree. */
export function asksConsent({ text, clauses }: NormalisedText): boolean {
  const last = clauses.at(-1)
  if (!last) return false
  const closing = text.slice(last.start, last.end)
  const told = clauses.slice(0, -1).map(({ start, end }) => text.slice(start, end))
  const asks = asksAgreement.test(closing)
  // 我给您量个血压行吗, "Are you happy for me to take some blood?"
  const whole = /(?:行|好|可以|成)(?:吗|不|吧|么)$|(?:行不行|好不好|可不可以)$/.test(closing)
  if (!asks && !whole) return false
  const plans = (clause: string): boolean => planned.test(clause) && !informs.test(clause)
  const asked = told.some((clause) => isQuestionClause(clause) && !plans(clause))
  return !asked && [...told, closing].some(plans)
}
