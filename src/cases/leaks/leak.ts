/** Looks for the answer where the doctor, the patient or an examination could say it. */
import type { Case, Text } from '../../case.js'
import { doctorView, examinerView, patientView } from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { contains } from '../../text/phrase-search.js'
import { thirdPerson } from '../../text/third-person.js'

export interface Leak {
  /** The view and the place in it. */
  readonly where: string
  /** The name, alias or code of a gold diagnosis that stands there. */
  readonly phrase: string
}

const han = /\p{Script=Han}/u
type Named = Pick<Case['gold']['dx'][number], 'name' | 'aliases' | 'codes'>

/** What must not be said of a diagnosis: its names, aliases and ICD codes, if long enough to mean it. */
function secretsOf({ name, aliases, codes }: Named): readonly string[] {
  const phrases = [
    ...[name.zh, name.en, ...aliases].filter((text) => text !== undefined),
    ...codes.flatMap(({ system, code }) => (/^icd/.test(system) ? [code] : [])),
  ]
  const long = (phrase: string) => [...phrase].length >= (han.test(phrase) ? 2 : 3)
  return [...new Set(phrases.map((phrase) => phrase.trim().toLowerCase()).filter(long))]
}

/** What must not be said of a case, in lower case. */
export const secrets = ({ gold }: Case): readonly string[] => [
  ...new Set(gold.dx.flatMap(secretsOf)),
]

type Texts = Generator<readonly [where: string, text: string]>

function* textOf(where: string, text: Text | undefined): Texts {
  if (text?.zh !== undefined) yield [`${where}.zh`, text.zh]
  if (text?.en !== undefined) yield [`${where}.en`, text.en]
}

function* doctorTexts(truth: Case): Texts {
  const { complaint, demographics } = doctorView(truth)
  yield ['doctor.id', truth.id]
  yield* textOf('doctor.complaint', complaint)
  yield* textOf('doctor.demographics.relation', demographics.relation)
}

function* recordedTexts(truth: Case): Texts {
  for (const { view, findings } of [patientView(truth), examinerView(truth)])
    for (const { id, question, utterance } of findings.values()) {
      yield* textOf(`${view}.findings.${id}.question`, question)
      yield* textOf(`${view}.findings.${id}.utterance`, utterance)
    }
  for (const result of examinerView(truth).results.values())
    yield* textOf(`examiner.results.${result.exam}.report`, result.report)
}

/** The texts that hold one of the phrases, which are in lower case. */
export function scan(
  texts: Iterable<readonly [where: string, text: string]>,
  phrases: readonly string[],
): Leak[] {
  const found: Leak[] = []
  for (const [where, text] of texts) {
    const lower = text.toLowerCase()
    for (const phrase of phrases) if (contains(lower, phrase)) found.push({ where, phrase })
  }
  return found
}

/** Every sentence the knowledge base has, in the mouth of the patient and of a caregiver, under `finding.state`. */
function* sayable({ findings }: Knowledge): Texts {
  for (const { id, say, knownBy } of findings)
    for (const [state, said] of Object.entries(say))
      for (const language of ['zh', 'en'] as const)
        for (const own of said[language]) {
          const voices = [own]
          if (knownBy === 'patient')
            for (const pronoun of ['he', 'she'] as const)
              voices.push(thirdPerson(own, language, pronoun))
          for (const text of new Set(voices)) yield [`${id}.${state}`, text]
        }
}

interface Sayable {
  /** All of it in lower case, one sentence a line: most phrases stand nowhere in it, which is quickly seen. */
  readonly whole: string
  /** What was found of the names of a diagnosis, by those names. */
  readonly found: Map<string, readonly Leak[]>
}

const kept = new WeakMap<Knowledge, Sayable>()

function sayableOf(knowledge: Knowledge): Sayable {
  const known = kept.get(knowledge)
  if (known) return known
  const lines = [...sayable(knowledge)].map(([, text]) => text.toLowerCase())
  const made: Sayable = { whole: lines.join('\n'), found: new Map() }
  kept.set(knowledge, made)
  return made
}

/** Leaks of the sentences the knowledge base has for what the case's findings are, or for not knowing. */
function sayableLeaks(truth: Case, knowledge: Knowledge): Leak[] {
  const { whole, found } = sayableOf(knowledge)
  const all = truth.gold.dx.flatMap((dx) => {
    const phrases = secretsOf(dx)
    const key = phrases.join('\n')
    const known = found.get(key)
    if (known) return known
    const there = phrases.filter((phrase) => contains(whole, phrase))
    const all = there.length > 0 ? scan(sayable(knowledge), there) : []
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
 * Every place where a text of the doctor's, the patient's or the examiner's view, in either language, holds a
 * name, an alias or an ICD code of a gold diagnosis. Phrases under 2 Chinese characters or 3 letters are ignored.
 * @param knowledge also looks through every sentence it has for the case's findings, in every voice
 */
export function leaks(truth: Case, knowledge?: Knowledge): readonly Leak[] {
  const phrases = secrets(truth)
  return [
    ...scan(doctorTexts(truth), phrases),
    ...scan(recordedTexts(truth), phrases),
    ...(knowledge ? sayableLeaks(truth, knowledge) : []),
  ]
}
