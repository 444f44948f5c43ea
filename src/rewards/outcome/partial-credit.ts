/** Credit for the diagnosis: accuracy, and partial credit by acceptable alternatives, then by nearness in ICD-10. */
import { type Gold, primaryDiagnosis, unrecordedDiagnosis } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { notApplicable, ok, type Part, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'
import { findInGold, goldIndex } from './diagnosis-list.js'
import { readMention } from './disease-names.js'
import { type Formulary, type FormularyOptions, findInFormulary } from './formulary.js'
import { type Icd10Nearness, icd10Codes, icd10Nearness } from './icd10.js'

const isUnrecorded = (gold: Gold): boolean => primaryDiagnosis(gold).id === unrecordedDiagnosis

/**
 * 1 where the diagnosis is a name, alias, id or ICD-10 code of the primary gold diagnosis, compared whole
 * (`disease-names.ts`); 0 for any other, a list, a denial or none. Not applicable where none was recorded.
 */
export const diagnosisAccuracy = (): Reward =>
  unitReward(
    'diagnosis-accuracy',
    'whole-entity match against an alias table, after MIMIC-CDM (Hager et al. 2024)',
    (episode, { gold }) => {
      if (isUnrecorded(gold)) return notApplicable
      const given = diagnosisOf(episode)
      if (!given) return ok(0, 'no diagnosis')
      const mention = readMention(given.diagnosis)
      return ok(mention && findInGold(gold, mention)?.exact ? 1 : 0, given.diagnosis)
    },
  )

const usualTiers: Readonly<Record<Icd10Nearness, number>> = {
  code: 1,
  category: 0.8,
  block: 0.4,
  chapter: 0.15,
  none: 0,
}

/** A diagnosis this many severity classes milder than the truth earns nothing. */
const dangerous = 2

interface PartialCreditOptions extends FormularyOptions {
  /** Credit by nearness in ICD-10, 0 to 1. @default code 1, category .8, block .4, chapter .15, none 0 */
  readonly tiers?: Readonly<Partial<Record<Icd10Nearness, number>>>
}

function credit(
  diagnosis: string,
  gold: Gold,
  { formulary, tiers }: { formulary: Formulary; tiers: Readonly<Record<Icd10Nearness, number>> },
): Part {
  const mention = readMention(diagnosis)
  if (!mention) return ok(0, 'no diagnosis')
  const target = goldIndex(gold).diagnoses[0]
  const listed = findInGold(gold, mention)
  if (listed?.exact) return ok(1, diagnosis)
  const known = findInFormulary(formulary, mention)
  if (!mention.code && known?.id === target.id) return ok(1, diagnosis)
  const severity = listed?.severity ?? known?.severity
  if ((severity ?? 0) - (target.severity ?? Infinity) >= dangerous)
    return ok(0, `${diagnosis}: dangerously milder than the truth`)
  if (listed) return ok(listed.credit, `${diagnosis}: acceptable`)
  const codes = mention.code ? [mention.code] : known ? icd10Codes(known.codes) : []
  const near = icd10Nearness(codes, target.codes)
  return ok(tiers[near], near === 'none' ? diagnosis : `${diagnosis}: same ${near}`)
}

/**
 * Partial credit for the diagnosis: 1 for the primary gold diagnosis; else the credit from the case's list of acceptable
 * ones; else the ICD-10 tier between the disease named (through the formulary, or written as a code) and the gold one:
 * same code 1, category .8, block .4, chapter .15. A disease milder by two severity classes or more earns nothing,
 * listed or not: calling a heart attack indigestion is not nearly right. Not applicable where none was recorded.
 * @throws RangeError for a tier that is not within [0, 1]
 */
export function partialCredit({
  formulary = [],
  tiers: given = {},
}: PartialCreditOptions = {}): Reward {
  const tiers = { ...usualTiers, ...given }
  for (const [near, worth] of Object.entries(tiers))
    if (!(worth >= 0 && worth <= 1))
      throw new RangeError(`Expected tier \`${near}\` to be within [0, 1], got ${worth}`)
  return unitReward(
    'partial-credit',
    'acceptable list, then ICD-10 tiers, with a guard against dangerous under-calls',
    (episode, { gold }) => {
      if (isUnrecorded(gold)) return notApplicable
      const said = diagnosisOf(episode)
      return said ? credit(said.diagnosis, gold, { formulary, tiers }) : ok(0, 'no diagnosis')
    },
  )
}
