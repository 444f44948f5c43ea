/** slime's settings of a recipe: flags of its `train.py`. Names as in slime 624b824 (v0.3.1). */
import { basename, join } from 'node:path'
import { shellLine } from '../../trainers/jobs/ray.js'
import { type JobLimits, type JobRecipe, type Settings, trainerCheckpoints } from './job-recipe.js'

const plugin = 'bedside_trainers.slime'

const klTypes = { k1: 'k1', k2: 'k2', k3: 'low_var_kl' } as const

/** slime names the loss by its estimator; the advantages come from `reward_post_process` in any case. */
const estimators = { 'ppo-clip': 'grpo', gspo: 'gspo', cispo: 'cispo' } as const

const ownEstimators: Readonly<Record<string, string>> = {
  'reinforce-plus-plus-baseline': 'reinforce_plus_plus_baseline',
}

const checkpoints = (job: JobRecipe, { out }: JobLimits): Settings => {
  const { model, training } = job
  const kept = trainerCheckpoints(out)
  return {
    'hf-checkpoint': model,
    'ref-load': weightsOf(job),
    load: kept,
    save: kept,
    'save-hf': join(kept, 'hf', '{rollout_id}'),
    'save-interval': training.checkpointEvery,
  }
}

/** Dynamic sampling: groups whose members were paid the same are drawn anew. */
const sampling = ({ training }: Pick<JobRecipe, 'training'>): Settings =>
  training.resampleMost === undefined
    ? {}
    : { 'dynamic-sampling-filter-path': `${plugin}.keep_learning_groups` }

const rollouts = (
  { recipe, training, policy, cluster }: JobRecipe,
  { contextLength }: JobLimits,
): Settings => {
  const { steps, groupsPerStep, groupSize, temperature, resampleMost } = training
  return {
    'rollout-function-path': `${plugin}.generate_rollout`,
    'eval-function-path': `${plugin}.generate_rollout`,
    'data-source-path': `${plugin}.SeedSource`,
    'custom-reward-post-process-path': `${plugin}.reward_post_process`,
    'custom-rollout-log-function-path': `${plugin}.log_rollout`,
    'custom-eval-rollout-log-function-path': `${plugin}.log_eval`,
    'num-rollout': steps,
    'rollout-batch-size': groupsPerStep,
    'n-samples-per-prompt': groupSize,
    'global-batch-size': groupsPerStep * groupSize,
    ...(resampleMost === undefined ? {} : { 'over-sampling-batch-size': resampleMost }),
    ...sampling({ training }),
    'rollout-max-response-len': policy.maxTokens,
    'rollout-max-context-len': contextLength,
    'rollout-temperature': temperature,
    'rollout-top-p': 1,
    'rollout-top-k': -1,
    'rollout-seed': recipe.seed,
    'rollout-num-gpus-per-engine': cluster.engineGpus,
    'balance-data': true,
    'eval-interval': training.evaluateEvery,
    // slime wants a file for each evaluation; the patients are named in BEDSIDE_EVAL.
    'eval-prompt-data': ['heldout', 'heldout.jsonl'],
    'eval-temperature': 0,
    'n-samples-per-eval-prompt': 1,
  }
}

const algorithm = ({ training, cluster }: JobRecipe): Settings => {
  const { loss, normaliser, advantages } = training
  const { kl, correction, offPolicyMask } = loss
  const own = cluster.advantages === 'trainer' ? ownEstimators[advantages] : undefined
  return {
    'advantage-estimator': own ?? estimators[loss.kind as keyof typeof estimators], // others are refused before
    ...(cluster.advantages === 'trainer' && advantages === 'dr-grpo'
      ? { 'disable-grpo-std-normalization': true }
      : {}),
    // slime refuses its REINFORCE++ estimators without it.
    ...(own === undefined ? {} : { 'normalize-advantages': true }),
    ...('low' in loss ? { 'eps-clip': loss.low, 'eps-clip-high': loss.high } : {}),
    ...('dual' in loss && loss.dual !== undefined ? { 'eps-clip-c': loss.dual } : {}),
    ...(offPolicyMask ? { 'use-opsm': true, 'opsm-delta': offPolicyMask.threshold } : {}),
    'entropy-coef': loss.entropy,
    ...(kl
      ? {
          'use-kl-loss': true,
          'kl-loss-coef': kl.coefficient,
          'kl-loss-type': klTypes[kl.estimator],
          ...(kl.ratio ? { 'use-unbiased-kl': true } : {}),
        }
      : {}),
    ...(correction
      ? { 'use-tis': true, 'tis-clip': correction.max, 'tis-clip-low': correction.min }
      : {}),
    ...(normaliser === 'token-mean' ? { 'calculate-per-token-loss': true } : {}),
  }
}

const optimiser = ({ training, recipe }: JobRecipe): Settings => {
  const { learningRate, beta1, beta2, epsilon, maxGradNorm, weightDecay, warmup, decay } =
    training.adam
  return {
    optimizer: 'adam',
    lr: learningRate,
    'lr-decay-style': decay,
    ...(warmup > 0 ? { 'lr-warmup-fraction': warmup } : {}),
    'weight-decay': weightDecay,
    'adam-beta1': beta1,
    'adam-beta2': beta2,
    'adam-eps': epsilon,
    // Megatron clips nothing at 0.
    'clip-grad': maxGradNorm ?? 0,
    seed: recipe.seed,
  }
}

const engines = ({ cluster }: JobRecipe, { contextLength }: JobLimits): Settings => ({
  'actor-num-nodes': cluster.nodes,
  'actor-num-gpus-per-node': cluster.gpus,
  'num-gpus-per-node': cluster.gpus,
  colocate: true,
  'tensor-model-parallel-size': cluster.engineGpus,
  ...(cluster.engineGpus > 1 ? { 'sequence-parallel': true } : {}),
  'recompute-granularity': 'full',
  'recompute-method': 'uniform',
  'recompute-num-layers': 1,
  'use-dynamic-batch-size': true,
  'max-tokens-per-gpu': cluster.tokensPerGpu ?? contextLength,
  'sglang-mem-fraction-static': 0.7,
  // Megatron's own default is a tenth.
  'attention-dropout': 0,
  'hidden-dropout': 0,
  'accumulate-allreduce-grads-in-fp32': true,
  'attention-softmax-in-fp32': true,
  'attention-backend': 'flash',
})

/** The flags of slime, without those of the model's shape. */
export const slimeSettings = (job: JobRecipe, limits: JobLimits): Settings => ({
  ...engines(job, limits),
  ...checkpoints(job, limits),
  ...rollouts(job, limits),
  ...algorithm(job),
  ...optimiser(job),
  ...job.cluster.settings,
})

/** The part of the flags that a stand-in reads: those of the loss and of dynamic sampling. */
export function slimeStandInSettings(job: JobRecipe): Settings {
  const { 'entropy-coef': _, ...loss } = algorithm(job)
  return { ...loss, ...sampling(job) }
}

/** Settings as words of a command line. */
export const flagWords = (settings: Settings): readonly string[] =>
  Object.entries(settings).flatMap(([name, value]) => {
    if (value === false) return []
    const words = value === true ? [] : typeof value === 'object' ? value : [String(value)]
    return [`--${name}`, ...words]
  })

/**
 * Name of the script in slime's `scripts/models` that describes a model: by default that of its folder, which slime
 * begins with a small letter (Qwen3-8B is qwen3-8B.sh).
 */
export const architectureOf = ({ cluster, model }: JobRecipe): string =>
  cluster.architecture ?? basename(model).replace(/^./, (letter) => letter.toLowerCase())

/** The model's weights in Megatron's format. */
const weightsOf = ({ cluster, model }: JobRecipe): string =>
  cluster.weights ?? `${model}_torch_dist`

/** Part of a shell script that ends a job with a word unless a file (`-f`) or a folder (`-d`) is there. */
const needs = (test: '-f' | '-d', path: string, word: string): string =>
  `{ [ ${test} ${shellLine([path])} ] || { ${shellLine(['echo', word])} >&2; exit 2; }; }`

/**
 * The command that starts slime: the model's shape is that of slime's own script. What is missing on the machine of the
 * job is said before a GPU is asked for.
 */
export const slimeCommand = (job: JobRecipe, limits: JobLimits): readonly string[] => {
  const { slime, megatron, python } = job.cluster
  const shape = `${slime}/scripts/models/${architectureOf(job)}.sh`
  const weights = weightsOf(job)
  const convert = `source ${shape} && PYTHONPATH=${megatron} ${python} ${slime}/tools/convert_hf_to_torch_dist.py "\${MODEL_ARGS[@]}" --hf-checkpoint ${job.model} --save ${weights}`
  const script = [
    needs('-f', shape, `cluster.slime, cluster.architecture: expected ${shape}, got no such file`),
    `source ${shape}`,
    needs(
      '-d',
      weights,
      `cluster.weights: expected the model in Megatron's form in ${weights}, got none; make it by: ${convert}`,
    ),
    'export PYTHONPATH="$PWD:$PYTHONPATH"',
    `exec ${python} ${slime}/train.py "\${MODEL_ARGS[@]}" "$@"`,
  ].join(' && ')
  return ['bash', '-c', script, 'slime', ...flagWords(slimeSettings(job, limits))]
}

/** What slime's plugin is told to evaluate on. */
export const slimeEvaluation = ({ validated }: JobLimits): object => ({
  heldout: { split: 'heldout', cases: validated },
})
