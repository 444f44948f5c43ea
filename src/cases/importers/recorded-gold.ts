/** Gold labels of an imported dialogue, from its recorded sentences of diagnosis and recommendation. */
import type { Gold } from '../../case.js'
import type { Language } from '../../turn.js'
import { diagnosisTerms, headTerm } from './diagnosis-terms.js'

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
