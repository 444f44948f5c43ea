/** How a patient wraps what they say, and when they do not follow. */
import type { PatientContext } from '../../../patient.js'
import type { Dial } from '../../../persona.js'
import { dialOf } from '../../../persona.js'
import { pick, uniform } from '../../../seed.js'
import type { Manner } from './manners.js'
import { manners } from './manners.js'
import { join } from './realise.js'

/** What an answer is: of trouble, of no trouble, one given before, mere politeness, or none. */
export type Mood = 'troubled' | 'calm' | 'again' | 'polite' | 'puzzled'

/** P(such a sentence at one answer), by how far the dial is turned. */
const often = [0, 0.2, 0.45, 0.7]

/** A patient with less to say of themselves says nothing around it either. */
const silenced: ReadonlySet<Dial> = new Set<Dial>(['verbose', 'selfDiagnosing', 'demanding'])

/** Whether there is a place for such words. */
function fits(place: 'before' | 'after', mood: Mood, { troubled }: Manner): boolean {
  if (mood === 'puzzled' || mood === 'again') return false
  if (place === 'before' && mood === 'polite') return false
  return troubled === undefined || mood === 'troubled'
}

/**
 * A patient's answer in their manner.
 * @param topic what the answer is about; the same topic is wrapped alike whenever it comes up
 */
export function inManner(
  answer: string,
  mood: Mood,
  topic: string,
  context: PatientContext,
): string {
  const { view, seed, language } = context
  const before: string[] = []
  const after: string[] = []
  const terse = dialOf(view.persona, 'terse') >= 2
  for (const [name, banks] of Object.entries(manners)) {
    const dial = name as Dial // a key of `manners`
    const level = dialOf(view.persona, dial)
    if (level === 0 || (terse && silenced.has(dial))) continue
    for (const [place, bank] of [
      ['before', banks.before] as const,
      ['after', banks.after] as const,
    ]) {
      if (!bank || !fits(place, mood, banks)) continue
      if (uniform(seed, 'manner', dial, place, topic) >= (often[level] ?? 0)) continue
      const side = place === 'before' ? before : after
      side.push(pick(bank[language], seed, 'manner-words', dial, place, topic))
    }
  }
  // One of each is a person; more is a parade.
  return join([...before.slice(0, 1), answer, ...after.slice(0, 1)], language)
}

/** P(asks to hear a question again), by how far the dial is turned. */
const losing = [0, 0.12, 0.25, 0.4]
const reassuredFor = 4

/** Whether the patient loses the thread at a question put for the first time; kind words help for some turns. */
export function losesThread(
  topic: string,
  asked: readonly string[],
  context: PatientContext,
): boolean {
  const { view, seed, dialogue } = context
  const level = dialOf(view.persona, 'confused')
  if (level === 0) return false
  if (dialogue.slice(-reassuredFor).some(({ reply }) => reply.understood === 'courtesy'))
    return false
  if (dialogue.some(({ reply }) => asked.some((id) => reply.asked.includes(id)))) return false
  return uniform(seed, 'thread', topic) < (losing[level] ?? 0)
}

/** P(a technical word is not known), by how far the dial is turned. */
const unknownWords = [0, 0.35, 0.7, 1]

/** Whether the technical words for a finding are beyond the patient. */
export const knowsWord = (finding: string, { view, seed }: PatientContext): boolean =>
  uniform(seed, 'jargon', finding) >= (unknownWords[dialOf(view.persona, 'lowLiteracy')] ?? 0)
