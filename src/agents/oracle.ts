/**
 * The oracle doctor: keeps the exact posterior of the generator and asks or orders whatever tells it most.
 * It reads replies through the phrasebook, like any reader; it is optimal for the generator, not for medicine,
 * and greedy, so a strong baseline rather than a bound.
 */
import type { Agent } from '../agent.js'
import type { Case } from '../case.js'
import { inLanguage } from '../case.js'
import type { Observation } from '../env.js'
import type { ExamDefinition, Knowledge } from '../knowledge.js'
import { expandPanel } from '../knowledge.js'
import type { Phrasebook } from '../phrasebook.js'
import { phrasebook } from '../phrasebook.js'
import type { Belief, Posterior } from '../posterior.js'
import { mostProbable, posteriorOver, yearsOf } from '../posterior.js'
import type { Action, Language, Told } from '../turn.js'
import { knowledgeVocabulary } from '../vocabulary.js'

export interface OracleOptions {
  readonly knowledge: Knowledge
  /** @default the observation's */
  readonly language?: Language
  /** The tier's. @default 0 */
  readonly atypicality?: number
  /** The tier's. @default none */
  readonly noise?: Case['noise']
  /** Probability at which it stops asking. @default 0.99 */
  readonly threshold?: number
  /** Nats below which nothing is worth a turn. @default 0.001 */
  readonly minGain?: number
  /** Never orders an examination. @default false */
  readonly questionsOnly?: boolean
}

/** What the oracle can say in one language, and how it reads. */
interface Speech {
  readonly book: Phrasebook
  /** By finding id. */
  readonly ask: ReadonlyMap<string, Action>
  readonly order: ReadonlyMap<string, Action>
  readonly diagnose: ReadonlyMap<string, Action>
  /** Exam name to exam. */
  readonly named: ReadonlyMap<string, ExamDefinition>
}

function speechOf(knowledge: Knowledge, language: Language): Speech {
  const { actions } = knowledgeVocabulary(knowledge, language)
  const byId = (kind: Action['kind'], things: readonly { readonly id: string }[]) => {
    const said = actions.filter((action) => action.kind === kind)
    return new Map(things.map(({ id }, i) => [id, said[i] as Action] as const)) // one action each
  }
  return {
    book: phrasebook(knowledge, language),
    ask: byId(
      'ask',
      knowledge.findings.filter((finding) => finding.knownBy === 'patient'),
    ),
    order: byId('order', knowledge.exams),
    diagnose: byId('diagnose', knowledge.diseases),
    named: new Map(knowledge.exams.map((exam) => [exam.name[language], exam] as const)),
  }
}

/** What the oracle made of the consultation so far. */
interface Notes {
  readonly belief: Belief
  readonly asked: ReadonlySet<string>
  readonly done: ReadonlySet<string>
}

/** Asked of a child and told instead of an ancestor, in another state than opens the gate: then that is so. */
function closedGate(
  knowledge: Knowledge,
  asked: string | undefined,
  told: readonly Told[],
): readonly Told[] {
  if (asked === undefined || told.some(({ finding }) => finding === asked)) return []
  const certain: Told[] = []
  let gate = knowledge.finding.get(asked)?.parent
  while (gate) {
    const { finding: id, when } = gate
    certain.push(...told.filter(({ finding, state }) => finding === id && state !== when))
    gate = knowledge.finding.get(id)?.parent
  }
  return certain.filter(({ state }) => state !== 'unknown')
}

function takeNotes(
  knowledge: Knowledge,
  posterior: Posterior,
  { book, named }: Speech,
  { intake, turns }: Observation,
  language: Language,
): Notes {
  const opening = book.read(inLanguage(intake.complaint, language))
  let belief = posterior.start({
    age: yearsOf(intake.demographics.age),
    sex: intake.demographics.sex,
    complaint: opening.flatMap(({ finding, state }) => (state === 'present' ? [finding] : [])),
  })
  const asked = new Set<string>()
  const done = new Set<string>()
  for (const { action, outcome } of turns) {
    const question = action.kind === 'ask' ? book.question(action.text) : undefined
    if (question !== undefined) asked.add(question)
    if (action.kind === 'order') {
      const exam = named.get(action.exam)
      if (exam) for (const id of [exam.id, ...expandPanel(exam)]) done.add(id)
    }
    if (outcome.kind !== 'answered' && outcome.kind !== 'examined') continue
    const told = book.read(outcome.text)
    belief = posterior.observe(belief, closedGate(knowledge, question, told), true)
    belief = posterior.observe(belief, told)
  }
  return { belief, asked, done }
}

/** The question or affordable examination that tells most, and how much. */
function bestMove(
  knowledge: Knowledge,
  posterior: Posterior,
  speech: Speech,
  { belief, asked, done }: Notes,
  { budget, spent }: Observation,
  questionsOnly: boolean,
): { readonly action: Action | undefined; readonly gain: number } {
  let action: Action | undefined
  let gain = 0
  const offer = (offered: Action | undefined, worth: number): void => {
    if (worth > gain) [action, gain] = [offered, worth]
  }
  for (const [id, question] of speech.ask)
    if (!asked.has(id)) offer(question, posterior.expectedInformation(belief, id))
  if (questionsOnly) return { action, gain }
  const money = budget.money - spent.money
  const minutes = budget.minutes - spent.minutes
  for (const exam of knowledge.exams) {
    // An order that uses up the last minute would end the consultation undiagnosed.
    if (done.has(exam.id) || exam.cost > money || exam.minutes >= minutes) continue
    offer(speech.order.get(exam.id), posterior.expectedInformationOfExam(belief, exam.id, done))
  }
  return { action, gain }
}

/**
 * Makes the oracle doctor: each turn the unasked question or affordable examination of largest expected
 * information, until one turn is left, the most probable disease reaches `threshold`, or nothing is worth
 * `minGain`; then that disease with its recommendation.
 */
export function oracle({
  knowledge,
  language: fixed,
  threshold = 0.99,
  minGain = 1e-3,
  questionsOnly = false,
  ...tier
}: OracleOptions): Agent {
  const posterior = posteriorOver(knowledge, tier)
  const speeches = new Map<Language, Speech>()
  return (observation) => {
    const language = fixed ?? observation.language
    const speech = speeches.get(language) ?? speechOf(knowledge, language)
    speeches.set(language, speech)
    const notes = takeNotes(knowledge, posterior, speech, observation, language)
    const { probabilities } = notes.belief
    if (observation.turnsLeft > 1 && Math.max(...probabilities) < threshold) {
      const { action, gain } = bestMove(
        knowledge,
        posterior,
        speech,
        notes,
        observation,
        questionsOnly,
      )
      if (action && gain >= minGain) return { action }
    }
    const disease = mostProbable(knowledge, notes.belief)
    return { action: speech.diagnose.get(disease.id) ?? { kind: 'give-up' } }
  }
}
