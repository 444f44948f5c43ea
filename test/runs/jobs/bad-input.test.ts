/** What of a model and of a Ray head is refused before a server, a job or a GPU is asked for. */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { trainJob } from '../../../src/runs/jobs/train-job.js'
import { resolveRecipe } from '../../../src/runs/recipe.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { rayJobs } from '../../../src/trainers/jobs/ray.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-bad-input-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const written = {
  config: '{"max_position_embeddings": 8192}',
  weights: '',
  list: '{"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}',
}

/** A model folder with the tokenizer of a family and some of a model's files. */
function modelOf(name: string, family: string, files: Readonly<Record<string, string>>): string {
  const model = join(folder, name)
  const tokenizer = new URL(`../../fixtures/tokenizers/${family}`, import.meta.url)
  cpSync(fileURLToPath(tokenizer), model, { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(model, path), text)
  return model
}

const whole = { 'config.json': written.config, 'model.safetensors': written.weights }

/** A chat template that leaves the reasoning of earlier replies out. */
const forgets = `{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.role == 'assistant' and not loop.last %}{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`

const out = join(folder, 'run')

/** Trains with a Ray head that is not there, and a server that must not be asked for. */
const trained = (backend: 'slime' | 'verl', model: string) =>
  trainJob(
    resolveRecipe({
      ...{ backend, policy: { model, maxTokens: 16 }, training: { normaliser: 'token-mean' } },
      cases: { clinic: ['upper-airway'], heldOut: 4 },
    }),
    {
      ...{ out, events: trainingEmitter(), signal: new AbortController().signal },
      jobs: rayJobs({ address: 'http://127.0.0.1:1', env: {}, maxRetries: 0 }),
      serve: () => Promise.reject(new Error('a server was asked for')),
    },
  )

describe.each(['slime', 'verl'] as const)('%s', (backend) => {
  test.each<[string, () => string, RegExp]>([
    ['no folder', () => join(folder, 'none'), /expected a folder with config\.json.*hf download/],
    [
      'no weights',
      () => modelOf('bare', 'chatml', { 'config.json': written.config }),
      /policy\.model: expected weights \(model\.safetensors, .*bare`, got config\.json, tokenizer\.json, tokenizer_config\.json; download/,
    ],
    [
      'half of the weights',
      () =>
        modelOf('half', 'chatml', {
          'config.json': written.config,
          'model.safetensors.index.json': written.list,
          'model-1-of-2.safetensors': '',
        }),
      /index\.json names, got none of model-2-of-2\.safetensors; download/,
    ],
    [
      'a list that is none',
      () =>
        modelOf('list', 'chatml', {
          'config.json': written.config,
          'pytorch_model.bin.index.json': '{}',
        }),
      /pytorch_model\.bin\.index\.json.*weight_map/s,
    ],
    [
      'a configuration that is no JSON',
      () => modelOf('broken', 'chatml', { ...whole, 'config.json': '{' }),
      /broken.config\.json/,
    ],
    [
      'no chat template',
      () => modelOf('mute', 'chatml', { ...whole, 'tokenizer_config.json': '{}' }),
      /chat template/,
    ],
    [
      'a template that rewrites history',
      () => modelOf('forgets', 'qwen', { ...whole, 'chat_template.jinja': forgets }),
      /expected a chat template that only adds to a conversation.*bedside template check/s,
    ],
    [
      'a context without room',
      () =>
        modelOf('short', 'chatml', { ...whole, 'config.json': '{"max_position_embeddings": 64}' }),
      /policy\.contextLength: expected more than/,
    ],
    ['a Ray head out of reach', () => modelOf('whole', 'chatml', whole), /http:\/\/127\.0\.0\.1:1/],
  ])('%s', async (_, model, says) => {
    const said = await trained(backend, model()).catch((error: unknown) => error)
    expect(said).toMatchObject({ name: 'Fault', message: expect.stringMatching(says) })
    expect(existsSync(out)).toBe(false)
  })
})
