/**
 * A doctor's notes: what a reader who knows the knowledge base's sentences, and the generator's posterior, makes
 * of a consultation so far.
 */

import { inLanguage } from '../case.js'
import type { Observation } from '../env.js'
import type { Belief } from '../inference/belief.js'
import type { Posterior } from '../inference/posterior.js'
import { yearsOf } from '../inference/posterior.js'
import type { ExamDefinition, Knowledge } from '../knowledge/knowledge.js'
import { expandPanel } from '../knowledge/knowledge.js'
import type { Language, Told, Turn } from '../turn.js'
import { phrasebook } from './phrasebook.js'

/** A value, never changed. */
export interface Notes {
  readonly belief: Belief
  /** Findings that were asked about and need not be again. */
  readonly closed: ReadonlySet<string>
  /** Findings that were asked about once, and the patient did not take it in or would not say. */
  readonly postponed: ReadonlySet<string>
  /** Examinations ordered, panels with their members. */
  readonly done: ReadonlySet<string>
}

/** Asked of a child and told instead of an ancestor, in another state than opens the gate: then that is so. */
function closedGate(knowledge: Knowledge, asked: string, told: readonly Told[]): readonly Told[] {
  if (told.some(({ finding }) => finding === asked)) return []
  const certain: Told[] = []
  let gate = knowledge.finding.get(asked)?.parent
  while (gate) {
    const { finding: id, when } = gate
    certain.push(...told.filter(({ finding, state }) => finding === id && state !== when))
    gate = knowledge.finding.get(id)?.parent
  }
  return certain.filter(({ state }) => state !== 'unknown')
}

/** What never changes while consultations are read in a language. */
interface Reading {
  readonly knowledge: Knowledge
  readonly posterior: Posterior
  readonly language: Language
  /** By the name it is ordered under. */
  readonly exams: ReadonlyMap<string, ExamDefinition>
}

const bookOf = ({ knowledge, language }: Reading) => phrasebook(knowledge, language)

function opening(reading: Reading, { demographics, complaint }: Observation['intake']): Notes {
  const told = bookOf(reading).read(inLanguage(complaint, reading.language))
  const belief = reading.posterior.start({
    age: yearsOf(demographics.age),
    sex: demographics.sex,
    complaint: told.flatMap(({ finding, state }) => (state === 'present' ? [finding] : [])),
  })
  return { belief, closed: new Set(), postponed: new Set(), done: new Set() }
}

/** How people say that they did not take a question in, or would rather not answer it yet. */
const putOff =
  /\b(?:what was (?:the|that|your) question|d(?:id|o) you ask|repeat(?:ing)?|say (?:that|it) again|lost the thread|rather not|prefer not to|private|comfortable)\b|问什么|问的是|再说一遍|再问一遍|没跟上|走神|不太?想说|私事|不方便/i

/** The notes after one more turn. A question that was put off may be put once more. */
function noted(reading: Reading, notes: Notes, { action, outcome }: Turn): Notes {
  const { knowledge, posterior, exams } = reading
  const book = bookOf(reading)
  const heard = outcome.kind === 'answered' || outcome.kind === 'examined'
  const told = heard ? book.read(outcome.text) : []
  const asked = action.kind === 'ask' ? book.question(action.text) : undefined
  const gate = asked === undefined ? [] : closedGate(knowledge, asked, told)
  const belief = posterior.observe(posterior.observe(notes.belief, gate, true), told)
  if (asked !== undefined) {
    const later = told.length === 0 && heard && putOff.test(outcome.text)
    return later && !notes.postponed.has(asked)
      ? { ...notes, belief, postponed: new Set(notes.postponed).add(asked) }
      : { ...notes, belief, closed: new Set(notes.closed).add(asked) }
  }
  const exam = action.kind === 'order' ? exams.get(action.exam) : undefined
  if (!exam) return { ...notes, belief }
  return { ...notes, belief, done: new Set([...notes.done, exam.id, ...expandPanel(exam)]) }
}

/** Notes on a consultation up to some turn. */
interface Page {
  readonly notes: Notes
  readonly intake: Observation['intake']
  /** Absent on the first page. */
  readonly turn?: Turn
  readonly before?: Page
}

const sameIntake = (a: Observation['intake'], b: Observation['intake']): boolean =>
  a.demographics === b.demographics && a.complaint === b.complaint

/** Whether a page is of exactly the first turns of this consultation. */
function isOf(page: Page, { turns, intake }: Observation, length: number): boolean {
  let at: Page | undefined = page
  for (let t = length - 1; t >= 0; t--) {
    if (at?.turn === undefined || at.turn !== turns[t]) return false
    at = at.before
  }
  return at !== undefined && at.turn === undefined && sameIntake(at.intake, intake)
}

/**
 * Makes a reader of consultations in one language. It knows turns again by identity and reads each but once,
 * as an agent is shown all of them anew at every turn; what it gives depends on what they say alone.
 */
export function reader(
  knowledge: Knowledge,
  posterior: Posterior,
  language: Language,
): (observation: Observation) => Notes {
  const exams = new Map(knowledge.exams.map((exam) => [exam.name[language], exam] as const))
  const reading: Reading = { knowledge, posterior, language, exams }
  const first = new WeakMap<object, Page>()
  const later = new WeakMap<Turn, Page>()
  const beginning = ({ intake }: Observation): Page => {
    const known = first.get(intake.demographics)
    if (known && sameIntake(known.intake, intake)) return known
    const page = { notes: opening(reading, intake), intake }
    first.set(intake.demographics, page)
    return page
  }
  const pageAt = (observation: Observation, length: number): Page | undefined => {
    if (length === 0) return beginning(observation)
    const page = later.get(observation.turns[length - 1]!)
    return page && isOf(page, observation, length) ? page : undefined
  }
  return (observation) => {
    const { turns, intake } = observation
    let read = turns.length
    let page = pageAt(observation, read)
    while (!page) page = pageAt(observation, --read)
    for (; read < turns.length; read++) {
      const turn = turns[read]!
      page = { notes: noted(reading, page.notes, turn), intake, turn, before: page }
      later.set(turn, page)
    }
    return page.notes
  }
}
