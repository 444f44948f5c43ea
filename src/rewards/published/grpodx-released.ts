/**
 * How GRPODx reads a consultation and the one number of its judge: the README's code (commit 7a3666e), the sketch in
 * its specification, and the last code (c94d1bb). Facts of the repository Legionof7/GRPOdx.
 */
import { inLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { JudgedLine } from '../judges/judge.js'

/** A turn as a doctor there would have written it, for one who acts without writing; there are no examinations. */
function writtenAs({ action }: EpisodeTurn): string {
  switch (action.kind) {
    case 'ask':
    case 'invalid':
      return action.text
    case 'order':
      return `Please have this done: ${action.exam}`
    case 'diagnose':
      return `Final diagnosis: ${action.diagnosis}`
    case 'give-up':
      return ''
  }
}

/** A consultation up to the reply that concludes it. */
export interface ReleasedConsultation {
  /** Every line as it was written, hidden reasoning included. */
  readonly dialogue: readonly JudgedLine[]
  /** The last reply, where it concludes. */
  readonly conclusion?: string
}

/**
 * The dialogue until the first reply that concludes; the world's words are the patient's, whoever said them. How many
 * turns there may be is the env's to say (five, as published).
 */
export function readConsultation(
  { intake, language, turns }: Episode,
  concludes: (reply: string) => boolean,
  opening = true,
): ReleasedConsultation {
  const complaint: JudgedLine = { role: 'patient', text: inLanguage(intake.complaint, language) }
  const dialogue: JudgedLine[] = opening ? [complaint] : []
  for (const turn of turns) {
    const text = turn.text ?? writtenAs(turn)
    dialogue.push({ role: 'doctor', text })
    if (concludes(text)) return { dialogue, conclusion: text }
    if (turn.outcome.kind !== 'closed') dialogue.push({ role: 'patient', text: turn.outcome.text })
  }
  return { dialogue }
}

/** A doctor's words without what stands between two tags; one that is never closed hides nothing. */
const withoutReason = (text: string): string => text.replace(/<reason>[\s\S]*?<\/reason>/g, '')

const label = 'final diagnosis:'

/** What of a generation's judge and reading differs. */
export interface Generation {
  /** Whether a reply ends the consultation. */
  readonly concludes: (reply: string) => boolean
  /** Whether the disease was revealed, so that the judge is told of it. */
  readonly revealed: (consultation: ReleasedConsultation) => boolean
  /** Whether the judge is shown the patient's opening. */
  readonly opening: boolean
  readonly number: RegExp
  /** For a reply without a number. */
  readonly unread: number
}

/** A letter, figure or underscore, of any script, as Python's `\w` is. */
const word = String.raw`[\p{L}\p{N}_]`
const edge = `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`

export const generations: Readonly<Record<'readme' | 'techspec', Generation>> = {
  // A label that only the reasoning holds ends it, but nothing is revealed: the judge is told of the disease None.
  readme: {
    concludes: (reply) => reply.toLowerCase().includes(label),
    revealed: ({ conclusion }) =>
      conclusion !== undefined && withoutReason(conclusion).toLowerCase().includes(label),
    opening: true,
    number: /[0-9]*\.[0-9]+|[0-9]+/,
    unread: 0.5,
  },
  techspec: {
    concludes: (reply) => withoutReason(reply).includes('Final diagnosis:'),
    revealed: () => true,
    opening: false,
    number: new RegExp(String.raw`${edge}\p{Nd}*\.?\p{Nd}+${edge}`, 'u'),
    unread: 0,
  },
}

/** The first number of a reply, held within 0 and 1; undefined where there is none. */
export function firstNumber(reply: string, number: RegExp): number | undefined {
  // Python's figures are those of any script; the full-width ones are those a judge may write.
  const value = Number(number.exec(reply)?.[0].normalize('NFKC') ?? Number.NaN)
  return Number.isNaN(value) ? undefined : Math.min(1, Math.max(0, value))
}

/** The last code's number. */
export const headNumber = /[0-9]*\.?[0-9]+/

/** What the last code takes for the diagnosis: the rest of the line, or of the next; undefined without its label. */
export const headGuess = (reply: string): string | undefined =>
  /Final\s*diagnosis:\s*([^\n]*)/i.exec(reply)?.[1]?.trim()

/** The last code's own rule, for when no judge is there: 1, .8 where one name holds the other, else .2. */
export function headRule(guess: string, disease: string): number {
  const [named, hidden] = [guess.toLowerCase(), disease.toLowerCase()]
  if (named === hidden) return 1
  return hidden.includes(named) || named.includes(hidden) ? 0.8 : 0.2
}
