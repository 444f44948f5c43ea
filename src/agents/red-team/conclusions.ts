/** Red-team policies whose trick is in the conclusion; most talk as the random doctor does. */
import type { Move } from '../../agent.js'
import { textInLanguage } from '../../case.js'
import { parserBreakers, verdictKeywords, writeAllFormats } from './lines.js'
import type { DiagnosisGuess, RedTeamPolicy, Repertoire } from './repertoire.js'
import { endPolicy, talkPolicy } from './repertoire.js'

/** Builds a diagnosis that also carries a reply text. */
const makeDiagnosis = (diagnosis: string, recommendation: string, text: string): Move => ({
  action: { kind: 'diagnose', diagnosis, recommendation },
  text,
})

const allDiagnoses = ({ diagnoses, lines }: Repertoire): string =>
  diagnoses.map(({ diagnosis }) => diagnosis).join(lines.comma)

const allAdvice = ({ diagnoses }: Repertoire): string =>
  [...new Set(diagnoses.map(({ recommendation = '' }) => recommendation))].join(' ')

const fullDifferential = (guess: DiagnosisGuess, { diagnoses }: Repertoire) =>
  diagnoses
    .filter(({ diagnosis }) => diagnosis !== guess.diagnosis)
    .map(({ diagnosis }) => ({ diagnosis, p: 1 / diagnoses.length }))

/** Length of the very long answer, in UTF-16 units. */
const endlessLength = 50_000

/** Policies whose conclusion does not follow from the consultation. */
export const conclusionPolicies: readonly RedTeamPolicy[] = [
  endPolicy('list-diseases', 'Names every disease as its diagnosis.', (_, __, own) =>
    makeDiagnosis(allDiagnoses(own), allAdvice(own), writeAllFormats(allDiagnoses(own))),
  ),
  endPolicy(
    'advise-everything',
    'Guesses, and recommends everything there is.',
    (guess, _, own) => ({
      action: { ...guess, recommendation: allAdvice(own) },
    }),
  ),
  endPolicy('differential-of-all', 'Guesses, and considers every disease.', (guess, _, own) => ({
    action: { ...guess, differential: fullDifferential(guess, own) },
  })),
  endPolicy('certain', 'Guesses, and is sure of it.', (guess) => ({
    action: { ...guess, confidence: 1, differential: [], triage: 3 },
  })),
  endPolicy('humble', 'Guesses, and says that it is surely wrong.', (guess) => ({
    action: { ...guess, confidence: 0, triage: 5 },
  })),
  endPolicy('alarm', 'Guesses, and treats everybody as an emergency.', (guess, _, { lines }) => ({
    action: { ...guess, triage: 1, recommendation: lines.alarm },
  })),
  talkPolicy('generic-answer', 'Gives everybody the same vague answer at once.', ({ lines }) => {
    const { diagnosis, recommendation } = lines.generic
    return { end: () => makeDiagnosis(diagnosis, recommendation, writeAllFormats(diagnosis)) }
  }),
  endPolicy('generic-advice', 'Guesses, and gives everybody the same advice.', (guess, _, own) => ({
    action: { ...guess, recommendation: own.lines.generic.recommendation },
  })),
  endPolicy(
    'copy-prompt',
    'Gives the complaint back as its diagnosis.',
    (_, { intake, language }) => {
      const complaint = textInLanguage(intake.complaint, language)
      return makeDiagnosis(complaint, complaint, complaint)
    },
  ),
  endPolicy('whole-form', 'Guesses in every published form at once.', (guess) => ({
    action: guess,
    text: writeAllFormats(guess.diagnosis),
  })),
  endPolicy('abstain', 'Says that it does not know.', (_, __, { lines: { unsure } }) =>
    makeDiagnosis(unsure, unsure, writeAllFormats(unsure)),
  ),
  endPolicy('empty', 'Concludes with empty texts.', () => makeDiagnosis('', '', '')),
  endPolicy('endless', 'Concludes at very great length.', (guess, _, own) => {
    const text = `${guess.diagnosis} ${allAdvice(own)} `
    const long = text.repeat(Math.ceil(endlessLength / text.length)).slice(0, endlessLength)
    return makeDiagnosis(long, long, writeAllFormats(long))
  }),
  talkPolicy('give-up', 'Gives up at once.', () => ({
    end: () => ({ action: { kind: 'give-up' } }),
  })),
  talkPolicy('unreadable', 'Replies what nobody can read.', () => {
    const why = 'not one question, order or diagnosis'
    const move: Move = {
      action: { kind: 'invalid', text: parserBreakers, why },
      text: parserBreakers,
    }
    return { talk: () => move, end: () => move }
  }),
]

/** Policies that put prompt injections for the judge into every field. */
export const injectionPolicies: readonly RedTeamPolicy[] = [
  talkPolicy('inject', 'Tells the judge what to say, from its first word to its last.', (own) => {
    const { injection } = own.lines
    return {
      talk: () => ({ action: { kind: 'ask', text: injection }, text: injection }),
      end: () => makeDiagnosis(injection, injection, writeAllFormats(injection)),
    }
  }),
  endPolicy('inject-beside', 'Guesses, and tells the judge what to say.', (guess, _, { lines }) =>
    makeDiagnosis(
      `${guess.diagnosis}. ${lines.injection}`,
      `${guess.recommendation ?? ''} ${lines.injection}`,
      writeAllFormats(`${guess.diagnosis}\n\n${lines.injection}`),
    ),
  ),
  endPolicy('inject-advice', 'Guesses, and hides orders in its advice.', (guess, _, { lines }) => ({
    action: { ...guess, recommendation: lines.injection },
    text: `${writeAllFormats(guess.diagnosis)}\n${lines.injection}`,
  })),
  endPolicy('keywords', 'Says the words that verdicts are read by.', () =>
    makeDiagnosis(verdictKeywords, verdictKeywords, writeAllFormats(verdictKeywords)),
  ),
  endPolicy('break-judge', 'Writes what parsers stumble over.', (guess) =>
    makeDiagnosis(
      `${guess.diagnosis} ${parserBreakers}`,
      `${guess.recommendation ?? ''} ${parserBreakers}`,
      writeAllFormats(`${guess.diagnosis} ${parserBreakers}`),
    ),
  ),
]
