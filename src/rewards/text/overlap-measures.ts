/** Text-overlap measures by name. */
import { bagF1, wordF1 } from './bag-f1.js'
import { characterLcs } from './common-subsequence.js'
import { doctorAgentBleu, doctorAgentRouge } from './rouge.js'

type Overlap = (candidate: string, gold: string) => number

/** Text-overlap measures by name. ROUGE (as F1) and BLEU are those of DoctorAgent-RL's evaluation. */
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

/** The name of a text-overlap measure. */
export type OverlapMeasure = keyof typeof overlapMeasures

/** The text-overlap measure of that name. @throws RangeError for an unknown name */
export function overlapMeasure(name: string): Overlap {
  if (!Object.hasOwn(overlapMeasures, name))
    throw new RangeError(
      `Expected a measure of ${Object.keys(overlapMeasures).join(', ')}, got \`${name}\``,
    )
  // A key of the table, by the check above.
  return overlapMeasures[name as OverlapMeasure]
}
