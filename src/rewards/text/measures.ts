/** The text overlaps by name. */
import { bagF1, wordF1 } from './bag-f1.js'
import { doctorAgentBleu } from './bleu.js'
import { characterLcs } from './character-lcs.js'
import { doctorAgentRouge } from './rouge.js'

/** How alike a candidate is to a gold text, in [0, 1]. */
type Overlap = (candidate: string, gold: string) => number

/** ROUGE and BLEU are those of DoctorAgent-RL's evaluation, ROUGE as its F1. */
export const overlapMeasures = {
  'bag-f1': bagF1,
  'word-f1': wordF1,
  'character-lcs': characterLcs,
  'rouge-1': (candidate, gold) => doctorAgentRouge(candidate, gold, 1).f1,
  'rouge-2': (candidate, gold) => doctorAgentRouge(candidate, gold, 2).f1,
  'rouge-l': (candidate, gold) => doctorAgentRouge(candidate, gold, 'l').f1,
  'bleu-1': (candidate, gold) => doctorAgentBleu(candidate, gold, 1),
  'bleu-2': (candidate, gold) => doctorAgentBleu(candidate, gold, 2),
  'bleu-3': (candidate, gold) => doctorAgentBleu(candidate, gold, 3),
  'bleu-4': (candidate, gold) => doctorAgentBleu(candidate, gold, 4),
} as const satisfies Record<string, Overlap>

export type OverlapMeasure = keyof typeof overlapMeasures

/** @throws RangeError for a name that none has */
export function overlapMeasure(name: string): Overlap {
  if (!Object.hasOwn(overlapMeasures, name))
    throw new RangeError(
      `Expected a measure of ${Object.keys(overlapMeasures).join(', ')}, got \`${name}\``,
    )
  // A key of the table, as was just seen.
  return overlapMeasures[name as OverlapMeasure]
}
