/** What contradicts itself in the recipe of a job, said before anything starts. */
import type { LanguageModelPolicy } from '../recipe-policy.js'
import { type RecipeProblem, valueAt } from '../recipe-problems.js'
import type { GrpoTraining, Training } from '../recipe-training.js'
import { Cluster, clusterKeysOf, isJobBackend, type JobBackend, jobBackends } from './cluster.js'

/** The parts of a recipe that are looked at. */
interface JobParts {
  readonly backend: string
  readonly training: Training
  readonly cluster?: Cluster | undefined
  readonly policy?: LanguageModelPolicy | undefined
  readonly cases: { readonly curriculum: readonly unknown[] }
  readonly init?: string | undefined
}

/** A recipe whose sections are all there. */
interface WholeParts extends JobParts {
  readonly training: GrpoTraining
  readonly cluster: Cluster
  readonly policy: LanguageModelPolicy
}

/** Whether something is wrong, where, and what was expected there. */
type JobRule = readonly [wrong: boolean, path: string, expected: string]

/** Keys of `policy` that are for an engine of ours. */
const ownEngine = ['engine', 'dtype', 'device', 'threads', 'url', 'profile'] as const

/** Keys that somebody wrote and this trainer does not read. */
function idleRules(recipe: WholeParts, defaults: object, backend: JobBackend): readonly JobRule[] {
  const others = jobBackends.filter((name) => name !== backend)
  const lora = recipe.policy.mode === 'full' ? ['rank', 'alpha'] : []
  const paths = [
    ...[...ownEngine, ...lora].map((key) => `policy.${key}`),
    ...others.flatMap((name) => clusterKeysOf[name]).map((key) => `cluster.${key}`),
  ]
  const usual = { ...defaults, cluster: Cluster.parse({}) }
  return paths.map((path) => {
    const at = path.split('.')
    const written = valueAt(recipe, at) !== valueAt(usual, at)
    return [written, path, `has no effect under backend \`${backend}\``]
  })
}

/** Counts that do not fit together. */
function countRules({ training, cluster, policy }: WholeParts): readonly JobRule[] {
  const { groupsPerStep, groupSize, resampleMost = groupsPerStep } = training
  const { maxTokens, contextLength = Number.POSITIVE_INFINITY } = policy
  const { nodes, gpus, engineGpus, tokensPerGpu = contextLength } = cluster
  const samples = groupsPerStep * groupSize
  return [
    [
      samples % (nodes * gpus) !== 0,
      'training.groupsPerStep',
      `expected groupsPerStep × groupSize, ${samples} consultations, to be shared evenly by ${nodes} × ${gpus} GPUs`,
    ],
    [
      resampleMost < groupsPerStep,
      'training.resampleMost',
      `expected at least groupsPerStep, ${groupsPerStep}`,
    ],
    [
      (nodes * gpus) % engineGpus !== 0,
      'cluster.engineGpus',
      `expected a divisor of the ${nodes * gpus} GPUs`,
    ],
    [
      maxTokens >= contextLength,
      'policy.maxTokens',
      `expected fewer than policy.contextLength, ${contextLength}`,
    ],
    [
      tokensPerGpu < contextLength && Number.isFinite(contextLength),
      'cluster.tokensPerGpu',
      `expected at least policy.contextLength, ${contextLength}: a consultation is not split`,
    ],
  ]
}

/** What slime has no setting for. */
function slimeRules({ training, policy }: WholeParts): readonly JobRule[] {
  const { loss, normaliser, epochs, offPolicy } = training
  const { correction } = loss
  const truncates = correction?.level === 'token' && correction.mode === 'truncate'
  return [
    [policy.mode === 'lora', 'policy.mode', 'expected full: slime trains all weights'],
    [
      !['ppo-clip', 'gspo', 'cispo'].includes(loss.kind),
      'training.loss.kind',
      'expected ppo-clip, gspo or cispo under backend `slime`',
    ],
    [
      normaliser !== 'token-mean' && normaliser !== 'rollout-mean',
      'training.normaliser',
      'expected token-mean or rollout-mean under backend `slime`',
    ],
    [epochs !== 1, 'training.epochs', 'expected 1: slime makes one pass over a step'],
    [
      correction !== undefined && !truncates,
      'training.loss.correction',
      'expected level token and mode truncate under backend `slime`',
    ],
    [
      offPolicy !== undefined,
      'training.offPolicy',
      'expected none under backend `slime`, which rejects nothing before its loss',
    ],
    [
      loss.offPolicyMask !== undefined && loss.offPolicyMask.behaviour !== 'old',
      'training.loss.offPolicyMask.behaviour',
      'expected old under backend `slime`, whose mask (OPSM) reads the old policy',
    ],
  ]
}

/** What of a loss verl has no setting for. */
function verlLossRules({ training: { loss } }: WholeParts): readonly JobRule[] {
  const { kl, correction, offPolicyMask, kind } = loss
  return [
    [
      kind === 'importance-sampling' || kind === 'cross-entropy',
      'training.loss.kind',
      'expected ppo-clip, gspo, cispo, sapo or policy-gradient under backend `verl`',
    ],
    [kl?.ratio === true, 'training.loss.kl.ratio', 'expected false under backend `verl`'],
    [
      offPolicyMask !== undefined,
      'training.loss.offPolicyMask',
      'expected none under backend `verl`; `training.offPolicy.reject` rejects before the loss',
    ],
    [
      correction?.level === 'geometric',
      'training.loss.correction.level',
      'expected token or sequence under backend `verl`; a rejection by k1 over the mean bounds the geometric mean',
    ],
    [
      kind === 'gspo' && loss.dual !== undefined,
      'training.loss.dual',
      'expected none for gspo under backend `verl`',
    ],
  ]
}

/** What else verl has no setting for. */
function verlRules({ training }: WholeParts): readonly JobRule[] {
  const { adam, resampleMost, normaliser } = training
  return [
    [
      adam.decay === 'linear',
      'training.adam.decay',
      'expected constant or cosine under backend `verl`',
    ],
    [
      resampleMost !== undefined,
      'training.resampleMost',
      'expected none under backend `verl`, whose synchronous trainer draws each group once',
    ],
    [
      normaliser === 'rollout-mean',
      'training.normaliser',
      'expected token-mean, seq-mean, seq-mean-token-sum, dr-grpo or sum under backend `verl`',
    ],
  ]
}

/** The advantages that the trainer has itself. */
const ownAdvantages: Readonly<Record<JobBackend, readonly string[]>> = {
  slime: ['grpo', 'dr-grpo', 'reinforce-plus-plus-baseline'],
  verl: [
    ...['grpo', 'dr-grpo', 'rloo', 'reinforce-plus-plus', 'reinforce-plus-plus-baseline', 'gdpo'],
    ...['opo', 'pass-k'],
  ],
}

/** What only our own loops do. */
function loopRules({
  training: { endings, hindsight, corrections },
}: WholeParts): readonly JobRule[] {
  return [
    [endings > 0, 'training.endings', 'expected 0: the trainer plays whole consultations'],
    [corrections > 0, 'training.corrections', 'expected 0: the trainer learns from what was drawn'],
    [
      hindsight !== undefined,
      'training.hindsight',
      'expected none: a language model has no belief that can be taught alone',
    ],
  ]
}

/** What no job does. */
function commonRules({ training, cases, cluster, init }: WholeParts, backend: JobBackend) {
  const { advantages, groups, earlyStop, maxStaleness } = training
  const own = ownAdvantages[backend]
  const theirs = cluster.advantages === 'trainer'
  const ruled = groups.truncated !== 'keep' || groups.minScored !== undefined
  const has = `which ${backend} has itself (\`cluster.advantages: trainer\`)`
  const { entropy, entropyOver } = training.loss
  const rules: readonly JobRule[] = [
    [
      entropy > 0 && entropyOver === 'tokens' && training.normaliser !== 'token-mean',
      'training.loss.entropyOver',
      `expected normaliser, as ${backend} reduces its entropy bonus as its losses`,
    ],
    [
      cases.curriculum.length > 0,
      'cases.curriculum',
      'expected none: train one tier after another',
    ],
    [
      advantages === 'remax',
      'training.advantages',
      'expected another than remax: its greedy rollouts are not played',
    ],
    [
      theirs && !own.includes(advantages),
      'training.advantages',
      `expected ${own.join(', ')}, ${has}`,
    ],
    [theirs && ruled, 'training.groups', `expected no rule where ${backend} forms the groups`],
    [
      maxStaleness > 0,
      'training.maxStaleness',
      'expected 0: its trainer draws and learns by turns',
    ],
    [earlyStop !== undefined, 'training.earlyStop', 'expected none: its trainer runs to the end'],
    [init !== undefined, 'init', 'expected none: `policy.model` is where the trainer begins'],
  ]
  return rules
}

/** Finds what contradicts itself in the recipe of a job; `defaults` is a recipe in which nothing is written. */
export function jobProblems(recipe: JobParts, defaults: object): readonly RecipeProblem[] {
  const { backend, training, cluster, policy } = recipe
  if (!isJobBackend(backend)) return []
  if (training.algorithm !== 'grpo' || !cluster || !policy)
    return [
      {
        path: ['training', 'algorithm'],
        expected: `expected grpo under backend \`${backend}\``,
      },
    ]
  const whole = { ...recipe, training, cluster, policy }
  const rules = [
    ...idleRules(whole, defaults, backend),
    ...commonRules(whole, backend),
    ...loopRules(whole),
    ...(backend === 'slime' ? slimeRules(whole) : [...verlLossRules(whole), ...verlRules(whole)]),
    ...countRules(whole),
  ]
  return rules.flatMap(([wrong, path, expected]) =>
    wrong ? [{ path: path.split('.'), expected }] : [],
  )
}
