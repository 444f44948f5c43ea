/** Rewrites clinical notes, which speak of "the patient", into what the patient would say. */
import type { Language } from '../turn.js'

type Rule = readonly [from: RegExp, to: string]

/** Terms of Chinese notes and what people say instead; longer ones first. */
const hanRules: readonly Rule[] = [
  [/“([^”]{1,12})”/g, '$1'],
  [/(?:患者|病人|患儿)(?:本人)?/g, '我'],
  [/我自述|我诉|自诉/g, '我'],
  [/(?:自发病以来|发病以来|病程中|起病以来)[，,]?/g, '得病以来，'],
  [/无明显诱因(?:下|地)?/g, '没什么原因就'],
  [/未曾/g, '没有'],
  [/未予(?:重视|诊治|治疗|处理|特殊处理)/g, '没当回事'],
  [/自觉/g, '觉得'],
  [/(?:自行|自己)?(?:服用|口服)/g, '吃了'],
  [/予以?(?=[^，。]{0,14}(?:治疗|口服|静滴|输液))/g, '给我用了'],
  [/(?:遂|故|即)?(?:就诊于|来我院就诊|就诊|来诊)/g, '去看了医生，'],
  [/于(?=当地|我院|外院|社区|[^，。]{1,6}医院)/g, '在'],
  [/伴有?/g, '还有'],
  [/(?:近|最近)(?=[0-9一二两三半几]+(?:天|日|周|月|年|个))/g, '最近这'],
  [/(?:每日|日)(?=[0-9一二两三])/g, '每天'],
  [/(\d+(?:[.．]\d+)?)\s*(?:℃|°C)/g, '$1度'],
  [/阵发性/g, '一阵一阵的'],
  [/间断(?:性|出现)?/g, '时不时'],
  [/持续性/g, '一直的'],
  [/进行性加重/g, '越来越重'],
  [/呈?反复发作|反复出现/g, '反反复复'],
  [/较前(?=[加减增好])/g, '比以前'],
  [/明显(?:缓解|好转)/g, '好多了'],
  [/(?:无|未见|未)(?:明显)?(?:好转|缓解)/g, '没见好'],
  [/(?:无|未见)(?:明显)?(?:变化|改变|异常)/g, '没什么变化'],
  [/(?:食欲|纳)(?:欠佳|减退|下降|差)|纳差/g, '胃口不好'],
  [/食欲(?:尚可|可|正常|好)/g, '胃口还行'],
  [/(?:睡眠|夜眠)(?:欠佳|差|不佳)/g, '睡得不好'],
  [/(?:睡眠|夜眠)(?:尚可|可|正常|好)/g, '睡得还行'],
  [/精神(?:尚可|可)/g, '精神还行'],
  [/(?:大小便|二便)(?:如常|正常|无异常)/g, '大小便正常'],
  [/乏力/g, '没力气'],
  [/(?<!出现)发热/g, '发烧'],
  [/心悸/g, '心慌'],
  [/呼吸困难/g, '喘不上气'],
  [/头痛/g, '头疼'],
  [/胸痛/g, '胸口疼'],
  [/腹痛/g, '肚子疼'],
  [/腹胀/g, '肚子胀'],
  [/腹泻/g, '拉肚子'],
  [/咽痛/g, '嗓子疼'],
  [/关节(?:疼)?痛/g, '关节疼'],
  [/盗汗/g, '夜里出汗'],
  [/水肿|浮肿/g, '肿'],
  [/消瘦/g, '瘦了'],
  [/呕吐/g, '吐'],
  [/咯血/g, '咳血'],
  [/嗜好|不良嗜好/g, '习惯'],
  [/平素/g, '平时'],
  [/(?:均)?体健|(?:身体)?(?:均)?健康状况良好/g, '身体都挺好'],
  [/配偶/g, '爱人'],
  [/育有?(\d|一|两|二|三)(子|女)(?!一)/g, '有$1个$2'],
  [/个子(?![女])/g, '个儿子'],
  [/个女(?![儿子])/g, '个女儿'],
  [/(?:久居|长居|长期居住)(?:于|在)?/g, '一直住在'],
  [/(?:出?生|生长)于/g, '出生在'],
  [/从事(?=.{1,10}工作)/g, '做'],
  [/曾于/g, '以前在'],
  [/曾(?!经)/g, '以前'],
  [/因(?=[^，。]{1,12}(?:行|住院|手术))/g, '因为'],
  [/行(?=[^，。]{0,10}(?:术|检查|手术))/g, '做了'],
  [/希望医生/g, '希望您'],
  [/(?:认为自己|自认为|自以为)/g, '觉得自己'],
  [/所致/g, '引起的'],
]

/** "无胸闷、胸痛", "否认外伤史": what the patient does not have. */
const hanDenial =
  /^(?:但|并|且|也|我)?(?:否认(?:有)?|未(?:见|出现|发现|诉)|无|没有)(?!法|意|力|奈)(.+?)(?:等(?:其他|慢性)?)?((?:家族)?史|症状|情况)?$/

function hanFirstPerson(text: string): string {
  const end = /[。！？]$/.exec(text)?.[0] ?? '。'
  const body = text.replace(/[。！？；;，,\s]+$/, '')
  const denied = hanDenial.exec(body)
  const past = denied?.[2]?.endsWith('史')
  const family = denied?.[2]?.startsWith('家族')
  const plain = denied
    ? `${family ? '家里' : ''}没有${past && !family ? '过' : ''}${denied[1]}`
    : body
  return (
    hanRules.reduce((said, [from, to]) => said.replace(from, to), plain).replace(/，+/g, '，') + end
  )
}

const relatives =
  /\b(?:mother|father|mum|mom|dad|parents?|brothers?|sisters?|siblings?|son|daughter|wife|husband|partner|uncle|aunt|grand\w+|family)\b/i

/** Verbs of notes: "reports a cough" is "I have a cough". */
const reports =
  /\b(?:The patient|Patient|Pt|He|She|I)\s+(?:also\s+)?(?:reports?|complains? of|endorses?|presents? with|describes?|admits? to|notes?|states?)\s+(?!that\b|having\b)/gi
const denies =
  /\b(?:The patient|Patient|Pt|He|She|I)?\s*(?:also\s+)?(?:denies|denied|negative for)\s+(?:any\s+)?(?:history of\s+)?/gi

const irregular: Readonly<Record<string, string>> = {
  has: 'have',
  is: "'m",
  was: 'was',
  does: 'do',
  goes: 'go',
  "hasn't": "haven't",
  "doesn't": "don't",
  "isn't": "'m not",
}

/** "has" after "I" becomes "have", "takes" becomes "take". */
function withI(verb: string): string {
  const known = irregular[verb]
  if (known !== undefined) return known
  if (/(?:ss|us|is)$/.test(verb)) return verb
  if (/[^aeiou]ies$/.test(verb)) return verb.replace(/ies$/, 'y')
  if (/(?:ch|sh|x|ss|o)es$/.test(verb)) return verb.replace(/es$/, '')
  return verb.replace(/s$/, '')
}

const capitalise = (text: string): string =>
  text.replace(/^(\W*)([a-z])/, (_, before: string, first: string) => before + first.toUpperCase())

function englishFirstPerson(text: string): string {
  const kin = relatives.test(text)
  const subject = kin
    ? /\b(?:The patient|Patient|Pt)\b/gi
    : /\b(?:The patient|Patient|Pt|She|He)\b/gi
  const own = kin
    ? /\b(?:the patient's|patient's)\b|^(?:His|Her)\b/gi
    : /\b(?:the patient's|patient's|his|her)\b(?= \w)/gi
  const said = text
    .replaceAll('’', "'")
    .replace(own, (found) => (/^[A-Z]/.test(found) ? 'My' : 'my'))
    .replace(denies, 'I have no ')
    .replace(reports, 'I have ')
    .replace(subject, 'I')
    .replace(
      /\bI ((?:also|often|never|usually|now|still|only|rarely|sometimes|currently|occasionally) )?([a-z']+)/g,
      (_, adverb: string | undefined, verb: string) => {
        const own = withI(verb)
        return own.startsWith("'") ? `I${own} ${adverb ?? ''}`.trimEnd() : `I ${adverb ?? ''}${own}`
      },
    )
    .replace(/\b(?:himself|herself)\b/g, 'myself')
    .trim()
  return capitalise(/[.!?]$/.test(said) ? said : `${said}.`)
}

/** Rewrites one sentence of a clinical note as the patient would say it; what no rule knows stays as it is. */
export const toFirstPerson = (sentence: string, language: Language): string =>
  language === 'zh' ? hanFirstPerson(sentence.trim()) : englishFirstPerson(sentence.trim())
