/** The overrides of a recipe, composed by the Hydra of a real verl: an unknown key or a value of another type is refused. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readRecipe } from '../../../src/runs/directory.js'
import { jobRecipe } from '../../../src/runs/jobs/job-recipe.js'
import { hydraWords, verlSettings } from '../../../src/runs/jobs/verl-settings.js'

const python = fileURLToPath(new URL('../../../.venvs/verl/bin/python', import.meta.url))

const compose = `
import importlib.util, json, sys, os
from hydra import compose, initialize_config_dir
# Without importing it, which takes a minute on a busy machine.
folder = os.path.join(importlib.util.find_spec("verl").submodule_search_locations[0], "trainer", "config")
with initialize_config_dir(config_dir=folder, version_base=None):
    config = compose("ppo_trainer", overrides=json.loads(sys.argv[1]))
actor, rollout = config.actor_rollout_ref.actor, config.actor_rollout_ref.rollout
print(json.dumps({"n": rollout.n, "low": actor.clip_ratio_low, "high": actor.clip_ratio_high, "entropy": actor.entropy_coeff,
  "betas": list(actor.optim.betas), "eps": actor.optim.override_optimizer_config.eps, "steps": config.trainer.total_training_steps,
  "agent": rollout.agent.default_agent_loop, "estimator": config.algorithm.adv_estimator, "rank": config.actor_rollout_ref.model.lora_rank}))
`

/** verl's own check at the start of its trainer, for every job of a JSON object of overrides. */
const validate = `
import json, os, sys
import verl
from hydra import compose, initialize_config_dir
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.utils.config import validate_config
folder = os.path.join(os.path.dirname(verl.__file__), "trainer", "config")
said = {}
for name, overrides in json.load(sys.stdin).items():
    with initialize_config_dir(config_dir=folder, version_base=None):
        config = compose("ppo_trainer", overrides=overrides)
    try:
        validate_config(config, need_reference_policy(config), need_critic(config))
        said[name] = "valid"
    except Exception as error:
        said[name] = repr(error)
print(json.dumps(said))
`

const composed = (overrides: readonly string[]): unknown => {
  const env = { ...process.env, TORCH_COMPILE_DISABLE: '1' }
  const said = execFileSync(python, ['-c', compose, JSON.stringify(overrides)], {
    env,
    stdio: 'pipe',
  })
  return JSON.parse(String(said).trim().split('\n').at(-1) ?? '')
}

// Without it: `scripts/python-env.sh verl`.
test.skipIf(!existsSync(python))(
  'the configuration of the shipped recipe is one of verl',
  async () => {
    const recipe = await readRecipe('examples/takes-two/doctor-1gpu.yaml')
    const limits = {
      out: '/a',
      contextLength: 8192,
      promptLength: 1024,
      maxTurns: 10,
      validated: 64,
    }
    const words = hydraWords(verlSettings(jobRecipe(recipe, resolve), limits))
    expect(composed(words)).toEqual({
      ...{ n: 8, low: 0.2, high: 0.28, entropy: 0.001, betas: [0.9, 0.95], eps: 1e-8, steps: 55 },
      ...{ agent: 'bedside', estimator: 'bedside', rank: 64 },
    })
    expect(() => composed([...words, 'trainer.no_such_key=1'])).toThrow(/no_such_key/)
  },
  180_000,
)

test.skipIf(!existsSync(python))(
  'every preset of all weights passes the check with which the trainer of verl begins',
  async () => {
    const limits = {
      out: '/a',
      contextLength: 16384,
      promptLength: 1024,
      maxTurns: 10,
      validated: 64,
    }
    const jobs: Record<string, readonly string[]> = {}
    for (const name of readdirSync('examples', { recursive: true, encoding: 'utf8' })) {
      if (!/8gpu.*\.yaml$/.test(name)) continue
      const recipe = await readRecipe(`examples/${name}`)
      if (recipe.backend === 'verl')
        jobs[name] = hydraWords(verlSettings(jobRecipe(recipe, resolve), limits))
    }
    expect(Object.keys(jobs).length).toBeGreaterThanOrEqual(5)
    const known = Object.keys(jobs)[0] ?? ''
    const wrong = [...(jobs[known] ?? []), 'actor_rollout_ref.actor.loss_agg_mode=none-such']
    const said = execFileSync(python, ['-c', validate], {
      ...{ env: { ...process.env, TORCH_COMPILE_DISABLE: '1' }, stdio: ['pipe', 'pipe', 'pipe'] },
      input: JSON.stringify({ ...jobs, wrong }),
    })
    const found = JSON.parse(String(said).trim().split('\n').at(-1) ?? '')
    expect(found).toEqual({
      ...Object.fromEntries(Object.keys(jobs).map((name) => [name, 'valid'])),
      wrong: expect.stringContaining('none-such'),
    })
  },
  300_000,
)
