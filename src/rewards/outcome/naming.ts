/**
 * What a doctor's free text names: one entity, compared whole.
 *
 * Nothing is ever found *inside* a text, so that listing diseases, denying one ("not influenza") or
 * burying one in prose names none of them. Only what cannot hold a second disease comes off: a lead-in
 * ("Based on your symptoms you may have"), hedges, and an explanation at the end ("likely caused by …").
 * Clinically meaningful words (acute, chronic, mild) stay.
 */
import { memoizeText } from '../../platform/memoize.js'

/** A text reduced to what may be compared. */
export interface Mention {
  /** Keys of the text as it stands and without lead-in, hedges and explanation. */
  readonly keys: readonly string[]
  /** The key without what stood in brackets, where something did. */
  readonly bare?: string | undefined
  /** The ICD-10 code, without its dot, where the text is nothing but one. */
  readonly code?: string | undefined
}

/** No diagnosis is this long; what is, is not read. */
const longest = 1000

const negation =
  /\b(?:not(?! otherwise specified)|cannot|never|unlikely|improbable|doubtful|exclud\w*|rul(?:e|es|ed|ing)[ -]?out|r\/o|negative for)\b|n't\b|排除|除外|不是|不像|并非|不考虑|不支持|否认|不太?可能|可能性(?:很|较|比较)?[小低]|可能性不[大高]/

const leadWords =
  `a an the i we think believe suspect conclude you your he she it they this that these there patient
  child baby son daughter mother father wife husband grandmother grandfather may might could must would
  can be been is are am was has have had having got caught developed experiencing experience currently
  most very quite highly probably probable likely possibly possible presumably presumptive presumed
  perhaps maybe suspected diagnosis diagnoses diagnosed dx impression assessment appears appear seems
  seem looks to as of with from like suffering case consistent suggestive indicate indicates suggest
  suggests point points symptoms symptom signs presentation`
    .split(/\s+/)
    .join('|')
const lead = new RegExp(
  `^(?:(?:primary|principal|main|final|working|clinical|provisional|preliminary|initial) diagnosis(?: is)?|${leadWords})(?:[:\\s]+|,\\s*)`,
)
const grounds =
  /^(?:based on|given|according to|considering|judging by|in view of)\b[^,:.;]{0,200}?(?:[,:]\s*|(?=\b(?:you|it|this|he|she|they|the patient|i|we)\b))/
const hanGrounds =
  /^(?:根据|结合|依据|综合|从|按照?)[^,:.;。]{0,80}?(?:[,:]\s*|(?=考虑|诊断|可能|怀疑|提示|判断|您|你|患者))/
const hanLead =
  /^(?:您|你|患者|病人|孩子|宝宝|他|她|我们|我|这|该|目前|初步|最终|临床|主要|最后|首先|诊断|考虑|怀疑|判断|认为|印象|疑似|符合|属于|极?有?可能|很可能|最可能|大概|应该|高度|倾向于?|得了|患有|患了|患上|症状|提示|表现|一种|为|是|有|了|的|得|患|[:,\s])+/

const hedge =
  '(?:(?:most |very )?(?:likely|probably|possibly|potentially|presumably|perhaps|maybe) )'
const cause =
  '(?:(?:is |was |being )?(?:caused by|triggered by|brought on by|aggravated by|exacerbated by|worsened by|influenced by|related to|associated with|attributed to|attributable to|causing|contributing to)|due to|secondary to|resulting from|as a result of|because of)\\b'
const evidence =
  '(?:based on|given|as (?:evidenced|indicated|suggested) by|in view of|considering)\\b'
const relative =
  'which (?:(?:is|are|may be|might be|could be) )?(?:(?:likely|probably|possibly|often) )?(?:causing|contributing|leading|common|linked|inflammations?|an? inflammation)\\b'
/** Explanations that a comma or a hedge sets apart: safe to take off an authored name too. */
const apart = new RegExp(
  `(?:[,;.]\\s*${hedge}?|\\s${hedge})(?:${cause}|${evidence}).*$|,\\s*(?:${relative}|an? (?:mild )?inflammation of\\b).*$|(?:[,;.。]\\s*(?:可能|考虑|多)?|可能)(?:是|为)?(?:由于?|因为?|与|跟)[^,;.。]{1,60}?(?:引起|导致|所致|造成|诱发|有关|相关).*$`,
)
/** The same without anything between: "anaemia due to iron deficiency" is a name, so only the doctor's. */
const running = new RegExp(`\\s(?:${cause}|${evidence}).*$`)
const advice =
  /[,;.]\s*(?:please|(?:i|we) (?:recommend|suggest|advise)|it is (?:recommended|advised|best)|you should|recommend|further|additional|this condition)\b.*$|[,;.。]\s*(?:建议|需要?|请|应|注意|多休息).*$/
const trailing =
  /(?:[\s,]+(?:(?:is|seems|appears) )?(?:(?:most|very|highly) )?(?:likely|probable|possible|suspected)|[\s,]+(?:unspecified(?: organism| site)?|not otherwise specified|nos)|[,\s]*(?:未特指|未分类)的?|的?可能性(?:很|较|比较)?[大高]|的?可能)$/
const edges = /^[\s.,:;!?"'*#。、-]+|[\s.,:;!?"'*#。、-]+$/g
/** What stands in brackets, unless it goes on with a list: "influenza (or pneumonia)". */
const brackets =
  /\s*[([{【](?!\s*(?:or|and|vs|versus)\b|\s*[或和与及/&+])[^()[\]{}【】]*[)\]}】]\s*/g
const bareCode = /^(?:icd[ -]?10(?:[ -]?cm)?(?: code)?[:\s]*)?([a-z]\d[\da-z])\.?([\da-z]{0,4})$/
const statedCode =
  /^(?:icd[ -]?10[:\s]*)?[a-z]\d[\da-z]\.[\da-z]{1,4}[:\s-]+(?=\S)|[:,\s-]+[a-z]\d[\da-z]\.[\da-z]{1,4}$|\s*[([](?:icd[ -]?10[:\s]*)?[a-z]\d[\da-z](?:\.[\da-z]{1,4})?[)\]]/

/** Compatibility forms folded (full-width punctuation becomes ASCII), accents off, lower case. */
const plainOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/'s\b/g, '')
    .replace(/\s+/g, ' ')
    .replace(edges, '')

/** Letters and digits alone, with British spellings folded: what two names are compared by. */
const keyOf = (plain: string): string =>
  plain
    .replace(/\bthe\b/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .replace(/[ao]+e/g, 'e')
    .replace(/our/g, 'or')

function withoutLead(plain: string): string {
  let rest = plain
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = rest.replace(grounds, '').replace(lead, '').replace(hanGrounds, '').replace(hanLead, '')
  }
  return rest.replace(edges, '') || plain
}

function withoutTail(plain: string, tails: readonly RegExp[]): string {
  let rest = plain
  for (const tail of tails) rest = rest.replace(tail, '').replace(edges, '')
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = rest.replace(trailing, '').replace(edges, '')
  }
  return rest || plain
}

const doctorsTails = [advice, apart, running]

// One reward reads a diagnosis twice, and a policy says the same few: a bounded memory is enough.
const remembered = memoizeText(read, { most: 1000 })

/** Reads a doctor's diagnosis; undefined where it names nothing, or is too long to. */
export const mentionOf = (text: string): Mention | undefined =>
  text.length > longest ? undefined : remembered(text)

function read(text: string): Mention | undefined {
  const plain = plainOf(text)
  if (plain === '') return undefined
  const whole = keyOf(plain)
  // A name that itself holds a "not" is still named by being written as it stands.
  if (negation.test(plain)) return { keys: [whole] }
  const lead = withoutLead(plain)
  const code = lead.match(bareCode)
  if (code) return { keys: [whole], code: `${code[1]}${code[2]}`.toUpperCase() }
  const rest = lead.replace(statedCode, '').replace(edges, '')
  const unbracketed = rest.replace(brackets, ' ').replace(edges, '')
  return {
    keys: [whole, keyOf(withoutTail(rest, doctorsTails))],
    bare:
      unbracketed === rest || unbracketed === ''
        ? undefined
        : keyOf(withoutTail(unbracketed, doctorsTails)),
  }
}

/** Names and what they stand for; of two meanings of one name the first stays. */
export interface Names<T> {
  /** By the key of the whole name. */
  readonly whole: ReadonlyMap<string, T>
  /** By the key of the name without what stands in brackets. */
  readonly bare: ReadonlyMap<string, T>
}

/** The keys of an authored name: whole ones, and those without what stands in brackets. */
interface NameKeys {
  readonly whole: readonly string[]
  readonly bare: readonly string[]
}

function keysOf(name: string): NameKeys {
  const plain = plainOf(name)
  const shortened = (text: string) => keyOf(withoutTail(withoutLead(text), [apart]))
  if (negation.test(plain)) return { whole: [keyOf(plain)], bare: [] }
  const unbracketed = plain.replace(brackets, ' ').replace(edges, '')
  return {
    whole: [keyOf(plain), shortened(plain)],
    bare: unbracketed === plain ? [] : [shortened(unbracketed)],
  }
}

/** The keys of a name: the cases of one disease all list the same ones. */
const rememberedKeys = memoizeText(keysOf, { most: 10_000, longest })

/** Indexes authored names, in any language, by what a doctor may call them. */
export function namesOf<T>(entries: Iterable<readonly [name: string, meaning: T]>): Names<T> {
  const whole = new Map<string, T>()
  const bare = new Map<string, T>()
  const put = (map: Map<string, T>, keys: readonly string[], meaning: T) => {
    for (const key of keys) if (key !== '' && !map.has(key)) map.set(key, meaning)
  }
  for (const [name, meaning] of entries) {
    const keys = rememberedKeys(name)
    put(whole, keys.whole, meaning)
    put(bare, keys.bare, meaning)
  }
  return { whole, bare }
}

/**
 * What the doctor named. Brackets may be missing on one side, not different on both:
 * "diabetes (type 1)" is not "diabetes (type 2)".
 */
export function lookUp<T>(names: Names<T>, mention: Mention): T | undefined {
  for (const key of mention.keys) {
    const found = names.whole.get(key) ?? names.bare.get(key)
    if (found !== undefined) return found
  }
  return mention.bare === undefined ? undefined : names.whole.get(mention.bare)
}
