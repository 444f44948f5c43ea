/** The persona's manner: sentences around an answer, lost threads and unknown jargon. */
import type { PatientContext } from '../../../patient.js'
import { type Dial, dialLevel } from '../../../persona.js'
import { pick, uniform } from '../../../seed.js'
import { type Manner, mannerSentences } from './manner-sentences.js'
import { joinSentences } from './stock-sentences.js'

/** Mood of a reply: it reports trouble, reports none, repeats an answer, is mere politeness, or is no answer. */
export type Mood = 'troubled' | 'calm' | 'again' | 'polite' | 'puzzled'

/** P(a manner sentence at one answer), by the level of the dial. */
const mannerChance = [0, 0.2, 0.45, 0.7]

/** Dials without effect in a terse patient. */
const dropsWhenTerse: ReadonlySet<Dial> = new Set<Dial>(['verbose', 'selfDiagnosing', 'demanding'])

/** Whether a manner sentence fits before or after a reply of this mood. */
function fitsMood(place: 'before' | 'after', mood: Mood, { troubled }: Manner): boolean {
  if (mood === 'puzzled' || mood === 'again') return false
  if (place === 'before' && mood === 'polite') return false
  return troubled === undefined || mood === 'troubled'
}

/**
 * Adds the persona's sentences to an answer, at most one before and one after it.
 * @param topic key of what the answer is about; a topic gets the same sentences each time
 */
export function applyManner(
  answer: string,
  mood: Mood,
  topic: string,
  context: PatientContext,
): string {
  const { view, seed, language } = context
  const before: string[] = []
  const after: string[] = []
  const terse = dialLevel(view.persona, 'terse') >= 2
  for (const [name, banks] of Object.entries(mannerSentences)) {
    const dial = name as Dial // a key of `manners`
    const level = dialLevel(view.persona, dial)
    if (level === 0 || (terse && dropsWhenTerse.has(dial))) continue
    for (const [place, bank] of [
      ['before', banks.before] as const,
      ['after', banks.after] as const,
    ]) {
      if (!bank || !fitsMood(place, mood, banks)) continue
      if (uniform(seed, 'manner', dial, place, topic) >= (mannerChance[level] ?? 0)) continue
      const side = place === 'before' ? before : after
      side.push(pick(bank[language], seed, 'manner-words', dial, place, topic))
    }
  }
  // More than one of each would sound like a caricature.
  return joinSentences([...before.slice(0, 1), answer, ...after.slice(0, 1)], language)
}

/** P(asks to hear a question again), by the level of the dial. */
const lossChance = [0, 0.12, 0.25, 0.4]
/** Turns for which kind words keep a confused patient on the thread. */
const reassuredTurns = 4

/** Whether a confused patient loses the thread: only at a new question, and not for some turns after kind words. */
export function losesThread(
  topic: string,
  asked: readonly string[],
  context: PatientContext,
): boolean {
  const { view, seed, dialogue } = context
  const level = dialLevel(view.persona, 'confused')
  if (level === 0) return false
  if (dialogue.slice(-reassuredTurns).some(({ reply }) => reply.understood === 'courtesy'))
    return false
  if (dialogue.some(({ reply }) => asked.some((id) => reply.asked.includes(id)))) return false
  return uniform(seed, 'thread', topic) < (lossChance[level] ?? 0)
}

/** P(a technical term is not known), by the level of the dial. */
const unknownChance = [0, 0.35, 0.7, 1]

/** Whether the patient knows the technical terms for a finding. */
export const knowsJargon = (finding: string, { view, seed }: PatientContext): boolean =>
  uniform(seed, 'jargon', finding) >= (unknownChance[dialLevel(view.persona, 'lowLiteracy')] ?? 0)
