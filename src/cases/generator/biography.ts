/** Draws a patient's biography: one answer for each question about their life, from those that fit the patient. */
import type { Biography, Finding, Text } from '../../case.js'
import type { BiographySlot, Knowledge } from '../../knowledge/knowledge.js'
import { uniform } from '../../seed.js'
import type { DrawnPatient } from './draw.js'

type Option = BiographySlot['of'][number]

/** Whether an option fits the patient's age, sex and findings, and what was drawn before. */
function fits(
  { ages, sex, when, needs }: Option,
  patient: Pick<DrawnPatient, 'age' | 'sex'>,
  findings: ReadonlyMap<string, Finding>,
  drawn: ReadonlySet<string>,
): boolean {
  if (ages && (patient.age < ages[0] || patient.age >= ages[1] + 1)) return false
  if (sex && sex !== patient.sex) return false
  if (needs && !needs.some((one) => drawn.has(one))) return false
  if (when)
    for (const id in when) if (!when[id]!.includes(findings.get(id)?.state ?? '')) return false
  return true
}

/** Picks one of the options by weight; undefined where there is none. */
function pickOption(options: readonly Option[], seed: number, slot: string): Option | undefined {
  let left = 0
  for (const { weight = 1 } of options) left += weight
  left *= uniform(seed, 'biography', slot)
  for (const option of options) {
    left -= option.weight ?? 1
    if (left < 0) return option
  }
  return options.at(-1)
}

/**
 * Draws the biography, each slot by its name, so that a new slot moves no other draw. A slot no option of which fits
 * is left out. It depends on age, sex and findings the patient knows, never on a disease.
 */
export function drawBiography(
  { biography }: Knowledge,
  patient: Pick<DrawnPatient, 'age' | 'sex' | 'seed'>,
  findings: ReadonlyMap<string, Finding>,
): { readonly biography?: Biography } {
  if (biography.length === 0) return {}
  const drawn = new Set<string>()
  const told: Record<string, Text> = {}
  for (const { slot, of } of biography) {
    const options = of.filter((option) => fits(option, patient, findings, drawn))
    const option = pickOption(options, patient.seed, slot)
    if (!option) continue
    told[slot] = option.text
    if (option.id !== undefined) drawn.add(`${slot}/${option.id}`)
  }
  return { biography: told }
}
