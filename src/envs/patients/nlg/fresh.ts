/** Choice among sentences of one meaning, so that a patient does not say the same words twice within a few turns. */
import type { PatientContext } from '../../../patient.js'
import { type Key, pick } from '../../../seed.js'

/** Turns within which a sentence is not said again, where there is another. */
const memory = 6

/**
 * Picks a sentence that was not said in the last turns, keyed by the seed and `keys`.
 * @param turns how many turns back a sentence counts as said @default 6
 */
export function pickFresh(
  bank: readonly string[],
  { dialogue, seed }: Pick<PatientContext, 'dialogue' | 'seed'>,
  keys: readonly Key[],
  turns: number = memory,
): string {
  const recent = dialogue.slice(-turns)
  const fresh = bank.filter((text) => !recent.some(({ reply }) => reply.text.includes(text)))
  return pick(fresh.length > 0 ? fresh : bank, seed, ...keys)
}
