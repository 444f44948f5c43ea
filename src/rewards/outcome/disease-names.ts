/**
 * Disease-name matching: a doctor's free text names one disease, compared whole.
 *
 * A name is never searched *inside* a text, so that listing diseases, denying one ("not influenza") or burying one in
 * prose names none of them. Only phrases that cannot hold a second disease are removed: a lead-in ("Based on your
 * symptoms you may have"), hedges, and an explanation at the end ("likely caused by …"). Clinically meaningful words
 * (acute, chronic, mild) stay.
 */
import { memoizeText } from '../../platform/memoize.js'

/** A doctor's diagnosis in normal form, ready to be looked up. */
export interface Mention {
  /** Keys of the text as it stands and without lead-in, hedges and explanation. */
  readonly keys: readonly string[]
  /** The key without the text in brackets, where there is any. */
  readonly bare?: string | undefined
  /** The ICD-10 code, without its dot, where the text is nothing else. */
  readonly code?: string | undefined
}

/** Maximum length of a diagnosis, in UTF-16 units; a longer text is not read. */
const maxLength = 1000

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
const reason =
  /^(?:based on|given|according to|considering|judging by|in view of)\b[^,:.;]{0,200}?(?:[,:]\s*|(?=\b(?:you|it|this|he|she|they|the patient|i|we)\b))/
const hanReason =
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
/** Explanations set apart by a comma or a hedge: safe to remove from an authored name too. */
const setApartReason = new RegExp(
  `(?:[,;.]\\s*${hedge}?|\\s${hedge})(?:${cause}|${evidence}).*$|,\\s*(?:${relative}|an? (?:mild )?inflammation of\\b).*$|(?:[,;.。]\\s*(?:可能|考虑|多)?|可能)(?:是|为)?(?:由于?|因为?|与|跟)[^,;.。]{1,60}?(?:引起|导致|所致|造成|诱发|有关|相关).*$`,
)
/** Explanations not set apart: removed from a doctor's text only, as "anaemia due to iron deficiency" is a name. */
const inlineReason = new RegExp(`\\s(?:${cause}|${evidence}).*$`)
const advice =
  /[,;.]\s*(?:please|(?:i|we) (?:recommend|suggest|advise)|it is (?:recommended|advised|best)|you should|recommend|further|additional|this condition)\b.*$|[,;.。]\s*(?:建议|需要?|请|应|注意|多休息).*$/
const trailing =
  /(?:[\s,]+(?:(?:is|seems|appears) )?(?:(?:most|very|highly) )?(?:likely|probable|possible|suspected)|[\s,]+(?:unspecified(?: organism| site)?|not otherwise specified|nos)|[,\s]*(?:未特指|未分类)的?|的?可能性(?:很|较|比较)?[大高]|的?可能)$/
const edges = /^[\s.,:;!?"'*#。、-]+|[\s.,:;!?"'*#。、-]+$/g
/** Text in brackets, unless it continues a list: "influenza (or pneumonia)". */
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

/** Comparison key of a name: letters and digits alone, with British spellings folded. */
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
    rest = rest.replace(reason, '').replace(lead, '').replace(hanReason, '').replace(hanLead, '')
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

const doctorsTails = [advice, setApartReason, inlineReason]

// A reward reads a diagnosis twice, and a policy repeats a few texts: a bounded cache is enough.
const readCached = memoizeText(read, { most: 1000 })

/** Reads a doctor's diagnosis; undefined for an empty text or one of more than 1,000 characters. */
export const readMention = (text: string): Mention | undefined =>
  text.length > maxLength ? undefined : readCached(text)

function read(text: string): Mention | undefined {
  const plain = plainOf(text)
  if (plain === '') return undefined
  const whole = keyOf(plain)
  // A name that itself holds a "not" still matches when written exactly.
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

/** Index from names to meanings; of two meanings of one name the first is kept. */
export interface NameIndex<T> {
  /** By the key of the whole name. */
  readonly whole: ReadonlyMap<string, T>
  /** By the key of the name without the text in brackets. */
  readonly bare: ReadonlyMap<string, T>
}

/** The keys of an authored name: whole ones, and those without the text in brackets. */
function keysOf(name: string) {
  const plain = plainOf(name)
  const shortened = (text: string) => keyOf(withoutTail(withoutLead(text), [setApartReason]))
  if (negation.test(plain)) return { whole: [keyOf(plain)], bare: [] }
  const unbracketed = plain.replace(brackets, ' ').replace(edges, '')
  return {
    whole: [keyOf(plain), shortened(plain)],
    bare: unbracketed === plain ? [] : [shortened(unbracketed)],
  }
}

/** The keys of a name; cached, as all cases of a disease list the same names. */
const cachedKeys = memoizeText(keysOf, { most: 10_000, longest: maxLength })

/** Indexes authored names, in any language, by the keys of the forms a doctor may write. */
export function indexNames<T>(
  entries: Iterable<readonly [name: string, meaning: T]>,
): NameIndex<T> {
  const whole = new Map<string, T>()
  const bare = new Map<string, T>()
  const put = (map: Map<string, T>, keys: readonly string[], meaning: T) => {
    for (const key of keys) if (key !== '' && !map.has(key)) map.set(key, meaning)
  }
  for (const [name, meaning] of entries) {
    const keys = cachedKeys(name)
    put(whole, keys.whole, meaning)
    put(bare, keys.bare, meaning)
  }
  return { whole, bare }
}

/**
 * Looks a mention up by name. Brackets may be missing on one side, but not differ:
 * "diabetes (type 1)" is not "diabetes (type 2)".
 */
export function lookUpName<T>(names: NameIndex<T>, mention: Mention): T | undefined {
  for (const key of mention.keys) {
    const found = names.whole.get(key) ?? names.bare.get(key)
    if (found !== undefined) return found
  }
  return mention.bare === undefined ? undefined : names.whole.get(mention.bare)
}
