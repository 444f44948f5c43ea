/** What a recipe asks of a training run, put into the loops' own terms: estimators, losses, the course of cases. */
import type { AdamSettings, Loss } from '../batch.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { Task } from '../tasks/task.js'
import {
  gdpoAdvantages,
  litePpoAdvantages,
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../trainers/advantages/per-batch.js'
import {
  drGrpoAdvantages,
  grpoAdvantages,
  rlooAdvantages,
} from '../trainers/advantages/per-group.js'
import { rateAt } from '../trainers/loops/adam-schedule.js'
import type { GrpoOptions } from '../trainers/loops/grpo.js'
import type { Recipe } from './recipe.js'
import { taskOf } from './task-of-recipe.js'

type Training = Recipe['training']

/** The loss of a recipe, with the constants of its kind alone. */
export function lossOf({ loss }: Training): Loss {
  const { kind, low, high, dual, tauPositive, tauNegative, entropy, kl, correction } = loss
  const besides = { entropy, ...(kl ? { kl } : {}), ...(correction ? { correction } : {}) }
  switch (kind) {
    case 'ppo-clip':
      return { kind, low, high, ...(dual === undefined ? {} : { dual }), ...besides }
    case 'cispo':
    case 'gspo':
      return { kind, low, high, ...besides }
    case 'sapo':
      return { kind, tauPositive, tauNegative, ...besides }
    default:
      return { kind, ...besides }
  }
}

/** The optimiser of a recipe, by step. */
export function adamOf({ adam, steps }: Training): (step: number) => AdamSettings {
  const { maxGradNorm, learningRate, warmup, decay, ...rest } = adam
  const bounded = maxGradNorm === undefined ? rest : { ...rest, maxGradNorm }
  return (step) => ({
    ...bounded,
    learningRate: learningRate * rateAt(step, { steps, warmup, decay }),
  })
}

/** How a recipe's advantages are estimated. */
export function estimatorOf({
  advantages,
  groups: { minScored, truncated },
}: Training): Pick<GrpoOptions, 'estimator' | 'together' | 'greedy' | 'policy'> {
  const policy = { truncated, ...(minScored === undefined ? {} : { minScored }) }
  const alone = { estimator: drGrpoAdvantages(), policy }
  switch (advantages) {
    case 'grpo':
      return { estimator: grpoAdvantages(), policy }
    case 'rloo':
      return { estimator: rlooAdvantages(), policy }
    case 'reinforce-plus-plus':
      return {
        ...alone,
        together: reinforcePlusPlusAdvantages(),
        policy: { ...policy, baseline: 'elsewhere' },
      }
    case 'reinforce-plus-plus-baseline':
      return { ...alone, together: reinforcePlusPlusBaselineAdvantages() }
    case 'lite-ppo':
      return { ...alone, together: litePpoAdvantages() }
    case 'gdpo':
      // Equal totals may be made of parts that differ.
      return { ...alone, together: gdpoAdvantages(), policy: { ...policy, baseline: 'elsewhere' } }
    case 'remax':
      return { ...alone, greedy: true }
    case 'dr-grpo':
      return alone
  }
}

/** Where training cases come from as the run goes on: easier tiers first, where the recipe says so. */
export interface Course {
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  /** Actions a doctor has in the longest of its stages. */
  readonly maxTurns: number
}

/**
 * The course of a recipe's training cases; `setting` is its last stage.
 * @throws Fault `bad-input` for stages whose doctors have other moves
 */
export async function courseOf(recipe: Recipe, task: Task): Promise<Course> {
  const stages: { readonly last: number; readonly task: Task }[] = []
  let last = 0
  for (const { tier, steps } of recipe.cases.curriculum) {
    last += steps
    const easier = await taskOf({ ...recipe, cases: { ...recipe.cases, tier } })
    if (easier.actionSpace.fingerprint !== task.actionSpace.fingerprint)
      throw new Fault(
        'bad-input',
        `cases.curriculum: expected tiers whose doctors have the same moves, got ${tier} before ${recipe.cases.tier}`,
      )
    stages.push({ last, task: easier })
  }
  const at = (step: number): Task => stages.find((stage) => step <= stage.last)?.task ?? task
  return {
    caseAt: (n, step) => at(step).caseAt(n),
    makeEnv: (step) => at(step).makeEnv(),
    maxTurns: Math.max(task.maxTurns, ...stages.map((stage) => stage.task.maxTurns)),
  }
}
