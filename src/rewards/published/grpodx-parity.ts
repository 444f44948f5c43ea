/**
 * Parity with GRPODx (repository Legionof7/GRPOdx): how it reads a consultation and its judge's number, in the README's
 * code (commit 7a3666e), the sketch in its specification, and the last commit (c94d1bb).
 */
import { textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { JudgedLine } from '../judges/judge.js'
import { pythonBlank, pythonNumber, strip } from '../text/python-text.js'
import { removeTag, writeAction } from './doctoragent-rl-texts.js'

/** How an action is written as a reply, for a doctor who acts without text. GRPODx has no examinations. */
const forms = {
  order: (exam: string) => `Please have this done: ${exam}`,
  diagnose: ({ diagnosis }: { readonly diagnosis: string }) => `Final diagnosis: ${diagnosis}`,
}

/** A consultation up to its concluding reply. */
export interface GrpodxConsultation {
  /** All lines as written, hidden reasoning included. */
  readonly dialogue: readonly JudgedLine[]
  /** The concluding reply, if there is one. */
  readonly conclusion?: string
}

/**
 * Reads the dialogue up to the first concluding reply; every outcome is the patient's line. The env limits the number of
 * turns (five, as published).
 */
export function readConsultationParity(
  { intake, language, turns }: Episode,
  concludes: (reply: string) => boolean,
  opening = true,
): GrpodxConsultation {
  const complaint: JudgedLine = {
    role: 'patient',
    text: textInLanguage(intake.complaint, language),
  }
  const dialogue: JudgedLine[] = opening ? [complaint] : []
  for (const turn of turns) {
    const text = turn.text ?? writeAction(turn.action, forms)
    dialogue.push({ role: 'doctor', text })
    if (concludes(text)) return { dialogue, conclusion: text }
    if (turn.outcome.kind !== 'closed') dialogue.push({ role: 'patient', text: turn.outcome.text })
  }
  return { dialogue }
}

/** Removes closed `<reason>` segments; an unclosed one hides nothing. */
const stripReason = (text: string): string => removeTag(text, 'reason')

const label = 'final diagnosis:'

/** Differences between two versions of the released code. */
export interface GrpodxVersion {
  /** Whether a reply ends the consultation. */
  readonly concludes: (reply: string) => boolean
  /** Whether the disease was revealed, so that the judge is given it. */
  readonly revealed: (consultation: GrpodxConsultation) => boolean
  /** Whether the judge is shown the patient's opening. */
  readonly opening: boolean
  readonly number: RegExp
  /** The score of a reply without a number. */
  readonly unread: number
}

/** A letter, digit or underscore of any script, like Python's `\w`. */
const word = String.raw`[\p{L}\p{N}_]`
const edge = `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`

/** The README's code and the sketch in the specification. */
export const grpodxVersions: Readonly<Record<'readme' | 'techspec', GrpodxVersion>> = {
  // A label inside the reasoning ends the consultation but reveals nothing: the judge is given the disease None.
  readme: {
    concludes: (reply) => reply.toLowerCase().includes(label),
    revealed: ({ conclusion }) =>
      conclusion !== undefined && stripReason(conclusion).toLowerCase().includes(label),
    opening: true,
    number: /[0-9]*\.[0-9]+|[0-9]+/,
    unread: 0.5,
  },
  techspec: {
    concludes: (reply) => stripReason(reply).includes('Final diagnosis:'),
    revealed: () => true,
    opening: false,
    number: new RegExp(String.raw`${edge}\p{Nd}*\.?\p{Nd}+${edge}`, 'u'),
    unread: 0,
  },
}

/** Reads the first number of a reply, clipped to [0, 1]; undefined where there is none. */
export function readFirstNumber(reply: string, number: RegExp): number | undefined {
  // Python's \d matches digits of any script; a judge may write full-width ones.
  const value = pythonNumber(number.exec(reply)?.[0] ?? 'none')
  return Number.isNaN(value) ? undefined : Math.min(1, Math.max(0, value))
}

/** The number pattern of the last commit. */
export const headNumberPattern = /[0-9]*\.?[0-9]+/

const headDiagnosis = new RegExp(`Final[${pythonBlank}]*diagnosis:[${pythonBlank}]*([^\\n]*)`, 'i')

/** Reads the diagnosis as the last commit does: the rest of the line, or of the next; undefined without its label. */
export function readHeadDiagnosis(reply: string): string | undefined {
  const named = headDiagnosis.exec(reply)?.[1]
  return named === undefined ? undefined : strip(named)
}

/** The last commit's rule without a judge: 1 for the same name, .8 where one name contains the other, else .2. */
export function scoreByHeadRule(guess: string, disease: string): number {
  const [named, hidden] = [guess.toLowerCase(), disease.toLowerCase()]
  if (named === hidden) return 1
  return hidden.includes(named) || named.includes(hidden) ? 0.8 : 0.2
}
