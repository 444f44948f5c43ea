/**
 * What doctors with a posterior share: what they know, what they may ask or order, what it would tell and cost,
 * and the diagnosis.
 */
import type { Move } from '../agent.js'
import type { Observation } from '../env.js'
import type { Posterior, PosteriorOptions } from '../inference/posterior.js'
import { mostProbable, posteriorOf } from '../inference/posterior.js'
import { knowledgeActionSpace } from '../knowledge/action-space.js'
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import { expandPanel } from '../knowledge/knowledge.js'
import type { Action, Language } from '../turn.js'
import type { Notes } from './notes.js'
import { reader } from './notes.js'

/** The knowledge base and the tier's knobs, as the doctor counts with them. */
export interface BayesianOptions extends PosteriorOptions {
  readonly knowledge: Knowledge
  /** @default the observation's */
  readonly language?: Language
  /** Never orders an examination. @default false */
  readonly questionsOnly?: boolean
}

/** A question or an order, and what it takes. */
export interface Offer {
  readonly kind: 'ask' | 'order'
  /** Of the finding or examination. */
  readonly id: string
  readonly action: Action
  readonly money: number
  readonly minutes: number
}

/** What can be spent; the turn of the diagnosis is among the turns. */
export interface Means {
  readonly turns: number
  readonly money: number
  readonly minutes: number
}

/** What a doctor knows and can do at one point of a consultation. */
export interface Mind extends Notes {
  readonly knowledge: Knowledge
  readonly posterior: Posterior
  /** Every question and, unless it only asks, every order; `isOpen` says which may be made now. */
  readonly offers: readonly Offer[]
  readonly diagnose: (disease: Disease) => Action
  /** For the whole consultation. */
  readonly budget: Means
  readonly left: Means
}

/** A question takes a minute in this package's consultations. */
const minutesPerQuestion = 1

/** Everything that can be said in a language. */
function speechOf(knowledge: Knowledge, language: Language, questionsOnly: boolean) {
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

function meansOf({ turns, turnsLeft, budget, spent }: Observation): Pick<Mind, 'budget' | 'left'> {
  const { money, minutes } = budget
  return {
    budget: { turns: turns.length + turnsLeft, money, minutes },
    left: { turns: turnsLeft, money: money - spent.money, minutes: minutes - spent.minutes },
  }
}

/** Makes the part that doctors with a posterior share: a function from an observation to what they know and can do. */
export function bayesian({
  knowledge,
  language: fixed,
  questionsOnly = false,
  ...knobs
}: BayesianOptions): (observation: Observation) => Mind {
  const posterior = posteriorOf(knowledge, knobs)
  const make = (language: Language) => {
    const { offers, diagnoses } = speechOf(knowledge, language, questionsOnly)
    return {
      read: reader(knowledge, posterior, language),
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
    return { ...doctor.part, ...doctor.read(observation), ...meansOf(observation) }
  }
}

/** Whether there is a turn for anything but the diagnosis. */
export const hasTime = ({ left }: Mind): boolean => left.turns > 1

/** P(the most probable disease). */
export function certainty({ belief: { probabilities } }: Mind): number {
  let most = 0
  for (let d = 0; d < probabilities.length; d++)
    if (probabilities[d]! > most) most = probabilities[d]!
  return most
}

/** The most probable disease as a diagnosis, with its recommendation. */
export const conclude = ({ knowledge, belief, diagnose }: Mind): Move => ({
  action: diagnose(mostProbable(knowledge, belief)),
})

/**
 * Whether an offer may be made now: a question that was not answered yet and was put at most once, or an
 * examination not done yet that there is money and time for. What uses up the last minute would end the
 * consultation undiagnosed.
 */
export const isOpen = ({ left, closed, done }: Mind, offer: Offer): boolean =>
  !(offer.kind === 'ask' ? closed : done).has(offer.id) &&
  offer.money <= left.money &&
  offer.minutes < left.minutes

/**
 * What an offer would tell of the disease, in nats.
 * @param least what is below it may be given too large, though still below it @default 0
 */
export const gainOf = (
  { posterior, belief, done }: Mind,
  { kind, id }: Offer,
  least = 0,
): number =>
  kind === 'ask'
    ? posterior.expectedInformation(belief, id)
    : posterior.expectedInformationOfExam(belief, id, done, least)

const share = (part: number, whole: number): number => (part === 0 ? 0 : part / whole)

/** What an offer takes: its share of all turns, plus its share of all money, plus its share of all minutes. */
export const costOf = ({ budget }: Mind, { money, minutes }: Offer): number =>
  1 / budget.turns + share(money, budget.money) + share(minutes, budget.minutes)

/**
 * The open offer of most worth above 0, the first of equals, and its worth; none where nothing is worth anything.
 * @param worthOf is told the most so far
 */
export function bestOffer(
  mind: Mind,
  worthOf: (offer: Offer, most: number) => number,
): { readonly offer?: Offer; readonly worth: number } {
  let best: Offer | undefined
  let most = 0
  for (const offer of mind.offers) {
    if (!isOpen(mind, offer)) continue
    const worth = worthOf(offer, most)
    if (worth > most) [best, most] = [offer, worth]
  }
  return best ? { offer: best, worth: most } : { worth: 0 }
}

/** Every way in which an offer may turn out, with its chance; what is unavailable costs a minute and no money. */
export function after(
  mind: Mind,
  { kind, id, money, minutes }: Offer,
): readonly { readonly probability: number; readonly mind: Mind }[] {
  const { posterior, belief, closed, done, left, knowledge } = mind
  const asked = kind === 'ask'
  const exam = knowledge.exam.get(id)
  const used = asked
    ? { closed: new Set(closed).add(id) }
    : { done: new Set([...done, id, ...(exam ? expandPanel(exam) : [])]) }
  const prospects = asked ? posterior.answers(belief, id) : posterior.results(belief, id, done)
  return prospects.map((then) => {
    const spent = asked || then.belief !== belief ? { money, minutes } : { money: 0, minutes: 1 }
    return {
      probability: then.probability,
      mind: {
        ...mind,
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
