/** Doctor's notes: belief and finished questions and exams, read from the dialogue with a phrasebook. */
import { textInLanguage } from '../case.js'
import type { Observation } from '../env.js'
import type { Belief } from '../inference/belief.js'
import { ageInYears, type Posterior } from '../inference/posterior.js'
import {
  type ExamDefinition,
  expandPanel,
  type Knowledge,
  opensGate,
} from '../knowledge/knowledge.js'
import type { Language, RevealedFinding, Turn } from '../turn.js'
import { phrasebook } from './phrasebook.js'

/** What a Bayesian doctor has learnt from the consultation so far; an immutable value. */
export interface Notes {
  readonly belief: Belief
  /** Ids of findings that were asked about and need not be asked again. */
  readonly closed: ReadonlySet<string>
  /** Ids of findings asked about once, where the patient missed the question or would not answer yet. */
  readonly postponed: ReadonlySet<string>
  /** Ids of exams ordered, panels with their members. */
  readonly done: ReadonlySet<string>
}

/** Certain states: asked for a child, the patient gives an ancestor in a state that closes the child's gate. */
function certainStates(
  knowledge: Knowledge,
  asked: string,
  revealed: readonly RevealedFinding[],
): RevealedFinding[] {
  if (revealed.some(({ finding }) => finding === asked)) return []
  const certain: RevealedFinding[] = []
  let gate = knowledge.finding.get(asked)?.parent
  while (gate) {
    const { finding: id } = gate
    const open = gate
    certain.push(
      ...revealed.filter(({ finding, state }) => finding === id && !opensGate(open, state)),
    )
    gate = knowledge.finding.get(id)?.parent
  }
  return certain.filter(({ state }) => state !== 'unknown')
}

/** Tables of the reader of one language. */
interface NotesContext {
  readonly knowledge: Knowledge
  readonly posterior: Posterior
  readonly language: Language
  /** Exams by the name they are ordered under. */
  readonly exams: ReadonlyMap<string, ExamDefinition>
}

const getBook = ({ knowledge, language }: NotesContext) => phrasebook(knowledge, language)

/** Notes before the first turn, from the intake. */
function initialNotes(context: NotesContext, intake: Observation['intake']): Notes {
  const { demographics, complaint } = intake
  const revealed = getBook(context).read(textInLanguage(complaint, context.language))
  const belief = context.posterior.start({
    age: ageInYears(demographics.age),
    sex: demographics.sex,
    complaint: revealed.flatMap(({ finding, state }) => (state === 'present' ? [finding] : [])),
  })
  return { belief, closed: new Set(), postponed: new Set(), done: new Set() }
}

/** Matches replies of patients who missed the question or would rather not answer it yet. */
const postponedReply =
  /\b(?:what was (?:the|that|your) question|d(?:id|o) you ask|repeat(?:ing)?|say (?:that|it) again|lost the thread|once more|come again|wanted to know|rather not|prefer not to|private|comfortable|have to answer|leave that out|go into that)\b|问什么|问的是|问到哪|说啥|再说一遍|再问一[遍下]|没跟上|没听进去|走神|不太?想说|不说这个|不提这个|非得说|私事|不方便/i

/** Updates the notes with one more turn. A postponed question may be put once more. */
function updateNotes(context: NotesContext, notes: Notes, { action, outcome }: Turn): Notes {
  const { knowledge, posterior, exams } = context
  const book = getBook(context)
  const heard = outcome.kind === 'answered' || outcome.kind === 'examined'
  const revealed = heard ? book.read(outcome.text) : []
  const asked = action.kind === 'ask' ? book.question(action.text) : undefined
  const gate = asked === undefined ? [] : certainStates(knowledge, asked, revealed)
  const belief = posterior.observe(posterior.observe(notes.belief, gate, true), revealed)
  if (asked !== undefined) {
    const later = revealed.length === 0 && heard && postponedReply.test(outcome.text)
    return later && !notes.postponed.has(asked)
      ? { ...notes, belief, postponed: new Set(notes.postponed).add(asked) }
      : { ...notes, belief, closed: new Set(notes.closed).add(asked) }
  }
  const exam = action.kind === 'order' ? exams.get(action.exam) : undefined
  if (!exam) return { ...notes, belief }
  return { ...notes, belief, done: new Set([...notes.done, exam.id, ...expandPanel(exam)]) }
}

/** Notes on a consultation up to some turn; a linked list back to the intake. */
interface Page {
  readonly notes: Notes
  readonly intake: Observation['intake']
  /** Absent on the first page. */
  readonly turn?: Turn
  readonly before?: Page
}

const sameIntake = (a: Observation['intake'], b: Observation['intake']): boolean =>
  a.demographics === b.demographics && a.complaint === b.complaint

/** Whether a page covers exactly the first `length` turns of this consultation, by identity. */
function coversTurns(page: Page, { turns, intake }: Observation, length: number): boolean {
  let at: Page | undefined = page
  for (let t = length - 1; t >= 0; t--) {
    if (at?.turn === undefined || at.turn !== turns[t]) return false
    at = at.before
  }
  return at !== undefined && at.turn === undefined && sameIntake(at.intake, intake)
}

/**
 * Makes a function from an observation to the doctor's notes, for one language. An agent gets all turns again at
 * every call; each is recognised by identity and read once. The notes depend on the texts alone.
 */
export function notesReader(
  knowledge: Knowledge,
  posterior: Posterior,
  language: Language,
): (observation: Observation) => Notes {
  const exams = new Map(knowledge.exams.map((exam) => [exam.name[language], exam] as const))
  const context: NotesContext = { knowledge, posterior, language, exams }
  const first = new WeakMap<object, Page>()
  const later = new WeakMap<Turn, Page>()
  const firstPage = ({ intake }: Observation): Page => {
    const known = first.get(intake.demographics)
    if (known && sameIntake(known.intake, intake)) return known
    const page = { notes: initialNotes(context, intake), intake }
    first.set(intake.demographics, page)
    return page
  }
  const pageAt = (observation: Observation, length: number): Page | undefined => {
    if (length === 0) return firstPage(observation)
    const page = later.get(observation.turns[length - 1]!)
    return page && coversTurns(page, observation, length) ? page : undefined
  }
  return (observation) => {
    const { turns, intake } = observation
    let read = turns.length
    let page = pageAt(observation, read)
    while (!page) page = pageAt(observation, --read)
    for (; read < turns.length; read++) {
      const turn = turns[read]!
      page = { notes: updateNotes(context, page.notes, turn), intake, turn, before: page }
      later.set(turn, page)
    }
    return page.notes
  }
}
