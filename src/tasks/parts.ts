/** Resolves patients, examination simulators and agents by name or module, for recipes, flags and `task()`. */
import type { AnyAgent } from '../agent.js'
import type { Chat, Complete } from '../chat.js'
import type { Role } from '../episode.js'
import { Fault } from '../error.js'
import type { AnyExamSimulator } from '../exam.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Patient } from '../patient.js'
import type { Language } from '../turn.js'
import { agentNames, type DoctorOptions, type MakeDoctor } from './agents.js'
import {
  agentProblem,
  examsProblem,
  functionProblem,
  isModule,
  loadPart,
  type PartKind,
  type PartRegistry,
  partPlaces,
  partRegistry,
  unknownPart,
} from './modules.js'
import { knownRewardNames } from './reward-modules.js'

/** Inputs of a registered part's factory: the task's knowledge (of its clinic), language and models. */
export interface PartInputs {
  readonly knowledge: Knowledge
  readonly language: Language
  /** Chat models by role, where the task has some: those of a recipe's `models`. */
  readonly chats?: Readonly<Partial<Record<Role, Chat>>>
  /** The examiner's model as one that goes on with a text, as simulators by a completion model need it. */
  readonly completions?: Readonly<{ examiner?: Complete }>
}

/** Inputs of a registered agent's factory. */
export interface AgentInputs extends PartInputs, DoctorOptions {
  readonly actionSpace: ActionSpace
}

/** Factory of a registered patient, called once per task. */
export type MakePatient = (inputs: PartInputs) => Patient
/** Factory of registered examination simulators, called once per task. */
export type MakeExams = (inputs: PartInputs) => AnyExamSimulator | readonly AnyExamSimulator[]
/** Factory of a registered agent. */
export type MakeAgent = (inputs: AgentInputs) => AnyAgent

/** The patient and examination simulators of a consultation env. */
export interface Roles {
  readonly patient: Patient
  readonly exams: readonly AnyExamSimulator[]
}

/** Patients and examination simulators that fit a task's cases, by name. */
export interface NamedRoles {
  readonly patient: Readonly<Record<string, Patient>>
  readonly exams: Readonly<Record<string, AnyExamSimulator>>
}

/** One simulator or several, each a function, a registered name or a module. */
export type ExamsOption = string | AnyExamSimulator | readonly (string | AnyExamSimulator)[]

/** Exam simulators that a recipe's `models.examiner` plays: DiagGym, and DiagGym as it was released. */
const modelSimulatorNames = ['diaggym', 'diaggym-parity'] as const
/** One of them. */
export type ModelSimulatorName = (typeof modelSimulatorNames)[number]

/** Whether a simulator is one that a model plays. */
export const isModelSimulator = (name: string): name is ModelSimulatorName =>
  modelSimulatorNames.some((one) => one === name)

/** Names of built-in patients; `skin` and `free` need a model, which a recipe or the command line names. */
const patientNames = ['rule', 'record', 'skin', 'free']

/** Names of built-in simulators; those by a model need one, which a recipe or the command line names. */
const simulatorNames = ['record', 'knowledge', ...modelSimulatorNames]

/** Whether a named patient or exam simulator is none of this package's. */
export const isOwnPart = (kind: 'patient' | 'exams', name: string): boolean =>
  !(kind === 'patient' ? patientNames : simulatorNames).includes(name)

const patients = partRegistry<MakePatient>('patient', patientNames)
const simulators = partRegistry<MakeExams>('exams', simulatorNames)
const agents = partRegistry<MakeAgent>('agent', agentNames)

/** Registers a patient name for recipes, `task` and `--patient`. @throws TypeError when the name is taken */
export const registerPatient = (name: string, make: MakePatient): void =>
  patients.register(name, make)

/** Registers a name of exam simulators for recipes, `task` and `--exams`. @throws TypeError when the name is taken */
export const registerExams = (name: string, make: MakeExams): void =>
  simulators.register(name, make)

/** Registers an agent name for recipes, `task().agents` and `--agent`. @throws TypeError when the name is taken */
export const registerAgent = (name: string, make: MakeAgent): void => agents.register(name, make)

/** Names that a recipe may give to a part; some fit only some cases. */
export const partNames = (kind: Exclude<PartKind, 'backend'>): readonly string[] =>
  ({
    patient: [...patientNames, ...patients.names()],
    exams: [...simulatorNames, ...simulators.names()],
    reward: knownRewardNames(),
    agent: [...agentNames.filter((name) => name !== 'chat' && name !== 'human'), ...agents.names()],
  })[kind]

type ProblemOf = (value: unknown) => string | undefined

function checkPart<T>(part: T, what: string, problemOf: ProblemOf): T {
  const problem = problemOf(part)
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`)
  return part
}

/** Resolves a part by name: one of the task's own, a registered one, or a module's. */
async function resolvePart<T>(
  kind: PartKind,
  name: string,
  {
    own,
    registry,
    inputs,
    problemOf,
  }: {
    readonly own: Readonly<Record<string, T>>
    readonly registry: PartRegistry<(inputs: PartInputs) => T>
    readonly inputs: PartInputs
    readonly problemOf: ProblemOf
  },
): Promise<T> {
  const at = partPlaces[kind]
  const known = Object.hasOwn(own, name) ? own[name] : undefined
  if (known !== undefined) return known
  const make = registry.get(name)
  if (make) return checkPart(make(inputs), `The registered ${kind} \`${name}\``, problemOf)
  // Only the shape is checked here; answers are checked when the part is called.
  if (isModule(name)) return (await loadPart(kind, name, { at, problemOf })) as T
  throw unknownPart(kind, name, { at, names: [...Object.keys(own), ...registry.names()] })
}

/** Resolves the patient of `task({ patient })`. @throws Fault `bad-input` for an unknown name or module */
export const resolvePatient = async (
  patient: string | Patient,
  inputs: PartInputs,
  own: NamedRoles,
): Promise<Patient> =>
  typeof patient === 'string'
    ? resolvePart('patient', patient, {
        ...{ own: own.patient, registry: patients, inputs, problemOf: functionProblem },
      })
    : checkPart(patient, '`patient`', functionProblem)

/** Resolves the simulators of `task({ exams })`, in order. @throws Fault `bad-input` for an unknown name or module */
export async function resolveExams(
  exams: ExamsOption,
  inputs: PartInputs,
  own: NamedRoles,
): Promise<readonly AnyExamSimulator[]> {
  const listed: readonly (string | AnyExamSimulator)[] = [exams].flat()
  const found: AnyExamSimulator[] = []
  for (const one of listed) {
    if (typeof one === 'string' && isModelSimulator(one) && !own.exams[one])
      throw new Fault(
        'bad-input',
        `${partPlaces.exams}: \`${one}\` needs the model that plays it: set models.examiner (model, base-url), as --set models.examiner.model=EHRGenerator`,
      )
    const named: AnyExamSimulator | readonly AnyExamSimulator[] =
      typeof one === 'string'
        ? await resolvePart<AnyExamSimulator | readonly AnyExamSimulator[]>('exams', one, {
            ...{ own: own.exams, registry: simulators, inputs, problemOf: examsProblem },
          })
        : checkPart(one, '`exams`', examsProblem)
    found.push(...[named].flat())
  }
  return found
}

/** Factory of an agent that is used as it is, so `questionsOnly` is refused. */
const fixedAgent =
  (agent: AnyAgent, name: string): MakeDoctor =>
  ({ questionsOnly = false } = {}) => {
    if (questionsOnly)
      throw new RangeError(
        `Expected an agent of the package for questions only, got \`${name}\`, which decides itself what it orders`,
      )
    return agent
  }

/** Factories of all registered agents, bound to a task. */
export function registeredAgents(
  inputs: PartInputs & { readonly actionSpace: ActionSpace },
): Readonly<Record<string, MakeDoctor>> {
  return Object.fromEntries(
    agents.names().map((name): [string, MakeDoctor] => [
      name,
      (options = {}) =>
        checkPart(
          agents.get(name)?.({ ...inputs, ...options }) as AnyAgent, // the name is registered; the shape is checked here
          `The registered agent \`${name}\``,
          agentProblem,
        ),
    ]),
  )
}

/**
 * Resolves an agent by one of a task's names, or from a module that exports `agent`.
 * @param at the flag or recipe key that names the agent, for messages. @default '--agent'
 * @throws Fault `bad-input` for an unknown name or module
 */
export async function resolveAgent(
  name: string,
  known: Readonly<Record<string, MakeDoctor>>,
  at: string = partPlaces.agent,
): Promise<MakeDoctor> {
  const make = Object.hasOwn(known, name) ? known[name] : undefined
  if (make) return make
  if (!isModule(name)) throw unknownPart('agent', name, { at, names: Object.keys(known) })
  const agent = await loadPart('agent', name, { at, problemOf: agentProblem })
  return fixedAgent(agent as AnyAgent, name) // its shape is checked
}

/**
 * Resolves the agents of `task({ agents })`: each an agent, or the name or module of one.
 * @throws RangeError for a name that another agent of the task has
 */
export async function resolveOwnAgents(
  given: Readonly<Record<string, AnyAgent | string>>,
  known: Readonly<Record<string, MakeDoctor>>,
): Promise<Readonly<Record<string, MakeDoctor>>> {
  const found: Record<string, MakeDoctor> = {}
  for (const [name, agent] of Object.entries(given)) {
    if (Object.hasOwn(known, name))
      throw new RangeError(`Expected a new name in \`agents\`, got \`${name}\`, which is taken`)
    found[name] =
      typeof agent === 'string'
        ? await resolveAgent(agent, known, `agents.${name}`)
        : fixedAgent(checkPart(agent, `\`agents.${name}\``, agentProblem), name)
  }
  return found
}
