/** Closed lists that schemas share. */

/** Where a code comes from. */
export const codeSystems = ['icd10', 'icd11', 'snomed', 'hpo', 'loinc', 'mondo', 'local'] as const

/** What a finding is. */
export const findingKinds = [
  'symptom',
  'antecedent',
  'medication',
  'allergy',
  'family',
  'social',
  'sign',
  'vital',
  'lab',
  'imaging',
  'pathology',
] as const
