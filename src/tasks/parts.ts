/** Patients, examination simulators and agents by name or module: what a recipe's keys and `task()` stand for. */
import type { AnyAgent } from '../agent.js'
import type { ExamSimulator } from '../exam.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Patient } from '../patient.js'
import type { Language } from '../turn.js'
import type { DoctorOptions, MakeDoctor } from './agents.js'
import { agentNames } from './agents.js'
import type { PartKind, PartRegistry } from './modules.js'
import { isModule, loadPart, partPlaces, partRegistry, unknownPart } from './modules.js'
import { agentProblem, examsProblem, functionProblem } from './shapes.js'

/** What a registered part is made for: the task's knowledge (of its clinic) and language. */
export interface PartInputs {
  readonly knowledge: Knowledge
  readonly language: Language
}

/** What a registered agent is made for. */
export interface AgentInputs extends PartInputs, DoctorOptions {
  readonly actionSpace: ActionSpace
}

/** Makes a registered patient for a task. */
export type MakePatient = (inputs: PartInputs) => Patient
/** Makes registered examination simulators for a task. */
export type MakeExams = (inputs: PartInputs) => ExamSimulator | readonly ExamSimulator[]
/** Makes a registered agent for a task. */
export type MakeAgent = (inputs: AgentInputs) => AnyAgent

/** Who the doctor meets in a consultation. */
export interface Roles {
  readonly patient: Patient
  readonly exams: readonly ExamSimulator[]
}

/** The patients and examination simulators that a task's cases have, by name. */
export interface NamedRoles {
  readonly patient: Readonly<Record<string, Patient>>
  readonly exams: Readonly<Record<string, ExamSimulator>>
}

/** One simulator or several, each a function, a registered name or a module. */
export type ExamsOption = string | ExamSimulator | readonly (string | ExamSimulator)[]

/** The names of patients that come with the package; `chat` needs the command line's model. */
const patientNames = ['rule', 'record', 'chat']

const patients = partRegistry<MakePatient>('patient', patientNames)
const simulators = partRegistry<MakeExams>('exams', ['record'])
const agents = partRegistry<MakeAgent>('agent', agentNames)

/** Makes a patient's name known to recipes, `task` and `--patient`. @throws TypeError when it is taken */
export const registerPatient = (name: string, make: MakePatient): void =>
  patients.register(name, make)

/** Makes a name of examination simulators known to recipes, `task` and `--exams`. @throws TypeError when it is taken */
export const registerExams = (name: string, make: MakeExams): void =>
  simulators.register(name, make)

/** Makes an agent's name known to recipes, `task().agents` and `--agent`. @throws TypeError when it is taken */
export const registerAgent = (name: string, make: MakeAgent): void => agents.register(name, make)

/** The names a recipe's `env.patient` and `env.exams` can have, whatever the cases. */
export const roleNames = (kind: 'patient' | 'exams'): readonly string[] =>
  kind === 'patient' ? ['rule', 'record', ...patients.names()] : ['record', ...simulators.names()]

type ProblemOf = (value: unknown) => string | undefined

/** A part that code made, checked. @throws TypeError where it has another shape */
function checked<T>(part: T, what: string, problemOf: ProblemOf): T {
  const problem = problemOf(part)
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`)
  return part
}

/** A part by name: one of the task's own, a registered one, or a module's. */
async function resolve<T>(
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
  if (make) return checked(make(inputs), `The registered ${kind} \`${name}\``, problemOf)
  // Its shape is checked; what it answers is checked when it is asked.
  if (isModule(name)) return (await loadPart(kind, name, { at, problemOf })) as T
  throw unknownPart(kind, name, { at, names: [...Object.keys(own), ...registry.names()] })
}

/** The patient of `task({ patient })`. @throws Fault `bad-input` for a name or module there is not */
export const resolvePatient = async (
  patient: string | Patient,
  inputs: PartInputs,
  own: NamedRoles,
): Promise<Patient> =>
  typeof patient === 'string'
    ? resolve('patient', patient, {
        ...{ own: own.patient, registry: patients, inputs, problemOf: functionProblem },
      })
    : checked(patient, '`patient`', functionProblem)

/** The simulators of `task({ exams })`, in order. @throws Fault `bad-input` for a name or module there is not */
export async function resolveExams(
  exams: ExamsOption,
  inputs: PartInputs,
  own: NamedRoles,
): Promise<readonly ExamSimulator[]> {
  const listed: readonly (string | ExamSimulator)[] =
    typeof exams === 'string' || typeof exams === 'function' ? [exams] : exams
  const found: ExamSimulator[] = []
  for (const one of listed) {
    const named: ExamSimulator | readonly ExamSimulator[] =
      typeof one === 'string'
        ? await resolve<ExamSimulator | readonly ExamSimulator[]>('exams', one, {
            ...{ own: own.exams, registry: simulators, inputs, problemOf: examsProblem },
          })
        : checked(one, '`exams`', functionProblem)
    found.push(...(typeof named === 'function' ? [named] : named))
  }
  return found
}

/** An agent that is given as it is: it orders what it orders. */
const madeOf =
  (agent: AnyAgent, name: string): MakeDoctor =>
  ({ questionsOnly = false } = {}) => {
    if (questionsOnly)
      throw new RangeError(
        `Expected an agent of the package for questions only, got \`${name}\`, which decides itself what it orders`,
      )
    return agent
  }

/** The registered agents, as a task has them. */
export function registeredAgents(
  inputs: PartInputs & { readonly actionSpace: ActionSpace },
): Readonly<Record<string, MakeDoctor>> {
  return Object.fromEntries(
    agents.names().map((name): [string, MakeDoctor] => [
      name,
      (options = {}) =>
        checked(
          agents.get(name)?.({ ...inputs, ...options }) as AnyAgent, // one of its own names; checked here
          `The registered agent \`${name}\``,
          agentProblem,
        ),
    ]),
  )
}

/**
 * An agent by one of a task's names, or a module that exports `agent`.
 * @param at the flag or recipe key that names it, for messages. @default '--agent'
 * @throws Fault `bad-input` for a name or module there is not
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
  return madeOf(agent as AnyAgent, name) // its shape is checked
}

/**
 * The agents of `task({ agents })`: each an agent, or the name or module of one.
 * @throws RangeError for a name that another agent of the task has
 */
export async function ownAgents(
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
        : madeOf(checked(agent, `\`agents.${name}\``, agentProblem), name)
  }
  return found
}
