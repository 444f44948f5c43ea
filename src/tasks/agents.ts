/**
 * Doctors by name: who may play where the cases come from a knowledge base. With `setting.ts` one of the
 * composition roots.
 */
import type { AnyAgent } from '../agent.js'
import { complaintOnly, fullInformationDoctor, prior } from '../agents/at-once.js'
import type { Budget } from '../agents/bayesian.js'
import { checklist } from '../agents/checklist.js'
import { askAll, orderAll, positiveChaser, randomAsk } from '../agents/listeners.js'
import { oracle, oraclePerCost } from '../agents/oracle.js'
import { planner } from '../agents/planner.js'
import { random } from '../agents/random.js'
import { valueOfInformation } from '../agents/value-of-information.js'
import type { PosteriorOptions } from '../inference/posterior.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import type { Knowledge } from '../knowledge/knowledge.js'

/** How a doctor is wanted. */
export interface DoctorOptions {
  /** Never orders an examination. @default false */
  readonly questionsOnly?: boolean
}

/** Makes a doctor. @throws RangeError where it cannot play in this world */
export type MakeDoctor = (options?: DoctorOptions) => AnyAgent

/** The world they play in. */
export interface Practice {
  readonly knowledge: Knowledge
  /** The tier's knobs, as doctors count with them. */
  readonly knobs: PosteriorOptions
  readonly actionSpace: ActionSpace
  /** What a consultation may take. */
  readonly budget: Budget
}

const questionsOf = (actionSpace: ActionSpace): ActionSpace => ({
  ...actionSpace,
  actions: actionSpace.actions.filter(({ kind }) => kind !== 'order'),
})

/** Doctors who need no more than words. */
export const plainDoctors = (
  actionSpace: ActionSpace,
): Readonly<Record<'random' | 'checklist', MakeDoctor>> => ({
  random: ({ questionsOnly = false } = {}) =>
    random({ actionSpace: questionsOnly ? questionsOf(actionSpace) : actionSpace }),
  checklist: () => checklist({ actionSpace }),
})

/** Every doctor by name, from those who know nothing to those who know everything. */
export function doctorsOf({ knowledge, knobs, actionSpace, budget }: Practice) {
  const { atypicality, noise, comorbidity, novel } = knobs
  const given = {
    knowledge,
    ...(atypicality === undefined ? {} : { atypicality }),
    ...(noise === undefined ? {} : { noise }),
    ...(comorbidity === undefined ? {} : { comorbidity }),
    ...(novel === undefined ? {} : { novel }),
  }
  const wanting = ({ questionsOnly = false }: DoctorOptions = {}) => ({ ...given, questionsOnly })
  return {
    ...plainDoctors(actionSpace),
    prior: (options) => prior(wanting(options)),
    'complaint-only': (options) => complaintOnly(wanting(options)),
    'random-ask': (options) => randomAsk(wanting(options)),
    'positive-chaser': (options) => positiveChaser(wanting(options)),
    'ask-all': (options) => askAll(wanting(options)),
    'order-all': (options) => orderAll(wanting(options)),
    oracle: (options) => oracle(wanting(options)),
    'eig-per-cost': (options) => oraclePerCost(wanting(options)),
    voi: (options) => valueOfInformation(wanting(options)),
    dp: (options) => planner({ ...wanting(options), budget }),
    'full-information': (options) => fullInformationDoctor(wanting(options)),
  } satisfies Record<string, MakeDoctor>
}

/** Every name an agent of some task has, and those that the command line keeps for itself. */
export const agentNames = [
  ...['random', 'checklist', 'prior', 'complaint-only', 'random-ask', 'positive-chaser', 'ask-all'],
  ...['order-all', 'oracle', 'eig-per-cost', 'voi', 'dp', 'full-information'],
  ...['recorded', 'reference', 'chat', 'human'],
] as const satisfies readonly string[]
