/** Turns flags into a plan of play, and opens its task, doctor and cases. */
import type { Agent, AnyAgent } from '../../agent.js'
import { chatDoctor } from '../../agents/chat.js'
import type { GrammarName } from '../../agents/grammars/named.js'
import type { Case } from '../../case.js'
import { parseCaseId } from '../../cases/generator/case-id.js'
import { generateCase } from '../../cases/generator/generate.js'
import type { Chat } from '../../chat.js'
import { rulePatient } from '../../envs/patients/rule.js'
import { Fault } from '../../error.js'
import { clinic, type Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Patient } from '../../patient.js'
import { type Persona, parsePersona } from '../../persona.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { doctorGrammar } from '../../runs/backends.js'
import { readStoredRecipe } from '../../runs/directory.js'
import { isModelPatient } from '../../runs/models/recipe-models.js'
import { openRoleModels } from '../../runs/models/role-models.js'
import { siblingNotes } from '../../runs/models/sibling-notes.js'
import { type Recipe, withPreset } from '../../runs/recipe.js'
import { selectionCount, taskOf } from '../../runs/task-of-recipe.js'
import { baseRecipe, openTrained, trainedAt } from '../../runs/trained.js'
import { readCases } from '../../storage/case-files.js'
import { isModule } from '../../tasks/modules.js'
import { resolveAgent } from '../../tasks/parts.js'
import type { Task, TaskOptions } from '../../tasks/task.js'
import type { CaseFlags } from '../flags/flags.js'
import { rethrowRangeError } from '../print/failure.js'
import { layModels, modelAssignments, patientName, playModels } from './play-models.js'
import { isSamePlace } from './run-folder.js'

/** Flags that choose the doctor, the patient, the exams and the reward. */
export interface DoctorFlags {
  readonly agent?: string
  /** Name of a published environment. */
  readonly env?: string
  /** Name or module of the patient. */
  readonly patient?: string
  /** Names and modules of exam simulators. */
  readonly exams?: readonly string[]
  /** Persona name or dials, see `parsePersona`. */
  readonly persona?: string
  readonly baseUrl?: string
  readonly model?: string
  readonly grammar?: GrammarName
  /** `models.…=value` assignments, laid over the recipe. */
  readonly set?: readonly string[]
  readonly reward?: string
  readonly maxTurns?: number
  readonly questionsOnly?: boolean
  /** Consultations of each case. */
  readonly repeats?: number
  /** Of a trained doctor's draws. */
  readonly temperature?: number
  readonly trust?: boolean
}

/** Everything that determines a consultation or evaluation, serialisable. */
export interface PlayPlan
  extends Omit<DoctorFlags, 'agent' | 'env' | 'reward' | 'maxTurns' | 'set' | 'grammar' | 'trust'> {
  readonly agent: string
  /** `all`: every case of a file, or generated cases of both splits. */
  readonly split: 'train' | 'heldout' | 'all'
  readonly recipe: Recipe
}

/** More cases than any file has: stands for all of them. */
const allCases = 1_000_000

/** Creates the plan: flags laid over the recipe of the agent's run, or over the default recipe. */
export async function createPlan(
  flags: CaseFlags & DoctorFlags & { readonly agent: string },
): Promise<PlayPlan> {
  const { agent, split = 'heldout', patient, exams, persona, baseUrl, model } = flags
  const { seed, lang, reward, maxTurns, questionsOnly, tier, repeats, temperature } = flags
  const { count, file: caseFile } = flags.cases ?? {}
  const own = await baseRecipe(flags)
  const played = flags.env === undefined ? own : withPreset(own, flags.env)
  const base = layModels(played, modelAssignments(flags))
  const { file, ...generated } = base.cases
  const recipe: Recipe = {
    ...base,
    ...withoutUndefined({ seed, language: lang, reward }),
    env: { ...base.env, ...withoutUndefined({ maxTurns }) },
    cases: {
      ...(count === undefined ? base.cases : generated),
      ...withoutUndefined({ tier, clinic: flags.clinic && [...flags.clinic], heldOut: count }),
      ...(caseFile === undefined ? {} : { file: caseFile, heldOut: allCases }),
    },
  }
  return {
    agent,
    split,
    recipe,
    ...withoutUndefined({ patient, exams: exams && [...exams], persona, baseUrl, model }),
    ...(questionsOnly ? { questionsOnly } : {}),
    ...withoutUndefined({ repeats, temperature }),
  }
}

/** The knowledge base, or the disease groups of it. @throws Fault `bad-input` for an unknown group, naming `place` */
export const clinicKnowledge = async (
  groups: readonly string[] | undefined,
  place = '--clinic',
): Promise<Knowledge> =>
  groups ? rethrowRangeError(place, () => clinic(loadKnowledge(), groups)) : loadKnowledge()

/** Opens the plan's agent: one of the task's, a module's, a chat model, or a trained policy. */
async function doctorOf(
  { agent, questionsOnly = false, recipe, temperature }: PlayPlan,
  task: Task,
  chat: Chat | undefined,
  /** Takes ownership of a resource that must be closed after the consultation. */
  own: (opened: AsyncDisposable) => void,
): Promise<AnyAgent> {
  const named = isModule(agent) ? await resolveAgent(agent, task.agents) : task.agents[agent]
  const made = chat ? undefined : named
  if (temperature !== undefined && (made || chat))
    throw new Fault(
      'bad-input',
      `--temperature: expected a trained doctor${chat ? ' (of a chat model: --set models.doctor.temperature=T)' : ''}, got \`${agent}\``,
    )
  if (made) return rethrowRangeError(`--agent ${agent}`, () => made({ questionsOnly }))
  if (questionsOnly)
    throw new Fault(
      'bad-input',
      `--questions-only: expected an agent of ${Object.keys(task.agents).join(', ')}, got \`${agent}\``,
    )
  if (chat) return chatDoctor({ chat, grammar: doctorGrammar(recipe) })
  const trained = await trainedAt(agent)
  if (!trained)
    throw new Fault(
      'bad-input',
      `--agent: expected ${[...Object.keys(task.agents), 'chat'].join(', ')}, a module (.mjs) that exports \`agent\`, or the folder of a run or checkpoint, got \`${agent}\``,
    )
  const opened = await openTrained(trained, recipe, task)
  own(opened)
  return opened.backend.sampler({ temperature: temperature ?? 0 })
}

/** The recipe of the plan's agent, if that is a run that was trained on the plan's case file. */
async function recipeOfFile({ agent, recipe }: PlayPlan): Promise<Recipe | undefined> {
  const { file } = recipe.cases
  const trained = await trainedAt(agent)
  if (!trained || file === undefined) return undefined
  const own = await readStoredRecipe(trained.run)
  const its = own.cases.file
  return its !== undefined && (its === file || isSamePlace(its, file)) ? own : undefined
}

/**
 * Reads the plan's case file. `whole` is true for `--split all`, and where every case is marked as of the plan's split,
 * unless the agent was trained on the file: a run splits it whatever the marks say, and chose its best checkpoint by a
 * part of what it holds out.
 */
async function readPlanCases(
  plan: PlayPlan,
): Promise<Pick<TaskOptions, 'cases' | 'whole' | 'selection'>> {
  const { recipe, split } = plan
  const { file } = recipe.cases
  if (file === undefined) return {}
  const cases = await readCases(file)
  const marked = cases.every(({ provenance }) => provenance.split === split)
  const trainedOn = await recipeOfFile(plan)
  return {
    ...{ cases, whole: split === 'all' || (marked && !trainedOn) },
    ...(trainedOn ? { selection: selectionCount(trainedOn) } : {}),
  }
}

/** Persona of the plan. @throws Fault `bad-input` where the patient is neither the rule patient nor its skin */
function planPersona(plan: PlayPlan): Persona | undefined {
  const { persona } = plan
  if (persona === undefined) return undefined
  const parsed = parsePersona(persona)
  const named = patientName(plan) ?? 'rule'
  if (named !== 'rule' && named !== 'skin')
    throw new Fault(
      'bad-input',
      `--persona: expected the rule patient or the skin, got \`--patient ${named}\``,
    )
  return parsed
}

/**
 * Opens a plan.
 * Long because every flag of a role lays one part over the task.
 * @param whole use every case of a file, whatever its split @default true where all cases are marked as of that split
 * @param human the user as the doctor, and `patient` as the patient
 * @param concurrency consultations at once, each with a request of each chat model under way at most
 */
export async function openPlaySession(
  plan: PlayPlan,
  {
    whole,
    human,
    patient,
    concurrency,
  }: {
    readonly whole?: boolean
    readonly human?: Agent
    readonly patient?: Patient
    readonly concurrency?: number | undefined
  } = {},
) {
  const { recipe } = plan
  const knowledge = await clinicKnowledge(recipe.cases.clinic)
  const persona = planPersona(plan)
  const name = patientName(plan)
  const models = openRoleModels(playModels(plan), {
    ...{ concurrency, reward: recipe.reward, knowledge, persona },
    ...(isModelPatient(name) ? { patient: name } : {}),
  })
  const own = await readPlanCases(plan)
  if (persona && own.cases?.some(({ findings }) => findings.some(({ question }) => question)))
    throw new Fault(
      'bad-input',
      `--persona: expected cases with findings, got recorded dialogues in ${recipe.cases.file}`,
    )
  const task = await taskOf(recipe, {
    ...own,
    ...withoutUndefined({ whole, patient: plan.patient, exams: plan.exams }),
    ...{ chats: models.chats, completions: models.completions, examiners: models.examiners },
    ...(persona ? { patient: rulePatient({ knowledge, persona }) } : {}),
    ...withoutUndefined({ patient: models.patient, referencePatient: models.referencePatient }),
    ...withoutUndefined({ patient, judge: models.judge }),
  })
  const opened: AsyncDisposable[] = []
  const keep = (one: AsyncDisposable) => void opened.push(one)
  return {
    task,
    /** Where repeats of a case may not have met the same patient. */
    notes: (): readonly string[] => [
      ...models.notes(),
      ...siblingNotes({ patient: name, exams: plan.exams ?? recipe.env.exams }),
    ],
    /** Opens the plan's doctor. */
    openDoctor: async (): Promise<AnyAgent> =>
      human ?? doctorOf(plan, task, models.chats.doctor, keep),
    async [Symbol.asyncDispose]() {
      for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
      models[Symbol.dispose]()
    },
    /** What the language models used so far, by role. */
    usage: models.ledger.used,
  }
}

/** An open plan: its task, its doctor, and the usage of chat models. Disposing it closes trained policies. */
export type PlaySession = Awaited<ReturnType<typeof openPlaySession>>

/** Cases of the plan's split; all of them for a file. Of `all` generated cases, held-out ones and training ones in turn. */
export function planCases({ split, recipe }: PlayPlan, task: Task): readonly Case[] {
  const { file, heldOut: count } = recipe.cases
  if (split === 'train') return task.train(file === undefined ? count : allCases)
  if (split === 'heldout' || file !== undefined) return task.heldOut
  const train = task.train(Math.floor(count / 2))
  return task.heldOut
    .slice(0, count - train.length)
    .flatMap((truth, n) => [truth, ...train.slice(n, n + 1)])
}

/** Finds a case by id in a file, or generates it from its id. @throws Fault `bad-input` for an unknown id */
export async function findCase(
  id: string,
  {
    file,
    groups,
  }: { readonly file?: string | undefined; readonly groups?: readonly string[] | undefined },
): Promise<Case> {
  if (file !== undefined) {
    const cases = await readCases(file)
    const found = cases.find((truth) => truth.id === id)
    if (found) return found
    const some = cases.slice(0, 3).map((truth) => truth.id)
    throw new Fault(
      'bad-input',
      `the case's id: expected one of the ${cases.length} in ${file} (${some.join(', ')}, …), got \`${id}\``,
    )
  }
  const named = parseCaseId(id)
  if (!named)
    throw new Fault(
      'bad-input',
      `the case's id: expected one like easy-heldout-0-7 (tier-split-seed-number, then @group+group in a clinic), or --cases FILE with one of its ids, got \`${id}\``,
    )
  return generateCase(await clinicKnowledge(named.clinic ?? groups), named)
}
