/**
 * Disease terms out of a recorded diagnosis ("Based on your symptoms, you likely have X, caused by Y").
 *
 * Rules, not a dictionary: the lead-in comes off the front, the text ends where causes and explanations
 * begin, and what is left is split into the diseases it names.
 */
import { languageOf } from '../../text/word-stems.js'

export interface DiagnosisTerms {
  /** Named as certain, in order; the first is the primary one. Empty where no disease can be made out. */
  readonly named: readonly string[]
  /** Named as possible instead of, or beside, the certain ones. */
  readonly alternatives: readonly string[]
  /** Other wordings of the primary one: more specific, in brackets, or abbreviated. */
  readonly variants: readonly string[]
}

const none: DiagnosisTerms = { named: [], alternatives: [], variants: [] }
const listOf = (text: string): string[] => text.trim().split(/\s+/)

/** Words that lead up to the disease without being part of it. */
const leadWords = new Set(
  listOf(`a an the this that it it's its there you you're you've your he his she her they their i i'm we my
  our patient patient's is are was were be been being am has have had having do does may might can could would
  should appear appears seem seems look looks like as to of in with from for at most likely possibly possible
  probably probable perhaps maybe highly recent current currently initially clearly also now still both either
  primary main preliminary initial final clinical working diagnosis diagnoses diagnose diagnosed diagnosing
  condition cause suffering suffer suffers experiencing experience experiences coming down caught contracted
  developed developing confirm confirmed suspect suspected consistent indicate indicates suggest suggests point
  points presenting presents showing related case form episode bout flare-up recurrence lingering effects signs
  symptoms symptom common not no unlikely nothing unclear unknown undetermined mother father son daughter baby
  child wife husband grandmother grandfather sister brother friend`),
)
const negations = new Set(listOf('not no unlikely nothing unclear unknown undetermined'))

/** Nouns too general to be a diagnosis by themselves or at the end of one. */
const general =
  /(?:^|[\s-])(?:effects?|discomforts?|issues?|factors?|problems?|symptoms?|conditions?|involvement|complications?|irregularities|habits|causes?|reactions?|changes?|type|nature|stage|sensitivity)$/

/** Words that narrow a disease without naming another one. */
const qualifiers = new Set(
  listOf(`acute chronic mild moderate severe slight minor simple superficial erosive hemorrhagic haemorrhagic
  atrophic non-atrophic recurrent functional viral bacterial infectious allergic secondary early advanced
  persistent active seasonal habitual occasional mixed antral stress-related`),
)
const isQualifier = (term: string): boolean => term.split(' ').every((word) => qualifiers.has(word))

const grounds =
  /^(?:based on|according to|given|considering|after|from what)\b.*?,\s*(?=(?:it|it's|you|you're|you've|your|this|that|the|these|he|she|his|her|we|i|there)\b)/
const firstClause = /^(?:based on|according to|given|considering|after|from what)\b[^,]*,\s*/
const withoutComma =
  /^(?:based on|according to|given|considering)\b[^,.]*?\s(?=(?:it|you|this|he|she|i)\s(?:is|are|am|has|have|may|might|could|likely|appears?|seems?|suspect|diagnose)\b)/
/** "The site of your pain suggests a case of X": the verb is nearer to the disease than the subject. */
const verdict = /^[^,.]*?\b(?:suggests?|indicates?|points? to|consistent with)\s/
/** "a mild case of X" */
const caseOf = /\b\w+ (?:case|episode|bout) of\s/
const perhaps =
  /,?\s*\b(?:or\s+)?possibly\b(?:\s+(?:along with|together with|accompanied by|complicated by|with))?/g
const beside =
  /,?\s*(?:likely\s+|probably\s+)?\b(?:along with|as well as|together with|combined with|coupled with|accompanied by|complicated by|in addition to|plus)\b/g
const specifically = /,?\s*\b(?:specifically|namely|also known as|also called)\b,?\s*/
const sentenceEnd = /[.;!?](?=\s|$)/
/** Where the disease ends and its cause, course or explanation begins. */
const ends =
  /[;:!?]|\.(?!\d)|,\s*(?:an?|the)\s|\s-\s|—|\b(?:which|who|that|because|causing|caused|due to|owing to|triggered|aggravated|exacerbated|worsened|influenced|induced by|linked|related to|associated|contributing|leading|resulting|secondary to|likely|probably|given|though|although|however|but|rather than|instead of|not|with|from|after|during|following|since|in the|alternating|compounded|characteri[sz]ed|especially|based on)\b/

function withoutLead(text: string): { readonly lead: readonly string[]; readonly rest: string } {
  const all = text.split(' ')
  const first = all.findIndex((word) => !leadWords.has(word.replace(/,$/, '')))
  const at = first < 0 ? all.length : first
  return { lead: all.slice(0, at), rest: all.slice(at).join(' ') }
}

function cut(text: string): string {
  const end = text.search(ends)
  return end < 0 ? text : text.slice(0, end)
}

/** The terms of a list: "a cold and mild enteritis" gives two. */
const termsOf = (text: string): string[] =>
  text
    .split(/\s*(?:,|\/|\band\b)\s*/)
    .map((part) => withoutLead(part.trim()).rest.replace(/[\s,.'"]+$/, ''))
    .filter((term) => term.length > 1 && term.split(' ').length <= 6 && !general.test(term))

function englishTerms(diagnosis: string): DiagnosisTerms {
  const plain = diagnosis.toLowerCase().replace(/[’‘]/g, "'").replace(/\s+/g, ' ').trim()
  const brackets = [...plain.matchAll(/\(([^()]{2,40})\)/g)].flatMap((found) => found[1] ?? [])
  const sentence = plain
    .replace(/\s*\([^()]*\)/g, '')
    .replace(grounds, '')
    .replace(firstClause, '')
    .replace(withoutComma, '')
  const { lead, rest } = withoutLead(sentence.replace(verdict, '').replace(caseOf, ''))
  if (lead.some((word) => negations.has(word))) {
    const but = sentence.match(/^[^.]*?\bbut\s+(.+)$/)?.[1]
    return but === undefined ? none : englishTerms(but)
  }
  const [before = '', after = ''] = (rest.split(sentenceEnd)[0] ?? '').split(specifically)
  const text = cut(before.replace(perhaps, ' or ').replace(beside, ' and '))
  // "A, B, or C" offers all three; elsewhere a comma lists what is there together.
  const [certain = '', ...possible] = text
    .replace(/,(?=.*,\s*or\b)/g, ' or ')
    .split(/\s*,?\s*\bor\b\s*/)
  const named = termsOf(certain)
  const inBrackets = brackets.filter((inner) => plain.includes(`${named[0]} (${inner})`))
  const variants = [...termsOf(cut(after)).slice(0, 1), ...inBrackets.flatMap(termsOf)]
  return {
    named,
    alternatives: possible.flatMap(termsOf).filter((term) => !isQualifier(term)),
    variants: variants.filter((term) => term !== named[0]),
  }
}

const hanGrounds = /^(?:根据|依据|结合|综合|从|按照?)[^，,。]*[，,]\s*/
const hanLead =
  /^(?:您|你|他|她|患者|病人|孩子|宝宝|目前|现在|这|初步|临床|诊断|考虑|怀疑|判断|认为|属于|得了|患有|患|出现了?|存在|符合|提示|倾向于?|应该|应当|很|最|大概率?|可能性?|也许|似乎|看起来|看来|好?像是?|的?症状|的?情况|结果|有|为|是|的|了|性大|[:：，,\s])+/
const hanEnds =
  /[。；;！!？?（(]|[，,](?!\s*(?:或|伴|合并|不排除))|由于?|因为?|引起|引发|导致|所致|造成|需要?|建议|但是?/

function hanTerms(diagnosis: string): DiagnosisTerms {
  const brackets = [...diagnosis.matchAll(/[（(]([^（）()]{2,20})[）)]/g)].flatMap(
    (f) => f[1] ?? [],
  )
  const sentence = diagnosis
    .replace(/[（(][^（）()]*[）)]/g, '')
    .trim()
    .replace(hanGrounds, '')
  const lead = sentence.match(hanLead)?.[0] ?? ''
  const rest = sentence.slice(lead.length)
  if (/^(?:不|没|无|非(?!萎缩))/.test(rest)) return none
  const end = rest.search(hanEnds)
  const [certain = '', ...possible] = (end < 0 ? rest : rest.slice(0, end)).split(
    /[，,]?\s*(?:不排除|或者?是?|可能伴?有?)/,
  )
  const split = (text: string): string[] =>
    text
      .split(/[、，,/＋+]|以及|[及和与]|伴有?|合并/)
      .map((term) => term.replace(hanLead, '').trim())
      .filter((term) => term.length > 1 && term.length <= 14)
  const named = split(certain)
  return { named, alternatives: possible.flatMap(split), variants: brackets }
}

/** The disease terms of a recorded diagnosis, lower-case, in the language it is written in. */
export const diagnosisTerms = (diagnosis: string): DiagnosisTerms =>
  languageOf(diagnosis) === 'zh' ? hanTerms(diagnosis) : englishTerms(diagnosis)

const hanQualifiers =
  /^(?:急性|慢性|轻度|中度|重度|轻微|浅表性|糜烂性|出血性|非?萎缩性|复发性|功能性|病毒性|细菌性|感染性|过敏性|早期|普通)+/

/** The term without its qualifiers ("gastritis" of "chronic superficial gastritis"), or the term itself. */
export function headTerm(term: string): string {
  const all = term.split(' ')
  const first = all.findIndex((word) => !qualifiers.has(word))
  const head = all.slice(Math.max(first, 0)).join(' ').replace(hanQualifiers, '')
  return head.length > 1 ? head : term
}
