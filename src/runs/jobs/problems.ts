/** What contradicts itself in the recipe of a job, said before anything starts. */
import type { Recipe } from '../recipe.js'
import { type RecipeProblem, valueAt } from '../recipe-problems.js'
import { Cluster, clusterKeysOf, isJobBackend, type JobBackend, jobBackends } from './cluster.js'

/** Keys of `policy` that are for an engine of ours. */
const ownEngine = ['engine', 'dtype', 'device', 'threads', 'url', 'profile'] as const

const at = (path: string, expected: string): RecipeProblem => ({ path: path.split('.'), expected })

/** Problems of keys that somebody wrote and this trainer does not read. */
function idleKeys(recipe: Recipe, defaults: object, backend: JobBackend): RecipeProblem[] {
  const others = jobBackends
    .filter((name) => name !== backend)
    .flatMap((name) => clusterKeysOf[name])
  const cluster = Cluster.parse({})
  const lora = recipe.policy?.mode === 'full' ? ['rank', 'alpha'] : []
  const paths = [
    ...[...ownEngine, ...lora].map((key) => ['policy', key]),
    ...others.map((key) => ['cluster', key]),
  ]
  return paths
    .filter((path) => valueAt(recipe, path) !== valueAt({ ...defaults, cluster }, path))
    .map((path) => ({ path, expected: `has no effect under backend \`${backend}\`` }))
}

/** Counts that do not fit together. */
function countProblems({ training, cluster, policy }: Recipe): RecipeProblem[] {
  if (training.algorithm !== 'grpo' || !cluster || !policy) return []
  const { groupsPerStep, groupSize } = training
  const [samples, gpus] = [groupsPerStep * groupSize, cluster.nodes * cluster.gpus]
  return [
    ...(samples % gpus === 0
      ? []
      : [
          at(
            'training.groupsPerStep',
            `expected groupsPerStep × groupSize to be shared evenly by ${cluster.nodes} × ${cluster.gpus} GPUs, got ${samples} consultations;`,
          ),
        ]),
    ...(gpus % cluster.engineGpus === 0
      ? []
      : [at('cluster.engineGpus', `expected a divisor of the ${gpus} GPUs`)]),
    ...(policy.contextLength === undefined || policy.maxTokens < policy.contextLength
      ? []
      : [
          at(
            'policy.maxTokens',
            `expected fewer than policy.contextLength, ${policy.contextLength}`,
          ),
        ]),
    ...(cluster.tokensPerGpu === undefined ||
    policy.contextLength === undefined ||
    cluster.tokensPerGpu >= policy.contextLength
      ? []
      : [
          at(
            'cluster.tokensPerGpu',
            `expected at least policy.contextLength, ${policy.contextLength}: a consultation is not split`,
          ),
        ]),
  ]
}

/** What slime has no setting for. */
function slimeProblems({ training, policy }: Recipe): RecipeProblem[] {
  if (training.algorithm !== 'grpo') return []
  const { loss, normaliser, epochs } = training
  return [
    ...(policy?.mode === 'lora'
      ? [at('policy.mode', 'expected full: slime trains all weights')]
      : []),
    ...(['ppo-clip', 'gspo', 'cispo'].includes(loss.kind)
      ? []
      : [at('training.loss.kind', 'expected ppo-clip, gspo or cispo under backend `slime`')]),
    ...(normaliser === 'token-mean' || normaliser === 'rollout-mean'
      ? []
      : [at('training.normaliser', 'expected token-mean or rollout-mean under backend `slime`')]),
    ...(epochs === 1
      ? []
      : [at('training.epochs', 'expected 1: slime makes one pass over a step')]),
    ...(loss.correction &&
    (loss.correction.level !== 'token' || loss.correction.mode !== 'truncate')
      ? [
          at(
            'training.loss.correction',
            'expected level token and mode truncate under backend `slime`',
          ),
        ]
      : []),
  ]
}

/** What verl has no setting for. */
function verlProblems({ training }: Recipe): RecipeProblem[] {
  if (training.algorithm !== 'grpo') return []
  const { loss, adam, resampleMost } = training
  return [
    ...(loss.kind === 'importance-sampling' || loss.kind === 'cross-entropy'
      ? [
          at(
            'training.loss.kind',
            'expected ppo-clip, gspo, cispo, sapo or policy-gradient under backend `verl`',
          ),
        ]
      : []),
    ...(adam.decay === 'linear'
      ? [at('training.adam.decay', 'expected constant or cosine under backend `verl`')]
      : []),
    ...(resampleMost === undefined
      ? []
      : [
          at(
            'training.resampleMost',
            'expected none under backend `verl`, whose synchronous trainer draws each group once',
          ),
        ]),
    ...(training.normaliser === 'rollout-mean'
      ? [
          at(
            'training.normaliser',
            'expected token-mean, seq-mean, dr-grpo or sum under backend `verl`',
          ),
        ]
      : []),
  ]
}

/** The advantages that the trainer has itself. */
const ownAdvantages: Readonly<Record<JobBackend, readonly string[]>> = {
  slime: ['grpo', 'dr-grpo', 'reinforce-plus-plus-baseline'],
  verl: ['grpo', 'dr-grpo', 'rloo', 'reinforce-plus-plus', 'reinforce-plus-plus-baseline', 'gdpo'],
}

/** Problems of any job's recipe. */
function jobRules(recipe: Recipe, backend: JobBackend): RecipeProblem[] {
  const { training, cases, cluster } = recipe
  if (training.algorithm !== 'grpo')
    return [at('training.algorithm', `expected grpo under backend \`${backend}\``)]
  const { advantages, groups, earlyStop, maxStaleness } = training
  const own = ownAdvantages[backend]
  return [
    ...(cases.curriculum.length === 0
      ? []
      : [
          at(
            'cases.curriculum',
            `expected none under backend \`${backend}\`: train a tier after another`,
          ),
        ]),
    ...(advantages === 'remax'
      ? [
          at(
            'training.advantages',
            'expected another than remax: its greedy rollouts are not played',
          ),
        ]
      : []),
    ...(cluster?.advantages === 'trainer' && !own.includes(advantages)
      ? [
          at(
            'training.advantages',
            `expected ${own.join(', ')}, which ${backend} has itself (\`cluster.advantages: trainer\`)`,
          ),
        ]
      : []),
    ...(cluster?.advantages === 'trainer' &&
    (groups.truncated !== 'keep' || groups.minScored !== undefined)
      ? [
          at(
            'training.groups',
            `expected no rule where ${backend} forms the groups (\`cluster.advantages: trainer\`)`,
          ),
        ]
      : []),
    ...(maxStaleness === 0
      ? []
      : [at('training.maxStaleness', 'expected 0: its trainer here draws and learns by turns')]),
    ...(earlyStop
      ? [
          at(
            'training.earlyStop',
            `expected none under backend \`${backend}\`, whose trainer runs to its end`,
          ),
        ]
      : []),
    ...(recipe.init === undefined
      ? []
      : [
          at(
            'init',
            `expected none under backend \`${backend}\`: \`policy.model\` is where it begins`,
          ),
        ]),
  ]
}

/** Finds what contradicts itself in the recipe of a job; `defaults` is a recipe in which nothing is written. */
export function jobProblems(recipe: Recipe, defaults: object): readonly RecipeProblem[] {
  const { backend } = recipe
  if (!isJobBackend(backend)) return []
  const problems = [...idleKeys(recipe, defaults, backend), ...jobRules(recipe, backend)]
  const own = backend === 'slime' ? slimeProblems(recipe) : verlProblems(recipe)
  return [...problems, ...own, ...countProblems(recipe)]
}
