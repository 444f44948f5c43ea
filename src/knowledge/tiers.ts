/** Difficulty tiers: typicality of patients, answer noise, personas, and the doctor's budget. */
import type { Noise } from '../case.js'
import type { PersonaSpread } from '../persona.js'

/** Settings of a tier, shared by generator, patient, env and oracle. */
export interface Tier {
  /** Shift of each patient from the textbook to the background probabilities, 0 to 1. */
  readonly atypicality: number
  readonly noise: Readonly<Noise>
  /** P(a second disease beside the primary one). */
  readonly comorbidity: number
  readonly personas: PersonaSpread
  /** True to draw only diseases that no other tier draws, which a trained doctor never met. */
  readonly novel: boolean
  /** Money units for examinations. */
  readonly money: number
  /** Minutes for the whole consultation. */
  readonly minutes: number
  /** Number of actions the doctor has, including the diagnosis. */
  readonly maxTurns: number
}

/** Name of a tier; `ood` is out of distribution. */
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

/** The tiers by name. */
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

/** Names of the tiers, easiest first. */
export const tierNames = Object.keys(tiers) as TierName[] // the keys of the literal above
