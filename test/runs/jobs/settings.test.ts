import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jobRecipe } from '../../../src/runs/jobs/job-recipe.js'
import { jobVariables } from '../../../src/runs/jobs/plan.js'
import { slimeCommand, slimeSettings } from '../../../src/runs/jobs/slime-settings.js'
import { verlCommand, verlSettings } from '../../../src/runs/jobs/verl-settings.js'
import { type RecipeInput, resolveRecipe } from '../../../src/runs/recipe.js'

const limits = {
  out: '/runs/a',
  contextLength: 4096,
  promptLength: 512,
  maxTurns: 10,
  validated: 64,
}

type Training = Extract<RecipeInput['training'], { advantages?: unknown }>

const job = (backend: 'slime' | 'verl', training: Training = {}, rest: Partial<RecipeInput> = {}) =>
  jobRecipe(
    resolveRecipe({
      ...{ backend, policy: { model: '/models/qwen3-8B', maxTokens: 256, contextLength: 4096 } },
      training: { normaliser: 'token-mean', ...training },
      ...rest,
    }),
    resolve,
  )

const messageOf = (...given: Parameters<typeof job>): string => {
  try {
    job(...given)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

describe('verl', () => {
  test('is told the loss, the groups and the lengths of a recipe', () => {
    const settings = verlSettings(
      job('verl', {
        ...{ groupsPerStep: 16, groupSize: 8, normaliser: 'dr-grpo', temperature: 0.9 },
        loss: { kind: 'ppo-clip', low: 0.1, high: 0.3, kl: { coefficient: 0.01 } },
        adam: { learningRate: 1e-6, decay: 'cosine' },
      }),
      limits,
    )
    expect(settings).toMatchObject({
      'data.train_batch_size': 16,
      'data.max_response_length': 3584,
      'actor_rollout_ref.rollout.n': 8,
      'actor_rollout_ref.rollout.temperature': 0.9,
      'actor_rollout_ref.actor.clip_ratio_low': 0.1,
      'actor_rollout_ref.actor.clip_ratio_high': 0.3,
      'actor_rollout_ref.actor.loss_agg_mode': 'seq-mean-token-sum-norm',
      'actor_rollout_ref.actor.loss_scale_factor': 2560,
      'actor_rollout_ref.actor.kl_loss_type': 'low_var_kl',
      'actor_rollout_ref.actor.optim.lr': 1e-6,
      'actor_rollout_ref.actor.optim.lr_scheduler_type': 'cosine',
      'algorithm.adv_estimator': 'bedside',
    })
    // verl clips at 3 unless told otherwise, and the recipe has no dual clip.
    expect(settings['actor_rollout_ref.actor.clip_ratio_c']).toBeGreaterThan(1e6)
  })

  test('is told what is rejected as off policy, and how the rest is weighed', () => {
    const settings = verlSettings(
      job('verl', {
        normaliser: 'seq-mean-token-sum',
        loss: { kind: 'gspo', correction: { level: 'sequence', max: 2 } },
        offPolicy: {
          scaleWeights: true,
          reject: [
            { measure: 'k1', over: 'mean', min: 0.8, max: 1.25 },
            { measure: 'k3', over: 'max', max: 0.4 },
            { measure: 'k2', over: 'token', max: 0.1 },
          ],
        },
      }),
      limits,
    )
    expect(settings).toMatchObject({
      'actor_rollout_ref.actor.loss_agg_mode': 'seq-mean-token-sum',
      'algorithm.rollout_correction.rollout_is': 'sequence',
      'algorithm.rollout_correction.rollout_is_threshold': 2,
      'algorithm.rollout_correction.rollout_is_batch_normalize': true,
      'algorithm.rollout_correction.rollout_rs': "'seq_mean_k1,seq_max_k3,token_k2'",
      'algorithm.rollout_correction.rollout_rs_threshold': "'0.8_1.25,0.4,0.1'",
    })
  })

  test('is checked where it runs, by the same settings, before its trainer starts', () => {
    const [shell, flag, script = '', name, ...words] = verlCommand(job('verl'), limits)
    expect([shell, flag, name]).toEqual(['bash', '-c', 'verl'])
    expect(script).toBe(
      'python3 -m bedside_trainers.verl.check "$@" && exec python3 -m verl.trainer.main_ppo "$@"',
    )
    expect(words).toContain('actor_rollout_ref.rollout.n=8')
  })

  test('computes its own advantages where the recipe says so, and further settings win', () => {
    const cluster = {
      advantages: 'trainer',
      settings: { 'trainer.logger': '[console,wandb]' },
    } as const
    const settings = verlSettings(job('verl', { advantages: 'dr-grpo' }, { cluster }), limits)
    expect(settings).toMatchObject({
      'algorithm.adv_estimator': 'grpo',
      'algorithm.norm_adv_by_std_in_grpo': false,
      'trainer.logger': '[console,wandb]',
    })
    const places = { url: 'http://a', tokenFile: '/t', metrics: '/m' }
    const own = jobVariables(job('verl', {}, { cluster }), limits, places)
    expect(own).not.toHaveProperty('BEDSIDE_ADVANTAGE')
    const ours = jobVariables(job('verl', { advantages: 'rloo' }), limits, places)
    expect(JSON.parse(ours.BEDSIDE_ADVANTAGE ?? '')).toEqual({ name: 'rloo' })
  })
})

describe('slime', () => {
  test('is told the loss, the groups and the lengths of a recipe', () => {
    const settings = slimeSettings(
      job('slime', {
        ...{ groupsPerStep: 32, groupSize: 8, resampleMost: 64 },
        loss: {
          ...{ kind: 'ppo-clip', dual: 3 },
          correction: { level: 'token', mode: 'truncate', max: 2 },
        },
      }),
      limits,
    )
    expect(settings).toMatchObject({
      'rollout-batch-size': 32,
      'n-samples-per-prompt': 8,
      'global-batch-size': 256,
      'over-sampling-batch-size': 64,
      'eps-clip': 0.2,
      'eps-clip-high': 0.28,
      'eps-clip-c': 3,
      'use-tis': true,
      'tis-clip': 2,
      'calculate-per-token-loss': true,
      'custom-reward-post-process-path': 'bedside_trainers.slime.reward_post_process',
    })
    // Its advantages come from the post-process: whitening them would be a second normalisation.
    expect(settings).not.toHaveProperty('normalize-advantages')
  })

  test('is told of masks by sequence, of KL times the ratio and of a dual clip', () => {
    const settings = slimeSettings(
      job('slime', {
        loss: {
          ...{ kind: 'gspo', dual: 3, offPolicyMask: { threshold: 0.01, behaviour: 'old' } },
          kl: { estimator: 'k3', coefficient: 0.01, ratio: true },
        },
      }),
      limits,
    )
    expect(settings).toMatchObject({
      ...{ 'advantage-estimator': 'gspo', 'eps-clip-c': 3, 'use-opsm': true, 'opsm-delta': 0.01 },
      ...{ 'kl-loss-type': 'low_var_kl', 'use-unbiased-kl': true },
    })
  })

  test('takes the shape of the model from its own script', () => {
    const words = slimeCommand(job('slime'), limits)
    expect(words[2]).toContain('/scripts/models/qwen3-8B.sh')
    const policy = { model: '/models/Qwen3-32B', maxTokens: 256, contextLength: 4096 }
    // slime's files begin with a small letter and keep the others.
    expect(slimeCommand(job('slime', {}, { policy }), limits)[2]).toContain('/models/qwen3-32B.sh')
    const named = slimeCommand(job('slime', {}, { cluster: { architecture: 'glm4-9B' } }), limits)
    expect(named[2]).toContain('/scripts/models/glm4-9B.sh')
    expect(words).toContain('--colocate')
  })

  test('whitens where its own REINFORCE++ asks for it, which it refuses to do without', () => {
    const cluster = { advantages: 'trainer' } as const
    const own = { advantages: 'reinforce-plus-plus-baseline' } as const
    expect(slimeSettings(job('slime', own, { cluster }), limits)).toMatchObject({
      'advantage-estimator': 'reinforce_plus_plus_baseline',
      'normalize-advantages': true,
    })
  })

  test.skipIf(process.platform === 'win32')(
    'says what is missing where its job runs, and how it is made',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'bedside-slime-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const cluster = { slime: folder, python: 'echo started', weights: join(folder, 'weights') }
      const run = () => {
        const [shell = '', ...words] = slimeCommand(job('slime', {}, { cluster }), limits)
        const { status, stdout, stderr } = spawnSync(shell, words, { encoding: 'utf8' })
        return { status, said: stdout + stderr }
      }
      expect(run()).toEqual({
        status: 2,
        said: expect.stringContaining(`expected ${folder}/scripts/models/qwen3-8B.sh, got no such`),
      })
      mkdirSync(join(folder, 'scripts/models'), { recursive: true })
      writeFileSync(join(folder, 'scripts/models/qwen3-8B.sh'), 'MODEL_ARGS=(--num-layers 36)\n')
      const { status, said } = run()
      expect(status).toBe(2)
      expect(said).toContain(`in ${folder}/weights, got none; make it by: source ${folder}/scripts`)
      expect(said).toContain('MODEL_ARGS[@]}" --hf-checkpoint /models/qwen3-8B')
      mkdirSync(join(folder, 'weights'))
      expect(run()).toEqual({
        status: 0,
        said: expect.stringContaining(`started ${folder}/train.py --num-layers 36 --actor-num`),
      })
    },
  )
})

describe('a recipe that contradicts itself is refused', () => {
  test.each<[string, Parameters<typeof job>]>([
    ['training.groupsPerStep', ['slime', { groupsPerStep: 3, groupSize: 3 }]],
    ['training.normaliser', ['slime', { normaliser: 'dr-grpo' }]],
    ['training.normaliser', ['verl', { normaliser: 'rollout-mean' }]],
    ['training.epochs', ['slime', { epochs: 2 }]],
    ['training.offPolicy', ['slime', { offPolicy: { scaleWeights: true } }]],
    [
      'training.loss.offPolicyMask.behaviour',
      ['slime', { loss: { kind: 'ppo-clip', offPolicyMask: { threshold: 1 } } }],
    ],
    [
      'training.loss.offPolicyMask',
      ['verl', { loss: { kind: 'ppo-clip', offPolicyMask: { threshold: 1 } } }],
    ],
    [
      'training.loss.kl.ratio',
      ['verl', { loss: { kind: 'ppo-clip', kl: { coefficient: 1, ratio: true } } }],
    ],
    ['training.loss.dual', ['verl', { loss: { kind: 'gspo', dual: 3 } }]],
    [
      'training.loss.correction.level',
      ['verl', { loss: { kind: 'gspo', correction: { level: 'geometric', max: 2 } } }],
    ],
    [
      'training.loss.entropyOver',
      ['verl', { normaliser: 'sum', loss: { kind: 'gspo', entropy: 0.1, entropyOver: 'tokens' } }],
    ],
    ['training.maxStaleness', ['verl', { maxStaleness: 2 }]],
    ['training.resampleMost', ['verl', { resampleMost: 64 }]],
    ['training.endings', ['slime', { endings: 2 }]],
    ['training.hindsight', ['verl', { hindsight: {} }]],
    ['training.corrections', ['slime', { corrections: 1 }]],
    ['training.resampleMost', ['slime', { resampleMost: 8 }]],
    ['training.loss.kind', ['slime', { loss: { kind: 'sapo' } }]],
    ['training.adam.decay', ['verl', { adam: { decay: 'linear' } }]],
    ['training.advantages', ['slime', { advantages: 'remax' }]],
    [
      'training.advantages',
      ['slime', { advantages: 'gdpo' }, { cluster: { advantages: 'trainer' } }],
    ],
    ['cluster.inference', ['slime', {}, { cluster: { inference: 'sglang' } }]],
    ['cluster.engineGpus', ['verl', {}, { cluster: { engineGpus: 3 } }]],
    ['cluster.tokensPerGpu', ['verl', {}, { cluster: { tokensPerGpu: 1000 } }]],
    ['policy.mode', ['slime', {}, { policy: { model: 'm', mode: 'lora' } }]],
    ['policy.engine', ['verl', {}, { policy: { model: 'm', engine: 'unsloth' } }]],
    [
      'policy.maxTokens',
      ['verl', {}, { policy: { model: 'm', maxTokens: 99, contextLength: 99 } }],
    ],
    ['init', ['verl', {}, { init: 'runs/a/checkpoints/best' }]],
    ['cases.curriculum', ['verl', {}, { cases: { curriculum: [{ tier: 'easy', steps: 1 }] } }]],
  ])('%s', (path, given) => {
    expect(messageOf(...given)).toMatch(new RegExp(`^the recipe: ${path.replaceAll('.', '\\.')}: `))
  })

  test('and `cluster` under a backend that runs no job', () => {
    expect(() => resolveRecipe({ cluster: {} })).toThrow(/cluster: has no effect under backend/)
    expect(() => resolveRecipe({ backend: 'verl', training: { algorithm: 'ppo' } })).toThrow(
      /training.algorithm: expected grpo/,
    )
  })
})
