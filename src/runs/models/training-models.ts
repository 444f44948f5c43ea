/** The language models of a training run: those that its recipe needs, and what they used in all sittings. */
import { existsSync } from 'node:fs'
import type { Agent } from '../../agent.js'
import { chatDoctor } from '../../agents/chat.js'
import { addUsageByRole, type UsageByRole } from '../../chats/account.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { clinicKnowledge } from '../../tasks/task-kinds.js'
import { doctorGrammar } from '../backends.js'
import type { Recipe } from '../recipe.js'
import { hasChatTeacher, isModelPatient } from './recipe-models.js'
import { openRoleModels, type RoleModels } from './role-models.js'
import { siblingNotes } from './sibling-notes.js'
import { readUsage, writeUsage } from './usage-file.js'

/** Open models of a training run. Disposing them closes the cassette and writes `usage.json`. */
export interface TrainingModels extends AsyncDisposable {
  /** What they give to the run's task. */
  readonly parts: Pick<
    RoleModels,
    'patient' | 'referencePatient' | 'judge' | 'chats' | 'completions' | 'examiners'
  >
  /** The doctor whose consultations a recipe learns from, by its name, where a model plays it. */
  readonly teachers: Readonly<Record<string, Agent>>
  /** Usage by role in this sitting and those before it. */
  readonly used: () => UsageByRole
  /** What did not hold, in sentences. */
  readonly notes: RoleModels['notes']
}

/**
 * Opens the models of a recipe whose run is in `out`.
 * @throws Fault `bad-input` as {@link openRoleModels} does
 */
export async function openTrainingModels(recipe: Recipe, out: string): Promise<TrainingModels> {
  // The doctor is the policy that is trained, unless the model teaches it.
  const { doctor, ...models } = recipe.models ?? {}
  const teaching = doctor && hasChatTeacher(recipe) ? { doctor } : {}
  const opened = openRoleModels(
    { ...models, ...teaching },
    {
      ...{ concurrency: recipe.training.concurrency, reward: recipe.reward },
      knowledge: clinicKnowledge(recipe.cases.clinic),
      ...(isModelPatient(recipe.env.patient) ? { patient: recipe.env.patient } : {}),
    },
  )
  const { patient, referencePatient, judge, chats, completions, examiners, ledger } = opened
  const before = await readUsage(out)
  return {
    parts: {
      ...withoutUndefined({ patient, referencePatient, judge }),
      ...{ chats, completions, examiners },
    },
    teachers: chats.doctor
      ? { chat: chatDoctor({ chat: chats.doctor, grammar: doctorGrammar(recipe) }) }
      : {},
    used: () => addUsageByRole(before, ledger.used()),
    notes: () => [...opened.notes(), ...siblingNotes({ ...recipe.env, own: recipe.own })],
    async [Symbol.asyncDispose]() {
      opened[Symbol.dispose]()
      if (existsSync(out)) await writeUsage(out, before, ledger.used())
    },
  }
}
