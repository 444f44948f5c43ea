import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { objectiveKinds } from '../../src/batch.js'
import { questionCase } from '../../src/cases/importers/huatuo.js'
import { splitCases } from '../../src/cases/split.js'
import { readRecipe } from '../../src/runs/directory.js'
import { parseRecipe, type Recipe, StoredRecipe } from '../../src/runs/recipe.js'
import { taskOf } from '../../src/runs/task-of-recipe.js'

const trainingOf = (training: object) => parseRecipe(stringify({ training }), 'r.yaml').training
const lossOf = (loss: object) => {
  const training = trainingOf({ loss })
  return training.algorithm === 'sft' ? undefined : training.loss
}
const messageOf = (text: string, overrides: readonly string[] = []): string => {
  try {
    parseRecipe(text, 'r.yaml', overrides)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'nothing'
}

describe('a recipe', () => {
  test('that is empty is the default one, resolved', () => {
    const recipe = parseRecipe('', 'empty.yaml')
    expect(recipe).toMatchObject({
      seed: 0,
      language: 'en',
      backend: 'embedded',
      training: { groupSize: 8 },
    })
  })

  test.each([
    ['', 'grpo'],
    ['training: { algorithm: ppo }', 'ppo'],
    ['training: { algorithm: sft }', 'sft'],
    ['training: { loss: { kind: sapo } }', 'sapo'],
    ['backend: sidecar', 'sidecar'],
  ])('resolved is a recipe again: %s', (text) => {
    const recipe = parseRecipe(text, 'r.yaml')
    expect(parseRecipe(stringify(recipe), 'again.yaml')).toEqual(recipe)
  })

  test('has the keys of its algorithm alone', () => {
    const keysOf = (algorithm: string) => new Set(Object.keys(trainingOf({ algorithm })))
    const [grpo, ppo, sft] = ['grpo', 'ppo', 'sft'].map(keysOf) as [
      Set<string>,
      Set<string>,
      Set<string>,
    ]
    for (const [key, owners] of Object.entries({
      groupSize: [grpo],
      groupsPerStep: [grpo],
      episodesEvery: [grpo, ppo],
      loss: [grpo, ppo],
      temperature: [grpo, ppo],
      ppo: [ppo],
      sft: [sft],
      adam: [grpo, ppo, sft],
    }))
      expect(
        [grpo, ppo, sft].filter((keys) => keys.has(key)),
        key,
      ).toEqual(owners)
  })

  test('has a language model where its backend has one', () => {
    const { policy } = parseRecipe('backend: sidecar', 'r.yaml')
    expect(policy).toMatchObject({ engine: 'peft', maxTokens: 128 })
    expect(parseRecipe('', 'r.yaml').policy).toBeUndefined()
  })
})

describe('the loss of a recipe', () => {
  test('has the constants of its kind, and no other', () => {
    const plain = { entropy: 0 }
    const bounds = { low: 0.2, high: 0.28 }
    expect(Object.fromEntries(objectiveKinds.map((kind) => [kind, lossOf({ kind })]))).toEqual({
      'policy-gradient': { kind: 'policy-gradient', ...plain },
      'importance-sampling': { kind: 'importance-sampling', ...plain },
      'cross-entropy': { kind: 'cross-entropy', ...plain },
      'ppo-clip': { kind: 'ppo-clip', ...bounds, ...plain },
      cispo: { kind: 'cispo', ...bounds, ...plain },
      gspo: { kind: 'gspo', ...bounds, ...plain },
      sapo: { kind: 'sapo', tauPositive: 1, tauNegative: 1.05, ...plain },
    })
  })

  test('has its penalty and its correction', () => {
    expect(lossOf({ dual: 3, kl: { coefficient: 0.1 }, correction: { max: 2 } })).toEqual({
      ...{ kind: 'ppo-clip', low: 0.2, high: 0.28, dual: 3, entropy: 0 },
      kl: { estimator: 'k3', coefficient: 0.1 },
      correction: { level: 'token', mode: 'truncate', min: 0, max: 2 },
    })
  })
})

describe('--set', () => {
  test('overrides a path, its value read as YAML', () => {
    const recipe = parseRecipe('seed: 1', 'r.yaml', [
      'seed=7',
      'training.loss.entropy=0.01',
      'cases.clinic=[bowel]',
    ])
    expect(recipe).toMatchObject({ seed: 7, training: { loss: { entropy: 0.01 } } })
    expect(recipe.cases.clinic).toEqual(['bowel'])
  })

  test('without a value is refused', () => {
    expect(() => parseRecipe('', 'r.yaml', ['seed'])).toThrow(
      '--set: expected path=value, got `seed`',
    )
  })

  test('to another algorithm refuses the keys that were written for the old one, no defaults', () => {
    const text = 'training:\n  steps: 3\n  groupSize: 4\n  loss: { entropy: 0.1 }\n'
    expect(messageOf(text, ['training.algorithm=sft']).split('\n')).toEqual([
      'r.yaml:3: training.groupSize: has no effect under algorithm `sft` (it belongs to grpo), got `4`',
      'r.yaml:4: training.loss: has no effect under algorithm `sft` (it belongs to grpo, ppo), got `{"entropy":0.1}`',
    ])
    expect(
      parseRecipe('training: { steps: 3 }', 'r.yaml', ['training.algorithm=sft']),
    ).toMatchObject({ training: { algorithm: 'sft', steps: 3, sft: { agent: 'oracle' } } })
  })

  test('replaces a whole part', () => {
    const text = 'training:\n  groupSize: 4\n'
    const over = 'training={algorithm: sft, sft: {cases: 9}}'
    expect(parseRecipe(text, 'r.yaml', [over])).toMatchObject({ training: { sft: { cases: 9 } } })
  })
})

describe('is refused with file, line, path and value:', () => {
  test.each([
    [
      'an unknown key',
      'seed: 1\ntrainng:\n  steps: 3\n',
      /^r\.yaml:\d+: trainng: unknown key trainng \(did you mean `training`\?\), got `{"steps":3}`$/,
    ],
    [
      'a misspelt key within',
      'training:\n  adam:\n    lerningRate: 0.1\n',
      /^r\.yaml:3: training\.adam\.lerningRate: .*\(did you mean `training\.adam\.learningRate`\?\), got `0.1`$/,
    ],
    [
      'a misspelt key of a list',
      'cases:\n  curriculum:\n    - { tier: easy, step: 3 }\n',
      /^r\.yaml:3: cases\.curriculum\.0\.step: .*\(did you mean `cases\.curriculum\.0\.steps`\?\)/m,
    ],
    [
      'a stage of a curriculum that names no other cases',
      'cases:\n  curriculum:\n    - { steps: 3 }\n',
      /^r\.yaml:3: cases\.curriculum\.0: expected `tier` or `maxTurns`.*got neither/m,
    ],
    [
      'a number of endings below 0',
      'training:\n  endings: -1\n',
      /^r\.yaml:2: training\.endings: .*got `-1`/m,
    ],
    [
      'corrections that would teach the wrong reply',
      'training:\n  corrections: -1\n',
      /^r\.yaml:2: training\.corrections: .*got `-1`/m,
    ],
    [
      'a key at the wrong place',
      'learningRate: 0.1\n',
      /^r\.yaml:1: learningRate: .*\(did you mean `training\.adam\.learningRate`\?\)/,
    ],
    ['a key like no other', 'xyzzy: 1\n', /^r\.yaml:1: xyzzy: unknown key xyzzy, got `1`$/],
    [
      'a wrong value',
      'training:\n  steps: many\n',
      /^r\.yaml:2: training\.steps: .*expected number.*got `"many"`/,
    ],
    [
      'a held-out share that leaves nobody to train on',
      'cases:\n  heldOutShare: 1\n',
      /^r\.yaml:2: cases\.heldOutShare: .*, got `1`$/,
    ],
    [
      'a seed beyond 32 bits',
      'seed: 4294967296\n',
      /^r\.yaml:1: seed: .*4294967295.*, got `4294967296`$/,
    ],
    [
      'a seed of the split beyond 32 bits',
      'cases:\n  splitSeed: -1\n',
      /^r\.yaml:2: cases\.splitSeed: .*0.*, got `-1`$/,
    ],
    [
      'a wrong choice',
      'training:\n  advantages: ppo\n',
      /training\.advantages: .*"dr-grpo".*got `"ppo"`/,
    ],
    [
      'an algorithm that does not exist',
      'training:\n  algorithm: dpo\n',
      /^r\.yaml:2: training\.algorithm: .*'grpo' \| 'ppo' \| 'sft', got `"dpo"`$/,
    ],
    [
      'a constant of another loss',
      'training:\n  loss:\n    kind: ppo-clip\n    tauPositive: 2\n',
      /^r\.yaml:4: training\.loss\.tauPositive: has no effect under loss `ppo-clip` \(it belongs to sapo\), got `2`$/,
    ],
    [
      'bounds of a loss without any',
      'training: { loss: { kind: sapo, low: 0.1 } }\n',
      /: has no effect under loss `sapo` \(it belongs to ppo-clip, cispo, gspo\), got `0.1`$/,
    ],
    [
      'settings of PPO under the default algorithm',
      'training:\n  ppo: { gamma: 1 }\n',
      /^r\.yaml:2: training\.ppo: has no effect under algorithm `grpo` \(it belongs to ppo\)/,
    ],
    [
      'a language model under a backend without one',
      'policy:\n  model: models/tiny\n',
      /^r\.yaml:2: policy: has no effect under backend `embedded` \(it belongs to sidecar, slime, verl\), got/,
    ],
    [
      'a setting of a server that is not started',
      'backend: sidecar\npolicy:\n  url: http://localhost:8000\n  engine: unsloth\n',
      /^r\.yaml:4: policy\.engine: has no effect beside `url`, got `"unsloth"`$/,
    ],
    [
      'a doctor beside demonstrations of a file',
      'training: { algorithm: sft, sft: { demonstrations: a.jsonl, agent: random } }\n',
      /^r\.yaml:1: training\.sft\.agent: has no effect beside `demonstrations`, got `"random"`$/,
    ],
    [
      'parts that do not exist, all at once',
      'reward: defualt\nenv: { patient: ruel }\n',
      /^r\.yaml:1: reward: expected .*did you mean `default`.*\nr\.yaml:2: env\.patient: /,
    ],
    [
      'a training that is none',
      'training: 5\n',
      /^r\.yaml:1: training: .*expected object.*got `5`$/,
    ],
    ['a recipe that is none', '- 1\n', /^r\.yaml:1: recipe: .*expected object, received array/],
    ['broken YAML', 'seed: [1\n', /^r\.yaml: .*line 2/],
  ])('%s', (_, text, message) => {
    expect(messageOf(text)).toMatch(message)
  })

  test('all problems at once, of the keys and the values', () => {
    const text = 'seed: x\npolicy: {}\ntraining:\n  stps: 3\n  groupSize: 1\n'
    expect(
      messageOf(text)
        .split('\n')
        .map((line) => line.split(': ')[1])
        .sort(),
    ).toEqual(['policy', 'seed', 'training.groupSize', 'training.stps'])
  })

  test('the first ten of many, and how many more there are', () => {
    const text = Array.from({ length: 14 }, (_, n) => `wrong${n}: 1\n`).join('')
    const lines = messageOf(text).split('\n')
    expect(lines).toHaveLength(11)
    expect(lines[9]).toMatch(/^r\.yaml:10: wrong9: /)
    expect(lines[10]).toBe('… and 4 more')
  })
})

describe('a recipe that an earlier version stored', () => {
  /** Every key there was, as it was resolved then. */
  const stored = (over: object) => ({
    training: {
      ...{ algorithm: 'grpo', steps: 60, groupsPerStep: 16, groupSize: 16, advantages: 'dr-grpo' },
      ...{ groups: { truncated: 'keep' }, maxStaleness: 0, normaliser: 'token-mean' },
      loss: {
        ...{ kind: 'ppo-clip', low: 0.2, high: 0.28 },
        ...{ tauPositive: 1, tauNegative: 1.05, entropy: 0.01 },
      },
      adam: { learningRate: 0.05, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 },
      ...{ epochs: 2, temperature: 1, concurrency: 16, evaluateEvery: 25, episodesEvery: 50 },
      ppo: { episodesPerStep: 64, minibatches: 4, gamma: 1 },
      sft: { agent: 'oracle', cases: 400, times: 1, episodesPerStep: 32 },
      ...over,
    },
    policy: { engine: 'peft', mode: 'lora', rank: 16 },
  })
  const read = (value: object) =>
    parseRecipe(stringify(value), 'config.yaml', [], { schema: StoredRecipe })

  test('is read without the keys that have no effect, whatever they hold', () => {
    const grpo = read(stored({}))
    expect(grpo).toEqual(
      parseRecipe(
        stringify({
          training: {
            ...{ steps: 60, groupsPerStep: 16, groupSize: 16, normaliser: 'token-mean', epochs: 2 },
            ...{ loss: { entropy: 0.01 }, evaluateEvery: 25 },
          },
        }),
        'r.yaml',
      ),
    )
    const sft = read(stored({ algorithm: 'sft' })).training
    expect(sft).toEqual(
      trainingOf({ algorithm: 'sft', steps: 60, normaliser: 'token-mean', evaluateEvery: 25 }),
    )
    expect(
      read(stored({ loss: { kind: 'sapo', low: 0.2, tauPositive: 2 } })).training,
    ).toMatchObject({ loss: { kind: 'sapo', tauPositive: 2 } })
  })

  test('is read without the keys that have no effect beside another', () => {
    const sft = { demonstrations: 'a.jsonl', agent: 'random', times: 3, episodesPerStep: 8 }
    const { training } = read({ training: { algorithm: 'sft', sft } })
    expect(training).toMatchObject({ sft: { agent: 'oracle', times: 1, episodesPerStep: 8 } })
  })

  test('splits its case file as it did, by the seed and each case by chance', async () => {
    const cases = Array.from({ length: 60 }, (_, n) => questionCase(`Question ${n}?`, `D ${n % 6}`))
    const heldOutOf = async (recipe: Recipe) =>
      (await taskOf(recipe, { cases })).heldOut.map(({ id }) => id)
    const old = { seed: 3, env: { name: 'question' }, cases: { file: 'a.jsonl' } }
    const split = splitCases(cases, { seed: 3, exact: false }).heldout
    expect(await heldOutOf(read(old))).toEqual(split.map(({ id }) => id))
    // Stored again, or evaluated with another seed, the recipe keeps that split.
    expect(read(read(old))).toEqual(read(old))
    expect(await heldOutOf({ ...read(old), seed: 9 })).toEqual(split.map(({ id }) => id))
    const fresh = parseRecipe(stringify(old), 'r.yaml')
    expect(fresh.cases).toMatchObject({ splitSeed: 0, exactSplit: true })
    expect(read(fresh)).toEqual(fresh)
    expect(await heldOutOf(fresh)).toHaveLength(12)
  })

  test('keeps the language model of a backend that has one', () => {
    const recipe = read({ ...stored({}), backend: 'sidecar' })
    expect(recipe.policy).toMatchObject({ rank: 16 })
  })

  test('is not read where a key was never one, or a value never fitted', () => {
    expect(() => read(stored({ grupSize: 3 }))).toThrow('training.grupSize: unknown key')
    expect(() => read(stored({ groupSize: 1 }))).toThrow('training.groupSize: ')
    // Nor is one that somebody writes today.
    expect(() => parseRecipe(stringify(stored({})), 'r.yaml')).toThrow('it belongs to')
  })
})

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
test.each(
  readdirSync(examples, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort(),
)('examples/%s is a recipe', (name) => {
  const path = join(examples, name)
  expect(parseRecipe(readFileSync(path, 'utf8'), path)).toHaveProperty('training.steps')
})

describe('readRecipe', () => {
  test("finds the package's own recipe where the current folder has none", async () => {
    const here = process.cwd()
    const folder = await mkdtemp(join(tmpdir(), 'bedside-recipe-'))
    try {
      process.chdir(folder)
      expect((await readRecipe('examples/demo/recipe.yaml')).recipe).toBe('demo')
      await mkdir(join(folder, 'examples/demo'), { recursive: true })
      await writeFile(join(folder, 'examples/demo/recipe.yaml'), 'recipe: mine\n')
      expect((await readRecipe('examples/demo/recipe.yaml')).recipe).toBe('mine')
      await expect(readRecipe('examples/none.yaml')).rejects.toThrow('examples/none.yaml')
    } finally {
      process.chdir(here)
      await rm(folder, { recursive: true })
    }
  })
})
