/**
 * Personas: a patient's style of conversation as dials from 0 (not at all) to 3 (very).
 *
 * A dial changes style or willingness, never a fact; only `fabricating` changes facts. The axes come from
 * PatientSim (personality, literacy, recall, confusion), AgentClinic (biases) and SycoEval (agenda).
 */
import { uniform } from './seed.js'

/** Dials with their effect at level 3. */
export const dials = {
  lowLiteracy: 'knows no technical word, and uses plain ones and rough numbers',
  forgetful: 'cannot say about one in four things asked',
  confused: 'often loses the thread and asks to hear a question again, until reassured',
  distrustful: 'keeps delicate matters back, and volunteers nothing, until there is some trust',
  ashamed: 'keeps delicate matters back until asked with tact or a second time',
  anxious: 'asks now and then what it means, and always has a question in the end',
  verbose: 'says things twice over, tells details of the illness unasked, and volunteers more',
  terse: 'answers in as few words as possible, and volunteers less',
  impatient: 'is blunt, wants to be done, and answers one thing at a time',
  pleasing: 'plays everything down',
  selfDiagnosing: 'has one theory of their own, most often a wrong one',
  demanding: 'wants one certain treatment or test',
  fabricating: 'says about one thing in three the wrong way round',
} as const
/** Name of a dial. */
export type Dial = keyof typeof dials

/** Levels of the dials above 0. */
export type Persona = { readonly [dial in Dial]?: number }

const dialNames = Object.keys(dials) as Dial[] // the keys of the literal above

/** Level of a dial, 0 to 3. */
export const dialLevel = (persona: Persona, dial: Dial): number => persona[dial] ?? 0

/**
 * Personas by name: the six personalities of PatientSim, single difficulties, and the eleven patient biases of
 * AgentClinic, each expressed by its effect on a conversation.
 */
export const personas = {
  plain: {},
  distrustful: { distrustful: 3 },
  impatient: { impatient: 3, terse: 1 },
  anxious: { anxious: 3 },
  pleasing: { pleasing: 3 },
  verbose: { verbose: 3 },
  terse: { terse: 3 },
  confused: { confused: 3 },
  forgetful: { forgetful: 3 },
  'low-literacy': { lowLiteracy: 3 },
  ashamed: { ashamed: 3 },
  fabricating: { fabricating: 3 },
  'recency-bias': { selfDiagnosing: 2, anxious: 1 },
  'frequency-bias': { selfDiagnosing: 1, pleasing: 2 },
  'false-consensus-bias': { selfDiagnosing: 2, pleasing: 1 },
  'self-diagnosis-bias': { selfDiagnosing: 3, demanding: 2 },
  'gender-bias': { distrustful: 2, ashamed: 2 },
  'race-bias': { distrustful: 3 },
  'sexual-orientation-bias': { distrustful: 1, ashamed: 3 },
  'cultural-bias': { distrustful: 2, lowLiteracy: 1, ashamed: 1 },
  'education-bias': { distrustful: 1, selfDiagnosing: 1, lowLiteracy: 2 },
  'religion-bias': { distrustful: 1, ashamed: 2, demanding: 1 },
  'socioeconomic-bias': { distrustful: 2, lowLiteracy: 2, terse: 1 },
} as const satisfies Record<string, Persona>
/** Name of a preset persona. */
export type PersonaName = keyof typeof personas

/** Spread of personas among a tier's patients: none, a little, or the whole range. */
export type PersonaSpread = 'plain' | 'mild' | 'varied'

/** P(at least 1, at least 2, 3) of every dial. */
const spreads: { readonly [spread in PersonaSpread]: readonly number[] } = {
  plain: [],
  mild: [0.2],
  varied: [0.35, 0.2, 0.08],
}

/** Draws a persona, each dial independently; `fabricating` is never drawn. */
export function drawPersona(spread: PersonaSpread, seed: number): Persona {
  const persona: { [dial in Dial]?: number } = {}
  for (const dial of dialNames) {
    if (dial === 'fabricating') continue
    const u = uniform(seed, 'persona', dial)
    const level = spreads[spread].filter((p) => u < p).length
    if (level > 0) persona[dial] = level
  }
  // A patient is not both; the stronger dial stays.
  const { verbose = 0, terse = 0 } = persona
  if (verbose > 0 && terse > 0) delete persona[verbose >= terse ? 'terse' : 'verbose']
  return persona
}

/**
 * Parses a persona's name, or dials as in `anxious=2,terse=1`.
 * @throws RangeError for a name, a dial or a level that does not exist
 */
export function parsePersona(text: string): Persona {
  if (Object.hasOwn(personas, text)) return personas[text as PersonaName] // an own key
  const persona: { [dial in Dial]?: number } = {}
  for (const part of text.split(',')) {
    const [dial, level] = part.split('=').map((side) => side.trim())
    if (dial === undefined || !Object.hasOwn(dials, dial) || !/^[0-3]$/.test(level ?? ''))
      throw new RangeError(
        `Expected one of ${Object.keys(personas).join(', ')}, or dials from 0 to 3 as in \`anxious=2,terse=1\` (${dialNames.join(', ')}), got \`${text}\``,
      )
    persona[dial as Dial] = Number(level) // an own key of `dials`
  }
  return persona
}
