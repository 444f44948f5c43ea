/** Leak check: finds names of the gold diagnosis in the texts that the doctor, patient and examiner views hold. */
import {
  type Case,
  doctorView,
  examinerView,
  patientView,
  type Text,
  unrecordedDiagnosis,
} from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { containsPhrase } from '../../text/phrase-search.js'
import { toThirdPerson } from '../../text/third-person.js'

/** A text that gives away a gold diagnosis. */
export interface Leak {
  /** View and path of the text: `patient.findings.cough.utterance.en`. */
  readonly where: string
  /** The name, alias or code of a gold diagnosis found in it, in lower case. */
  readonly phrase: string
}

const han = /\p{Script=Han}/u
type NamedDiagnosis = Pick<Case['gold']['dx'][number], 'name' | 'aliases' | 'codes'>

/** Phrases that give a diagnosis away: names, aliases and ICD codes in lower case, too short ones left out. */
function diagnosisPhrases({ name, aliases, codes }: NamedDiagnosis): readonly string[] {
  const phrases = [
    ...[name.zh, name.en, ...aliases].filter((text) => text !== undefined),
    ...codes.flatMap(({ system, code }) => (/^icd/.test(system) ? [code] : [])),
  ]
  const long = (phrase: string) => [...phrase].length >= (han.test(phrase) ? 2 : 3)
  return [...new Set(phrases.map((phrase) => phrase.trim().toLowerCase()).filter(long))]
}

/** Phrases that give away a gold diagnosis of a case, in lower case. */
export const secretPhrases = ({ gold }: Case): readonly string[] => [
  ...new Set(gold.dx.filter(({ id }) => id !== unrecordedDiagnosis).flatMap(diagnosisPhrases)),
]

type LocatedTexts = Generator<readonly [where: string, text: string]>

function* locateText(where: string, text: Text | undefined): LocatedTexts {
  if (text?.zh !== undefined) yield [`${where}.zh`, text.zh]
  if (text?.en !== undefined) yield [`${where}.en`, text.en]
}

function* doctorTexts(truth: Case): LocatedTexts {
  const { complaint, demographics } = doctorView(truth)
  yield ['doctor.id', truth.id]
  yield* locateText('doctor.complaint', complaint)
  yield* locateText('doctor.demographics.relation', demographics.relation)
}

/** What the patient and the examiner say in a record; its questions are the doctor's own words. */
function* recordedTexts(truth: Case): LocatedTexts {
  for (const { view, findings } of [patientView(truth), examinerView(truth)])
    for (const { id, utterance } of findings.values())
      yield* locateText(`${view}.findings.${id}.utterance`, utterance)
  for (const result of examinerView(truth).results.values())
    yield* locateText(`examiner.results.${result.exam}.report`, result.report)
}

/** Finds every text that contains one of `phrases`, which must be in lower case. */
export function findLeaks(
  texts: Iterable<readonly [where: string, text: string]>,
  phrases: readonly string[],
): Leak[] {
  const found: Leak[] = []
  for (const [where, text] of texts) {
    const lower = text.toLowerCase()
    for (const phrase of phrases) if (containsPhrase(lower, phrase)) found.push({ where, phrase })
  }
  return found
}

/** Every sentence of the knowledge base, as patient and as caregiver (third person), located by `finding.state`. */
function* sentenceTexts({ findings }: Knowledge): LocatedTexts {
  for (const { id, say, knownBy } of findings)
    for (const [state, said] of Object.entries(say))
      for (const language of ['zh', 'en'] as const)
        for (const own of said[language]) {
          const voices = [own]
          if (knownBy === 'patient')
            for (const pronoun of ['he', 'she'] as const)
              voices.push(toThirdPerson(own, language, pronoun))
          for (const text of new Set(voices)) yield [`${id}.${state}`, text]
        }
}

/**
 * All sentences of a knowledge base in lower case, one a line: most phrases occur nowhere in it; and the leaks found in
 * them so far, by the phrases of a diagnosis.
 */
const sentenceIndex = perKnowledge((knowledge) => {
  const lines = [...sentenceTexts(knowledge)].map(([, text]) => text.toLowerCase())
  return { whole: lines.join('\n'), found: new Map<string, readonly Leak[]>() }
})

function sentenceLeaks(truth: Case, knowledge: Knowledge): Leak[] {
  const { whole, found } = sentenceIndex(knowledge)
  const all = truth.gold.dx.flatMap((dx) => {
    const phrases = diagnosisPhrases(dx)
    const key = phrases.join('\n')
    const known = found.get(key)
    if (known) return known
    const there = phrases.filter((phrase) => containsPhrase(whole, phrase))
    const all = there.length > 0 ? findLeaks(sentenceTexts(knowledge), there) : []
    found.set(key, all)
    return all
  })
  if (all.length === 0) return []
  const spoken = new Map<string, string>(
    truth.findings.flatMap(({ id, state, knownBy }) => {
      const view = knownBy === 'patient' ? 'patient' : 'examiner'
      return [state, 'unknown'].map(
        (said) => [`${id}.${said}`, `${view}.say.${id}.${said}`] as const,
      )
    }),
  )
  return all.flatMap(({ where, phrase }) => {
    const place = spoken.get(where)
    return place === undefined ? [] : [{ where: place, phrase }]
  })
}

/**
 * Finds every text of the doctor's, patient's or examiner's view, in either language, that contains a name, alias or
 * ICD code of a gold diagnosis. Phrases under 2 Chinese characters or 3 letters are ignored.
 * @param knowledge also checks its sentences for the case's findings, in first and third person
 */
export function leaks(truth: Case, knowledge?: Knowledge): readonly Leak[] {
  const phrases = secretPhrases(truth)
  return [
    ...findLeaks(doctorTexts(truth), phrases),
    ...findLeaks(recordedTexts(truth), phrases),
    ...(knowledge ? sentenceLeaks(truth, knowledge) : []),
  ]
}

/** The leaks of several cases, each with its case's id: the count that every importer reports. */
export const reportLeaks = (
  cases: readonly Case[],
): readonly (Leak & { readonly case: string })[] =>
  cases.flatMap((truth) => leaks(truth).map((leak) => ({ case: truth.id, ...leak })))
