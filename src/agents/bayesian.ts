/** State tracker shared by the Bayesian doctors: posterior, available questions and exams, their gain and cost. */
import type { Move } from '../agent.js'
import type { Observation } from '../env.js'
import type { Posterior, PosteriorOptions } from '../inference/posterior.js'
import { getPosterior, mostProbableDisease } from '../inference/posterior.js'
import { knowledgeActionSpace } from '../knowledge/action-space.js'
import { type Disease, expandPanel, type Knowledge } from '../knowledge/knowledge.js'
import type { Action, Language } from '../turn.js'
import { type Notes, notesReader } from './notes.js'

/** Options of a Bayesian doctor: its knowledge base, and the tier settings that it assumes. */
export interface BayesianOptions extends PosteriorOptions {
  readonly knowledge: Knowledge
  /** Language of its actions. @default the observation's */
  readonly language?: Language
  /** Never orders an examination. @default false */
  readonly questionsOnly?: boolean
}

/** A question or an exam that the doctor can choose, with its cost. */
export interface Offer {
  readonly kind: 'ask' | 'order'
  /** Id of the finding or the exam. */
  readonly id: string
  readonly action: Action
  readonly money: number
  readonly minutes: number
}

/** Limits of a consultation. The turn of the diagnosis counts as a turn. */
export interface Budget {
  readonly turns: number
  readonly money: number
  readonly minutes: number
}

/** State of a doctor at one point of a consultation: notes, belief, offers and budget. */
export interface DoctorState extends Notes {
  readonly knowledge: Knowledge
  readonly posterior: Posterior
  /** Every question and, unless `questionsOnly`, every exam; `isOpen` says which are available now. */
  readonly offers: readonly Offer[]
  readonly diagnose: (disease: Disease) => Action
  /** Of the whole consultation. */
  readonly budget: Budget
  /** What remains of the budget. */
  readonly left: Budget
}

/** Minutes that a question takes in this package's consultations. */
const minutesPerQuestion = 1

/** Every question, order and diagnosis in a language. */
function spokenActions(knowledge: Knowledge, language: Language, questionsOnly: boolean) {
  const { actions } = knowledgeActionSpace(knowledge, language)
  const said = (kind: Action['kind']) => actions.filter((action) => action.kind === kind)
  const questions = said('ask')
  const asks = knowledge.findings
    .filter(({ knownBy }) => knownBy === 'patient')
    .map(({ id }, i): Offer => {
      const action = questions[i] as Action // one for each, in order
      return { kind: 'ask', id, action, money: 0, minutes: minutesPerQuestion }
    })
  const names = said('order')
  const orders = knowledge.exams.map(({ id, cost, minutes }, i): Offer => {
    const action = names[i] as Action // one for each, in order
    return { kind: 'order', id, action, money: cost, minutes }
  })
  const diagnoses = said('diagnose')
  return {
    offers: questionsOnly ? asks : [...asks, ...orders],
    diagnoses: new Map(knowledge.diseases.map(({ id }, i) => [id, diagnoses[i]] as const)),
  }
}

function budgets({
  turns,
  turnsLeft,
  budget,
  spent,
}: Observation): Pick<DoctorState, 'budget' | 'left'> {
  const { money, minutes } = budget
  return {
    budget: { turns: turns.length + turnsLeft, money, minutes },
    left: { turns: turnsLeft, money: money - spent.money, minutes: minutes - spent.minutes },
  }
}

/** Makes a function from an observation to the doctor's state; the part that all Bayesian doctors share. */
export function stateTracker({
  knowledge,
  language: fixed,
  questionsOnly = false,
  ...knobs
}: BayesianOptions): (observation: Observation) => DoctorState {
  const posterior = getPosterior(knowledge, knobs)
  const make = (language: Language) => {
    const { offers, diagnoses } = spokenActions(knowledge, language, questionsOnly)
    return {
      read: notesReader(knowledge, posterior, language),
      part: {
        ...{ knowledge, posterior, offers },
        diagnose: ({ id }: Disease): Action => diagnoses.get(id) ?? { kind: 'give-up' },
      },
    }
  }
  const made = new Map<Language, ReturnType<typeof make>>()
  return (observation) => {
    const language = fixed ?? observation.language
    const doctor = made.get(language) ?? make(language)
    made.set(language, doctor)
    return { ...doctor.part, ...doctor.read(observation), ...budgets(observation) }
  }
}

/** Whether a turn is left besides the one for the diagnosis. */
export const hasTime = ({ left }: DoctorState): boolean => left.turns > 1

/** Probability of the most probable disease, 0 to 1. */
export function topProbability({ belief: { probabilities } }: DoctorState): number {
  let most = 0
  for (let d = 0; d < probabilities.length; d++)
    if (probabilities[d]! > most) most = probabilities[d]!
  return most
}

/** Diagnoses the most probable disease, with its recommendation. */
export const conclude = ({ knowledge, belief, diagnose }: DoctorState): Move => ({
  action: diagnose(mostProbableDisease(knowledge, belief)),
})

/**
 * Whether an offer is available now: a question that is not answered yet and was put at most once, or an exam
 * that is not done yet and fits the money and minutes left. An offer that uses the last minute does not fit: it
 * would end the consultation without a diagnosis.
 */
export const isOpen = ({ left, closed, done }: DoctorState, offer: Offer): boolean =>
  !(offer.kind === 'ask' ? closed : done).has(offer.id) &&
  offer.money <= left.money &&
  offer.minutes < left.minutes

/**
 * Expected information gain of an offer about the disease, in nats.
 * @param least a gain below it may be overestimated, though not to `least` or above @default 0
 */
export const expectedInformationGain = (
  { posterior, belief, done }: DoctorState,
  { kind, id }: Offer,
  least = 0,
): number =>
  kind === 'ask'
    ? posterior.expectedInformation(belief, id)
    : posterior.expectedInformationOfExam(belief, id, done, least)

const share = (part: number, whole: number): number => (part === 0 ? 0 : part / whole)

/** Cost of an offer: its share of all turns, plus its share of all money, plus its share of all minutes. */
export const relativeCost = ({ budget }: DoctorState, { money, minutes }: Offer): number =>
  1 / budget.turns + share(money, budget.money) + share(minutes, budget.minutes)

/**
 * Finds the open offer of the highest worth above 0, the first of equals; `offer` is absent where there is none.
 * @param worthOf gets the highest worth so far as its second argument
 */
export function bestOffer(
  state: DoctorState,
  worthOf: (offer: Offer, most: number) => number,
): { readonly offer?: Offer; readonly worth: number } {
  let best: Offer | undefined
  let most = 0
  for (const offer of state.offers) {
    if (!isOpen(state, offer)) continue
    const worth = worthOf(offer, most)
    if (worth > most) [best, most] = [offer, worth]
  }
  return best ? { offer: best, worth: most } : { worth: 0 }
}

/** One outcome of an offer: its probability, and the doctor's state after it. */
export interface OfferOutcome {
  readonly probability: number
  readonly state: DoctorState
}

/** Outcome distribution of an offer. An unavailable exam costs one minute and no money. */
export function outcomeDistribution(
  state: DoctorState,
  { kind, id, money, minutes }: Offer,
): readonly OfferOutcome[] {
  const { posterior, belief, closed, done, left, knowledge } = state
  const asked = kind === 'ask'
  const exam = knowledge.exam.get(id)
  const used = asked
    ? { closed: new Set(closed).add(id) }
    : { done: new Set([...done, id, ...(exam ? expandPanel(exam) : [])]) }
  const prospects = asked
    ? posterior.predictAnswers(belief, id)
    : posterior.predictResults(belief, id, done)
  return prospects.map((then): OfferOutcome => {
    const spent = asked || then.belief !== belief ? { money, minutes } : { money: 0, minutes: 1 }
    return {
      probability: then.probability,
      state: {
        ...state,
        ...used,
        belief: then.belief,
        left: {
          turns: left.turns - 1,
          money: left.money - spent.money,
          minutes: left.minutes - spent.minutes,
        },
      },
    }
  })
}
