/** verl's settings of a recipe: overrides of its Hydra configuration `ppo_trainer`. Keys as in verl 0.9.1. */
import type { JobLimits, JobRecipe, Settings } from './job-recipe.js'
import { trainerCheckpoints } from './job-recipe.js'

const estimators: Readonly<Record<string, string>> = {
  ...{ grpo: 'grpo', 'dr-grpo': 'grpo', rloo: 'rloo', gdpo: 'gdpo' },
  'reinforce-plus-plus': 'reinforce_plus_plus',
  'reinforce-plus-plus-baseline': 'reinforce_plus_plus_baseline',
  ...{ opo: 'opo', 'pass-k': 'grpo_passk' },
}

const lossModes = {
  'ppo-clip': 'vanilla',
  'policy-gradient': 'gpg',
  ...{ gspo: 'gspo', cispo: 'cispo', sapo: 'sapo' },
} as const

const aggregations: Readonly<Record<string, string>> = {
  'token-mean': 'token-mean',
  'seq-mean': 'seq-mean-token-mean',
  'seq-mean-token-sum': 'seq-mean-token-sum',
  'dr-grpo': 'seq-mean-token-sum-norm',
  sum: 'token-sum',
}

const klTypes = { k1: 'kl', k2: 'mse', k3: 'low_var_kl' } as const

const actor = 'actor_rollout_ref.actor'
const rollout = 'actor_rollout_ref.rollout'

/** Name of the estimator that takes the advantages of Bedside. */
const ownEstimator = 'bedside'

const corrections = 'algorithm.rollout_correction'

/** What is rejected as too far off policy, and the weights of the rest. */
function offPolicy({ loss: { correction }, offPolicy: rules }: JobRecipe['training']): Settings {
  const reject = rules?.reject ?? []
  const bounds = reject.map(({ measure, min = 0, max }) =>
    measure === 'k1' ? `${min}_${max}` : String(max),
  )
  const named = reject.map(({ measure, over }) =>
    over === 'token' ? `token_${measure}` : `seq_${over}_${measure}`,
  )
  const threshold =
    correction?.mode === 'mask' ? `'${correction.min}_${correction.max}'` : correction?.max
  return {
    ...(correction && threshold !== undefined
      ? {
          [`${corrections}.rollout_is`]: correction.level,
          [`${corrections}.rollout_is_threshold`]: threshold,
        }
      : {}),
    ...(rules?.scaleWeights ? { [`${corrections}.rollout_is_batch_normalize`]: true } : {}),
    ...(reject.length > 0
      ? {
          [`${corrections}.rollout_rs`]: `'${named.join(',')}'`,
          [`${corrections}.rollout_rs_threshold`]: `'${bounds.join(',')}'`,
        }
      : {}),
  }
}

const algorithm = ({ cluster, training }: JobRecipe): Settings => {
  const { advantages } = training
  const own = cluster.advantages === 'bedside'
  return {
    'algorithm.adv_estimator': own ? ownEstimator : (estimators[advantages] ?? advantages),
    ...(own ? {} : { 'algorithm.norm_adv_by_std_in_grpo': advantages !== 'dr-grpo' }),
    'algorithm.use_kl_in_reward': false,
    ...offPolicy(training),
  }
}

const data = (
  { recipe, training }: JobRecipe,
  { promptLength, contextLength }: JobLimits,
): Settings => ({
  'data.train_files': 'train.jsonl',
  'data.val_files': 'heldout.jsonl',
  'data.train_batch_size': training.groupsPerStep,
  'data.max_prompt_length': promptLength,
  'data.max_response_length': contextLength - promptLength,
  // The order of the patients is that of their numbers.
  'data.shuffle': false,
  'data.return_raw_chat': true,
  'data.filter_overlong_prompts': false,
  'data.seed': recipe.seed,
})

const lossSettings = ({ training, policy }: JobRecipe, { maxTurns }: JobLimits): Settings => {
  const { loss, normaliser } = training
  const mode = lossModes[loss.kind as keyof typeof lossModes] // others are refused before
  return {
    [`${actor}.policy_loss.loss_mode`]: mode,
    ...('low' in loss
      ? { [`${actor}.clip_ratio_low`]: loss.low, [`${actor}.clip_ratio_high`]: loss.high }
      : {}),
    ...(loss.kind === 'sapo'
      ? { [`${actor}.tau_pos`]: loss.tauPositive, [`${actor}.tau_neg`]: loss.tauNegative }
      : {}),
    // verl clips losses of negative advantages at 3 unless told otherwise.
    ...(loss.kind === 'ppo-clip' ? { [`${actor}.clip_ratio_c`]: loss.dual ?? 1e9 } : {}),
    [`${actor}.loss_agg_mode`]: aggregations[normaliser] ?? normaliser,
    ...(normaliser === 'dr-grpo'
      ? { [`${actor}.loss_scale_factor`]: maxTurns * policy.maxTokens }
      : {}),
    [`${actor}.entropy_coeff`]: loss.entropy,
    [`${actor}.use_kl_loss`]: loss.kl !== undefined,
    ...(loss.kl
      ? {
          [`${actor}.kl_loss_coef`]: loss.kl.coefficient,
          [`${actor}.kl_loss_type`]: klTypes[loss.kl.estimator],
        }
      : {}),
  }
}

const optimiser = ({ training }: JobRecipe): Settings => {
  const { adam, groupsPerStep, epochs } = training
  const { learningRate, beta1, beta2, epsilon, maxGradNorm, weightDecay, warmup, decay } = adam
  return {
    [`${actor}.ppo_mini_batch_size`]: groupsPerStep,
    [`${actor}.ppo_epochs`]: epochs,
    [`${actor}.optim.lr`]: learningRate,
    [`${actor}.optim.betas`]: `[${beta1},${beta2}]`,
    [`${actor}.optim.weight_decay`]: weightDecay,
    [`${actor}.optim.override_optimizer_config`]: `{eps: ${epsilon}}`,
    // No bound on the norm is a bound beyond reach.
    [`${actor}.optim.clip_grad`]: maxGradNorm ?? 1e9,
    [`${actor}.grad_clip`]: maxGradNorm ?? 1e9,
    [`${actor}.optim.lr_warmup_steps_ratio`]: warmup,
    [`${actor}.optim.lr_scheduler_type`]: decay,
  }
}

const weights = ({ policy, model }: JobRecipe): Settings => ({
  'actor_rollout_ref.model.path': model,
  ...(policy.mode === 'lora'
    ? {
        'actor_rollout_ref.model.lora_rank': policy.rank,
        'actor_rollout_ref.model.lora_alpha': policy.alpha,
        'actor_rollout_ref.model.target_modules': 'all-linear',
        [`${rollout}.load_format`]: 'safetensors',
      }
    : { [`${actor}.checkpoint.save_contents`]: '[model,optimizer,extra,hf_model]' }),
  'actor_rollout_ref.model.enable_gradient_checkpointing': true,
  'actor_rollout_ref.model.use_remove_padding': true,
})

const engines = (
  { cluster, training }: JobRecipe,
  { contextLength, promptLength }: JobLimits,
): Settings => {
  const tokens = cluster.tokensPerGpu ?? contextLength
  return {
    [`${actor}.use_dynamic_bsz`]: true,
    [`${actor}.ppo_max_token_len_per_gpu`]: tokens,
    [`${rollout}.name`]: cluster.inference,
    [`${rollout}.n`]: training.groupSize,
    [`${rollout}.temperature`]: training.temperature,
    [`${rollout}.top_p`]: 1,
    [`${rollout}.top_k`]: -1,
    [`${rollout}.prompt_length`]: promptLength,
    [`${rollout}.response_length`]: contextLength - promptLength,
    [`${rollout}.max_model_len`]: contextLength,
    [`${rollout}.tensor_model_parallel_size`]: cluster.engineGpus,
    [`${rollout}.gpu_memory_utilization`]: 0.6,
    [`${rollout}.calculate_log_probs`]: true,
    [`${rollout}.log_prob_use_dynamic_bsz`]: true,
    [`${rollout}.log_prob_max_token_len_per_gpu`]: tokens,
    'actor_rollout_ref.ref.log_prob_use_dynamic_bsz': true,
    'actor_rollout_ref.ref.log_prob_max_token_len_per_gpu': tokens,
    [`${rollout}.val_kwargs.do_sample`]: false,
    [`${rollout}.val_kwargs.temperature`]: 0,
    [`${rollout}.agent.default_agent_loop`]: 'bedside',
    [`${rollout}.agent.agent_loop_config_path`]: 'agents.yaml',
    [`${rollout}.agent.num_workers`]: 8,
  }
}

const trainer = ({ recipe, training, cluster }: JobRecipe, { out }: JobLimits): Settings => ({
  'trainer.nnodes': cluster.nodes,
  'trainer.n_gpus_per_node': cluster.gpus,
  'trainer.total_epochs': 1,
  'trainer.total_training_steps': training.steps,
  'trainer.save_freq': training.checkpointEvery,
  'trainer.test_freq': training.evaluateEvery,
  'trainer.val_before_train': true,
  'trainer.resume_mode': 'auto',
  'trainer.default_local_dir': trainerCheckpoints(out),
  'trainer.project_name': 'bedside',
  'trainer.experiment_name': recipe.recipe,
  'trainer.logger': '[console]',
})

/** The overrides of verl's configuration, in its own order. */
export const verlSettings = (job: JobRecipe, limits: JobLimits): Settings => ({
  ...algorithm(job),
  ...data(job, limits),
  ...lossSettings(job, limits),
  ...optimiser(job),
  ...weights(job),
  ...engines(job, limits),
  ...trainer(job, limits),
  ...job.cluster.settings,
})

/** The part of the settings that a stand-in reads: all but files, engines and machines. */
export function verlStandInSettings(job: JobRecipe, limits: JobLimits): Settings {
  const read = { ...algorithm(job), ...lossSettings(job, limits), ...optimiser(job) }
  return { ...read, [`${rollout}.temperature`]: job.training.temperature }
}

const hydraText = (value: Settings[string]): string =>
  value === true ? 'True' : value === false ? 'False' : String(value)

/** Settings as words of a command line. */
export const hydraWords = (settings: Settings): readonly string[] =>
  Object.entries(settings).map(([key, value]) => `${key}=${hydraText(value)}`)

/**
 * The command that checks a job where it runs (settings, rows, server, tokenizer), before a GPU is asked for, and then
 * starts verl's trainer with the same settings.
 */
export const verlCommand = (job: JobRecipe, limits: JobLimits): readonly string[] => {
  const { python } = job.cluster
  const script = `${python} -m bedside_trainers.verl.check "$@" && exec ${python} -m verl.trainer.main_ppo "$@"`
  return ['bash', '-c', script, 'verl', ...hydraWords(verlSettings(job, limits))]
}
