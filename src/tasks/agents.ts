/** Built-in doctors by name, for cases that come from a knowledge base. */
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

/** Options of a doctor that is made by name. */
export interface DoctorOptions {
  /** Whether the doctor never orders an examination. @default false */
  readonly questionsOnly?: boolean
}

/** Factory of a doctor. @throws RangeError where the doctor cannot play this task */
export type MakeDoctor = (options?: DoctorOptions) => AnyAgent

/** What the knowledge-based doctors need of a task. */
export interface DoctorInputs {
  readonly knowledge: Knowledge
  /** Parameters of the tier's generative model, used in the doctors' posterior. */
  readonly knobs: PosteriorOptions
  readonly actionSpace: ActionSpace
  /** Turn, money and time budget of a consultation. */
  readonly budget: Budget
}

const withoutOrders = (actionSpace: ActionSpace): ActionSpace => ({
  ...actionSpace,
  actions: actionSpace.actions.filter(({ kind }) => kind !== 'order'),
})

/** Doctors that need only the action space, no knowledge base. */
export const plainDoctors = (
  actionSpace: ActionSpace,
): Readonly<Record<'random' | 'checklist', MakeDoctor>> => ({
  random: ({ questionsOnly = false } = {}) =>
    random({ actionSpace: questionsOnly ? withoutOrders(actionSpace) : actionSpace }),
  checklist: () => checklist({ actionSpace }),
})

/** Every built-in doctor by name, ordered from random to full information. */
export function knowledgeDoctors({ knowledge, knobs, actionSpace, budget }: DoctorInputs) {
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

/** Names reserved for built-in agents of any task, and for the command line (`chat`, `human`). */
export const agentNames = [
  ...['random', 'checklist', 'prior', 'complaint-only', 'random-ask', 'positive-chaser', 'ask-all'],
  ...['order-all', 'oracle', 'eig-per-cost', 'voi', 'dp', 'full-information'],
  ...['chart-reader', 'recorded', 'reference', 'chat', 'human'],
] as const satisfies readonly string[]
