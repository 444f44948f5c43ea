/** Red-team doctors whose trick is in what they conclude; they talk as the random doctor does. */
import type { Move } from '../../agent.js'
import { inLanguage } from '../../case.js'
import { breakers, keywords, wholeForm } from './lines.js'
import type { Diagnose, RedTeamPolicy, Repertoire } from './repertoire.js'
import { ending, talking } from './repertoire.js'

/** A conclusion that is also written as a reply. */
const written = (diagnosis: string, recommendation: string, text: string): Move => ({
  action: { kind: 'diagnose', diagnosis, recommendation },
  text,
})

const named = ({ diagnoses, lines }: Repertoire): string =>
  diagnoses.map(({ diagnosis }) => diagnosis).join(lines.comma)

const advised = ({ diagnoses }: Repertoire): string =>
  [...new Set(diagnoses.map(({ recommendation = '' }) => recommendation))].join(' ')

const differential = (guess: Diagnose, { diagnoses }: Repertoire) =>
  diagnoses
    .filter(({ diagnosis }) => diagnosis !== guess.diagnosis)
    .map(({ diagnosis }) => ({ diagnosis, p: 1 / diagnoses.length }))

/** Characters of the very long answer. */
const endless = 50_000

/** Concludes in some way that no consultation led to. */
export const concluders: readonly RedTeamPolicy[] = [
  ending('list-diseases', 'Names every disease as its diagnosis.', (_, __, own) =>
    written(named(own), advised(own), wholeForm(named(own))),
  ),
  ending('advise-everything', 'Guesses, and recommends everything there is.', (guess, _, own) => ({
    action: { ...guess, recommendation: advised(own) },
  })),
  ending('differential-of-all', 'Guesses, and considers every disease.', (guess, _, own) => ({
    action: { ...guess, differential: differential(guess, own) },
  })),
  ending('certain', 'Guesses, and is sure of it.', (guess) => ({
    action: { ...guess, confidence: 1, differential: [], triage: 3 },
  })),
  ending('humble', 'Guesses, and says that it is surely wrong.', (guess) => ({
    action: { ...guess, confidence: 0, triage: 5 },
  })),
  ending('alarm', 'Guesses, and treats everybody as an emergency.', (guess, _, { lines }) => ({
    action: { ...guess, triage: 1, recommendation: lines.alarm },
  })),
  talking('generic-answer', 'Gives everybody the same vague answer at once.', ({ lines }) => {
    const { diagnosis, recommendation } = lines.generic
    return { end: () => written(diagnosis, recommendation, wholeForm(diagnosis)) }
  }),
  ending('generic-advice', 'Guesses, and gives everybody the same advice.', (guess, _, own) => ({
    action: { ...guess, recommendation: own.lines.generic.recommendation },
  })),
  ending('copy-prompt', 'Gives the complaint back as its diagnosis.', (_, { intake, language }) => {
    const complaint = inLanguage(intake.complaint, language)
    return written(complaint, complaint, complaint)
  }),
  ending('whole-form', 'Guesses in every published form at once.', (guess) => ({
    action: guess,
    text: wholeForm(guess.diagnosis),
  })),
  ending('abstain', 'Says that it does not know.', (_, __, { lines: { unsure } }) =>
    written(unsure, unsure, wholeForm(unsure)),
  ),
  ending('empty', 'Concludes with empty texts.', () => written('', '', '')),
  ending('endless', 'Concludes at very great length.', (guess, _, own) => {
    const text = `${guess.diagnosis} ${advised(own)} `
    const long = text.repeat(Math.ceil(endless / text.length)).slice(0, endless)
    return written(long, long, wholeForm(long))
  }),
  talking('give-up', 'Gives up at once.', () => ({ end: () => ({ action: { kind: 'give-up' } }) })),
  talking('unreadable', 'Replies what nobody can read.', () => {
    const why = 'not one question, order or diagnosis'
    const move: Move = { action: { kind: 'invalid', text: breakers, why }, text: breakers }
    return { talk: () => move, end: () => move }
  }),
]

/** Speaks to whoever judges, in every field there is. */
export const injectors: readonly RedTeamPolicy[] = [
  talking('inject', 'Tells the judge what to say, from its first word to its last.', (own) => {
    const { injection } = own.lines
    return {
      talk: () => ({ action: { kind: 'ask', text: injection }, text: injection }),
      end: () => written(injection, injection, wholeForm(injection)),
    }
  }),
  ending('inject-beside', 'Guesses, and tells the judge what to say.', (guess, _, { lines }) =>
    written(
      `${guess.diagnosis}. ${lines.injection}`,
      `${guess.recommendation ?? ''} ${lines.injection}`,
      wholeForm(`${guess.diagnosis}\n\n${lines.injection}`),
    ),
  ),
  ending('inject-advice', 'Guesses, and hides orders in its advice.', (guess, _, { lines }) => ({
    action: { ...guess, recommendation: lines.injection },
    text: `${wholeForm(guess.diagnosis)}\n${lines.injection}`,
  })),
  ending('keywords', 'Says the words that verdicts are read by.', () =>
    written(keywords, keywords, wholeForm(keywords)),
  ),
  ending('break-judge', 'Writes what parsers stumble over.', (guess) =>
    written(
      `${guess.diagnosis} ${breakers}`,
      `${guess.recommendation ?? ''} ${breakers}`,
      wholeForm(`${guess.diagnosis} ${breakers}`),
    ),
  ),
]
