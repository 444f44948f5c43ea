/** The language models of a plan of play: those of its recipe, with the flags laid over the doctor's. */
import { stringify } from 'yaml'
import { Fault } from '../../error.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import {
  isModelPatient,
  type RecipeModels,
  type RoleModelSettings,
} from '../../runs/models/recipe-models.js'
import { openRoleModels, type RoleModels } from '../../runs/models/role-models.js'
import { parseRecipe, type Recipe, StoredRecipe } from '../../runs/recipe.js'

/** What a plan of play says about its models. */
interface ModelPlan {
  readonly agent: string
  readonly patient?: string
  readonly baseUrl?: string
  readonly model?: string
  readonly recipe: Recipe
}

/**
 * The assignments of `--set` and `--grammar`, after that of `--model` where they set anything else of the doctor's model.
 * @throws Fault `bad-input` for a grammar of another doctor than a chat model
 */
export function modelAssignments({
  agent,
  model,
  grammar,
  set = [],
}: {
  readonly agent: string
  readonly model?: string
  readonly grammar?: string
  readonly set?: readonly string[]
}): readonly string[] {
  if (grammar !== undefined && agent !== 'chat')
    throw new Fault('bad-input', `--grammar: expected --agent chat beside it, got \`${agent}\``)
  const all = [...set, ...(grammar === undefined ? [] : [`models.doctor.grammar=${grammar}`])]
  const doctors = all.some((assignment) => assignment.startsWith('models.doctor.'))
  const named = agent === 'chat' && model !== undefined && doctors
  return [...(named ? [`models.doctor.model=${JSON.stringify(model)}`] : []), ...all]
}

/** A recipe with `--set models.…=value` laid over it. @throws Fault `bad-input` for another path or a wrong value */
export function layModels(recipe: Recipe, set: readonly string[] = []): Recipe {
  if (set.length === 0) return recipe
  const other = set.find((assignment) => !assignment.startsWith('models.'))
  if (other !== undefined)
    throw new Fault(
      'bad-input',
      `--set: expected models.…=value, as models.patient.model=NAME (the rest has flags of its own), got \`${other}\``,
    )
  return parseRecipe(stringify(recipe), '--set', set, { schema: StoredRecipe })
}

/** The name of the plan's patient; undefined where the cases decide. */
export const patientName = ({ patient, recipe: { env, models } }: ModelPlan): string | undefined =>
  patient ?? env.patient ?? (models?.patient ? 'free' : undefined)

/** Whether a language model that may cost money plays. */
export const isPaid = (plan: ModelPlan): boolean =>
  plan.agent === 'chat' || isModelPatient(patientName(plan)) || plan.recipe.models !== undefined

/** The model that `--model` and `--base-url` name, over that of the recipe. */
function flagged(
  { model, baseUrl }: ModelPlan,
  flag: string,
  role: 'doctor' | 'patient',
  base: RoleModelSettings | undefined,
): RoleModelSettings {
  const name = model ?? base?.model
  if (name === undefined)
    throw new Fault(
      'bad-input',
      `--model: expected the name of a chat model for ${flag} (or --set models.${role}.model=NAME), got none`,
    )
  return { ...base, model: name, ...withoutUndefined({ baseUrl }) }
}

/** The models that the plan needs, by role. @throws Fault `bad-input` where a role that a model plays has none */
export function playModels(plan: ModelPlan): RecipeModels {
  const { doctor, patient, ...others } = plan.recipe.models ?? {}
  const name = patientName(plan)
  return {
    ...others,
    ...(plan.agent === 'chat' ? { doctor: flagged(plan, '--agent chat', 'doctor', doctor) } : {}),
    // A patient without a model of its own is played by the doctor's.
    ...(isModelPatient(name)
      ? { patient: patient ?? flagged(plan, `--patient ${name}`, 'patient', undefined) }
      : {}),
  }
}

/**
 * Opens the judge of `--set models.judge.…`, where there is one, for rewards that need no other role. Of several
 * rewards, the first decides the judge's prompts.
 */
export function openJudge(
  set: readonly string[] | undefined,
  concurrency: number | undefined,
  [reward]: readonly string[],
): RoleModels {
  const { models = {} } = layModels(parseRecipe('', '--set'), set)
  const { doctor: _, patient: __, examiner: ___, ...judging } = models
  return openRoleModels(judging, { concurrency, ...(reward === undefined ? {} : { reward }) })
}
