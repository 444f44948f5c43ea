/**
 * Gold labels of an imported dialogue, from its recorded sentences of diagnosis and recommendation ("Based on your
 * symptoms, you likely have X, caused by Y").
 *
 * By rules, without a dictionary: the lead-in is removed, the text is cut where causes and explanations begin, and the
 * rest is split into the diseases it names.
 */
import type { Gold } from '../../case.js'
import { detectLanguage } from '../../text/word-stems.js'
import type { Language } from '../../turn.js'

/** Disease terms of one recorded diagnosis, in lower case. */
export interface DiagnosisTerms {
  /** Named as certain, in order; the first is the primary one. Empty where no disease is recognised. */
  readonly named: readonly string[]
  /** Named as possible, instead of or beside the certain ones. */
  readonly alternatives: readonly string[]
  /** Other names of the primary one: more specific, in brackets, or abbreviated. */
  readonly variants: readonly string[]
}

const none: DiagnosisTerms = { named: [], alternatives: [], variants: [] }
const splitWords = (text: string): string[] => text.trim().split(/\s+/)

/** Words before the disease name that are not part of it. */
const leadWords = new Set(
  splitWords(`a an the this that it it's its there you you're you've your he his she her they their i i'm we my
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
const negations = new Set(splitWords('not no unlikely nothing unclear unknown undetermined'))

/** Nouns too general to be a diagnosis by themselves or at the end of one. */
const general =
  /(?:^|[\s-])(?:effects?|discomforts?|issues?|factors?|problems?|symptoms?|conditions?|involvement|complications?|irregularities|habits|causes?|reactions?|changes?|type|nature|stage|sensitivity)$/

/** Words that narrow a disease without naming another one. */
const qualifiers = new Set(
  splitWords(`acute chronic mild moderate severe slight minor simple superficial erosive hemorrhagic haemorrhagic
  atrophic non-atrophic recurrent functional viral bacterial infectious allergic secondary early advanced
  persistent active seasonal habitual occasional mixed antral stress-related`),
)
const isQualifier = (term: string): boolean => term.split(' ').every((word) => qualifiers.has(word))

const basisClause =
  /^(?:based on|according to|given|considering|after|from what)\b.*?,\s*(?=(?:it|it's|you|you're|you've|your|this|that|the|these|he|she|his|her|we|i|there)\b)/
const basisUpToComma = /^(?:based on|according to|given|considering|after|from what)\b[^,]*,\s*/
const basisWithoutComma =
  /^(?:based on|according to|given|considering)\b[^,.]*?\s(?=(?:it|you|this|he|she|i)\s(?:is|are|am|has|have|may|might|could|likely|appears?|seems?|suspect|diagnose)\b)/
/** "The site of your pain suggests X": everything up to the verb. */
const upToVerb = /^[^,.]*?\b(?:suggests?|indicates?|points? to|consistent with)\s/
const caseOfPhrase = /\b\w+ (?:case|episode|bout) of\s/
const possiblyPhrase =
  /,?\s*\b(?:or\s+)?possibly\b(?:\s+(?:along with|together with|accompanied by|complicated by|with))?/g
const besidePhrase =
  /,?\s*(?:likely\s+|probably\s+)?\b(?:along with|as well as|together with|combined with|coupled with|accompanied by|complicated by|in addition to|plus)\b/g
const namelyPhrase = /,?\s*\b(?:specifically|namely|also known as|also called)\b,?\s*/
const sentenceEnd = /[.;!?](?=\s|$)/
/** Where the disease name ends and its cause, course or explanation begins. */
const termEnd =
  /[;:!?]|\.(?!\d)|,\s*(?:an?|the)\s|\s-\s|—|\b(?:which|who|that|because|causing|caused|due to|owing to|triggered|aggravated|exacerbated|worsened|influenced|induced by|linked|related to|associated|contributing|leading|resulting|secondary to|likely|probably|given|though|although|however|but|rather than|instead of|not|with|from|after|during|following|since|in the|alternating|compounded|characteri[sz]ed|especially|based on)\b/

function splitLead(text: string): { readonly lead: readonly string[]; readonly rest: string } {
  const all = text.split(' ')
  const first = all.findIndex((word) => !leadWords.has(word.replace(/,$/, '')))
  const at = first < 0 ? all.length : first
  return { lead: all.slice(0, at), rest: all.slice(at).join(' ') }
}

function cutTail(text: string): string {
  const end = text.search(termEnd)
  return end < 0 ? text : text.slice(0, end)
}

/** Splits a list of diseases: "a cold and mild enteritis" gives two terms. */
const splitTerms = (text: string): string[] =>
  text
    .split(/\s*(?:,|\/|\band\b)\s*/)
    .map((part) => splitLead(part.trim()).rest.replace(/[\s,.'"]+$/, ''))
    .filter((term) => term.length > 1 && term.split(' ').length <= 6 && !general.test(term))

function englishTerms(diagnosis: string): DiagnosisTerms {
  const plain = diagnosis.toLowerCase().replace(/[’‘]/g, "'").replace(/\s+/g, ' ').trim()
  const brackets = [...plain.matchAll(/\(([^()]{2,40})\)/g)].flatMap((found) => found[1] ?? [])
  const sentence = plain
    .replace(/\s*\([^()]*\)/g, '')
    .replace(basisClause, '')
    .replace(basisUpToComma, '')
    .replace(basisWithoutComma, '')
  const { lead, rest } = splitLead(sentence.replace(upToVerb, '').replace(caseOfPhrase, ''))
  if (lead.some((word) => negations.has(word))) {
    const but = sentence.match(/^[^.]*?\bbut\s+(.+)$/)?.[1]
    return but === undefined ? none : englishTerms(but)
  }
  const [before = '', after = ''] = (rest.split(sentenceEnd)[0] ?? '').split(namelyPhrase)
  const text = cutTail(before.replace(possiblyPhrase, ' or ').replace(besidePhrase, ' and '))
  // "A, B, or C" lists alternatives; elsewhere a comma joins diseases present together.
  const [certain = '', ...possible] = text
    .replace(/,(?=.*,\s*or\b)/g, ' or ')
    .split(/\s*,?\s*\bor\b\s*/)
  const named = splitTerms(certain)
  const inBrackets = brackets.filter((inner) => plain.includes(`${named[0]} (${inner})`))
  const variants = [...splitTerms(cutTail(after)).slice(0, 1), ...inBrackets.flatMap(splitTerms)]
  return {
    named,
    alternatives: possible.flatMap(splitTerms).filter((term) => !isQualifier(term)),
    variants: variants.filter((term) => term !== named[0]),
  }
}

const hanBasisClause = /^(?:根据|依据|结合|综合|从|按照?)[^，,。]*[，,]\s*/
const hanLead =
  /^(?:您|你|他|她|患者|病人|孩子|宝宝|目前|现在|这|初步|临床|诊断|考虑|怀疑|判断|认为|属于|得了|患有|患|出现了?|存在|符合|提示|倾向于?|应该|应当|很|最|大概率?|可能性?|也许|似乎|看起来|看来|好?像是?|的?症状|的?情况|结果|有|为|是|的|了|性大|[:：，,\s])+/
const hanTermEnd =
  /[。；;！!？?（(]|[，,](?!\s*(?:或|伴|合并|不排除))|由于?|因为?|引起|引发|导致|所致|造成|需要?|建议|但是?/

function hanTerms(diagnosis: string): DiagnosisTerms {
  const brackets = [...diagnosis.matchAll(/[（(]([^（）()]{2,20})[）)]/g)].flatMap(
    (f) => f[1] ?? [],
  )
  const sentence = diagnosis
    .replace(/[（(][^（）()]*[）)]/g, '')
    .trim()
    .replace(hanBasisClause, '')
  const lead = sentence.match(hanLead)?.[0] ?? ''
  const rest = sentence.slice(lead.length)
  if (/^(?:不|没|无|非(?!萎缩))/.test(rest)) return none
  const end = rest.search(hanTermEnd)
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

/** Extracts the disease terms of a recorded diagnosis, in lower case and in the language it is written in. */
export const diagnosisTerms = (diagnosis: string): DiagnosisTerms =>
  detectLanguage(diagnosis) === 'zh' ? hanTerms(diagnosis) : englishTerms(diagnosis)

const hanQualifiers =
  /^(?:急性|慢性|轻度|中度|重度|轻微|浅表性|糜烂性|出血性|非?萎缩性|复发性|功能性|病毒性|细菌性|感染性|过敏性|早期|普通)+/

/** Removes the qualifiers of a term ("chronic superficial gastritis" gives "gastritis"), unless nothing is left. */
export function headTerm(term: string): string {
  const all = term.split(' ')
  const first = all.findIndex((word) => !qualifiers.has(word))
  const head = all.slice(Math.max(first, 0)).join(' ').replace(hanQualifiers, '')
  return head.length > 1 ? head : term
}

/** Names that recorded doctors use interchangeably for one disease. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  cold: ['common cold'],
  'gastric ulcer': ['stomach ulcer'],
  'stomach ulcer': ['gastric ulcer'],
  'irritable bowel syndrome': ['ibs'],
  'gastroesophageal reflux disease': ['gerd'],
  hemorrhoids: ['haemorrhoids', 'piles'],
  感冒: ['普通感冒'],
  肠易激综合征: ['ibs'],
}

const diagnosisId = (term: string): string => term.replace(/[\s/]+/g, '-')
const unique = (list: readonly string[]): string[] => [...new Set(list)]
const hyphenVariants = (term: string): string[] => unique([term, term.replace(/-/g, ' ')])

/**
 * Parses a recorded diagnosis into gold. The first disease named is the primary one, others named with it are
 * comorbid. Alternatives, comorbid diseases and less qualified names of both earn half the credit. `found` is false
 * where no disease was recognised; the name is then the whole sentence.
 */
export function parseRecordedGold(
  diagnosis: string,
  recommendation: string | undefined,
  language: Language,
): { readonly gold: Gold; readonly found: boolean } {
  const sentence = diagnosis.trim()
  const { named, alternatives, variants } = diagnosisTerms(sentence)
  const [first = sentence, ...beside] = unique(named)
  const asDiagnosis = (term: string, more: readonly string[] = []) => ({
    id: diagnosisId(term),
    name: { [language]: term },
    aliases: unique([...more, ...(synonyms[term] ?? []), ...hyphenVariants(term)]).filter(
      (alias) => alias !== term,
    ),
    codes: [],
  })
  const own = new Set([first, ...variants])
  const partly = unique([headTerm(first), ...alternatives, ...beside, ...beside.map(headTerm)])
  return {
    found: named.length > 0,
    gold: {
      dx: [
        { ...asDiagnosis(first, [sentence, ...variants.flatMap(hyphenVariants)]), role: 'primary' },
        ...beside.map((term) => ({ ...asDiagnosis(term), role: 'comorbid' as const })),
      ],
      acceptable: partly
        .filter((term) => !own.has(term))
        .map((term) => ({ ...asDiagnosis(term), credit: 0.5 })),
      redFlags: [],
      actions: [],
      ...(recommendation ? { recommendation: { [language]: recommendation } } : {}),
    },
  }
}
