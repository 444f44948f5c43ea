/** The tiers of difficulty: how typical patients are, how well they answer, and what the doctor may spend. */
import type { Noise } from '../case.js'
import type { PersonaSpread } from '../persona.js'

/** What a tier fixes for the generator, the patient, the env and the oracle alike. */
export interface Tier {
  /** How far each patient strays from the textbook to the background, 0 to 1. */
  readonly atypicality: number
  readonly noise: Readonly<Noise>
  /** P(a second disease beside the one to be found). */
  readonly comorbidity: number
  readonly personas: PersonaSpread
  /** Draws only the diseases that no other tier draws: what a trained doctor never met. */
  readonly novel: boolean
  /** Money units for examinations. */
  readonly money: number
  /** Minutes for the whole consultation. */
  readonly minutes: number
  /** Actions the doctor has, the diagnosis among them. */
  readonly maxTurns: number
}

export type TierName = 'easy' | 'standard' | 'hard' | 'ood'

const twoDays = 2 * 24 * 60

const standard: Tier = {
  atypicality: 0.2,
  noise: { forget: 0.05, deny: 0.1, overReport: 0.02 },
  comorbidity: 0,
  personas: 'mild',
  novel: false,
  money: 500,
  minutes: twoDays,
  maxTurns: 15,
}

export const tiers: Readonly<Record<TierName, Tier>> = {
  easy: {
    atypicality: 0,
    noise: { forget: 0, deny: 0, overReport: 0 },
    comorbidity: 0,
    personas: 'plain',
    novel: false,
    money: 500,
    minutes: twoDays,
    maxTurns: 10,
  },
  standard,
  hard: {
    atypicality: 0.4,
    noise: { forget: 0.1, deny: 0.2, overReport: 0.05 },
    comorbidity: 0.1,
    personas: 'varied',
    novel: false,
    money: 500,
    minutes: twoDays,
    maxTurns: 15,
  },
  ood: { ...standard, novel: true },
}

export const tierNames = Object.keys(tiers) as TierName[] // the keys of the literal above
