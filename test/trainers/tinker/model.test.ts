import { describe, expect, test } from 'vitest'
import { adam, faultOf, ppo, someData, tinkerClients } from '../../fixtures/tinker-client.js'
import type { ServerOptions } from '../../fixtures/tinker-server.js'

const { client } = tinkerClients()

const crossEntropy = { name: 'cross_entropy' }

describe('a model', () => {
  test('is asked for by the route of our own that says what became of it', async () => {
    const { service, bodies } = await client()
    const plain = await service.createModel({ rank: 4, seed: 9, alpha: 8 })
    const full = await service.createModel({ mode: 'full' })
    expect([plain.modelId, full.modelId]).toEqual(['s0:train:0', 's0:train:1'])
    expect(plain.notes).toEqual(['made of a table'])
    const ids = { session_id: 's0', base_model: 'tiny' }
    const trained = { train_attn: true, train_mlp: true, train_unembed: false, head: 'language' }
    expect(bodies('/ext/v1/create_model')).toEqual([
      { ...ids, model_seq_id: 0, spec: { mode: 'lora', rank: 4, seed: 9, alpha: 8, ...trained } },
      { ...ids, model_seq_id: 1, spec: { mode: 'full', rank: 16, seed: 0, ...trained } },
    ])
    expect(bodies('/api/v1/create_model')).toEqual([])
  })

  test('is asked for by the wire of others', async () => {
    const { service, bodies } = await client({}, { profile: 'skyrl-fsdp' })
    const model = await service.createModel({ rank: 4, trainMlp: false })
    expect(model.modelId).toBe('s0:train:0')
    const lora_config = {
      rank: 4,
      seed: 0,
      train_attn: true,
      train_mlp: false,
      train_unembed: false,
    }
    expect(bodies('/api/v1/create_model')).toEqual([
      {
        type: 'create_model',
        session_id: 's0',
        base_model: 'tiny',
        model_seq_id: 0,
        lora_config,
      },
    ])
  })

  test('that the server cannot make is refused by the client', async () => {
    const { service, requests } = await client({ models: ['a', 'b'] })
    const asked = requests.length
    const refused = async (spec: Parameters<typeof service.createModel>[0]) =>
      (await faultOf(service.createModel(spec))).message
    expect(await refused({ head: 'value' })).toContain('expected a head of language, got `value`')
    expect(await refused({})).toContain('(a, b), got `undefined`')
    expect(await refused({ baseModel: 'c' })).toContain('(a, b), got `c`')
    expect(requests.length).toBe(asked)
    const other = await client({}, { profile: 'tinker' })
    expect((await faultOf(other.service.createModel({ alpha: 1 }))).message).toContain(
      'which is all the wire can say, got {"alpha":1}',
    )
  })

  test('takes its numbers when called, over every kind of operation', async () => {
    const { service, models } = await client({ config: { fwdbwd_max_chunk_len: 2 } })
    const model = await service.createModel()
    const passed = model.forwardBackward(someData(3), ppo)
    const looked = model.forward(someData(1), crossEntropy)
    const stepped = model.optimStep(adam)
    model.snapshot()
    const saved = model.save('one')
    await Promise.all([passed, looked, stepped, saved])
    expect(await model.exportTo('adapter', 'out')).toBe('tinker://s0:train:0/exports/out')
    expect(models.get(model.modelId)?.ran).toEqual([
      'forward_backward 1',
      'forward_backward 2',
      'forward 3',
      'optim_step 4',
      'save_weights_for_sampler 5',
      'save_weights 6',
      'export 7',
    ])
  })

  test('posts what was called later only when all before it was accepted', async () => {
    const slow: ServerOptions['trouble'] = ({ route, body }) =>
      route.endsWith('forward_backward') ? { delay: body.seq_id === 1 ? 40 : 5 } : undefined
    const { service, requests } = await client({
      config: { fwdbwd_max_chunk_len: 1 },
      trouble: slow,
    })
    const model = await service.createModel()
    await Promise.all([model.forwardBackward(someData(3), ppo), model.optimStep(adam)])
    const routes = requests.map(({ route }) => route.slice(8))
    const step = routes.indexOf('optim_step')
    expect(routes.filter((route) => route === 'forward_backward')).toHaveLength(3)
    expect(routes.lastIndexOf('forward_backward')).toBeLessThan(step)
    // The slow first part does not hold up its siblings: their results are asked for after all were accepted.
    expect(routes.indexOf('retrieve_future', routes.indexOf('forward_backward'))).toBeGreaterThan(
      routes.lastIndexOf('forward_backward'),
    )
  })

  test('sends adam_params whole, and refuses what the server would leave out', async () => {
    const { service, bodies } = await client()
    const model = await service.createModel()
    await model.optimStep({ ...adam, maxGradNorm: Number.POSITIVE_INFINITY })
    const adam_params = {
      learning_rate: 0.05,
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-12,
      weight_decay: 0.01,
      grad_clip_norm: 0,
    }
    expect(bodies('/api/v1/optim_step')).toEqual([
      { type: 'optim_step', model_id: model.modelId, seq_id: 1, adam_params },
    ])
    await expect(model.optimStep({ ...adam, learningRate: Number.NaN })).rejects.toThrow(
      'Expected `learningRate` to be a number, got `NaN`',
    )
    const unclipped = await client({}, { profile: 'skyrl-jax' })
    const other = await unclipped.service.createModel()
    await expect(other.optimStep(adam)).rejects.toThrow(
      'Expected `maxGradNorm` Infinity, because skyrl-jax does not clip gradients, got 0.5',
    )
  })

  test('goes to /forward in JSON, and says forward_only in protobuf', async () => {
    for (const dialect of ['json', 'protobuf'] as const) {
      const { service, requests, models } = await client({}, { dialect })
      const model = await service.createModel()
      await model.forward(someData(1), crossEntropy)
      const own = { name: 'bedside', extension: true, config: { kind: 'gspo', low: 0.25 } }
      await model.forward(someData(1), own)
      await model.forwardBackward(someData(1), own)
      expect(models.get(model.modelId)?.ran).toEqual([
        'forward 1',
        'forward 2',
        'forward_backward 3',
      ])
      const passes = requests.filter(({ route }) => route.includes('forward'))
      expect(passes.map(({ route }) => route)).toEqual([
        dialect === 'json' ? '/api/v1/forward' : '/api/v1/forward_backward',
        '/ext/v1/forward',
        '/ext/v1/forward_backward',
      ])
      for (const { headers } of passes)
        expect(headers['content-type']).toBe(
          dialect === 'json' ? 'application/json' : 'application/x-protobuf',
        )
      const config =
        passes[2]?.body.pass?.config ?? passes[2]?.body.forward_backward_input?.loss_fn_config
      expect(config).toEqual(own.config)
    }
  })

  test('is saved and loaded, with its optimiser or without', async () => {
    const { service, models } = await client()
    const model = await service.createModel()
    const step = async () => {
      await Promise.all([model.forwardBackward(someData(4), ppo), model.optimStep(adam)])
      return [...(models.get(model.modelId)?.model.weights ?? [])]
    }
    await step()
    const path = await model.save('one')
    expect(path).toBe(`tinker://${model.modelId}/weights/one`)
    const next = await step()
    await model.load(path, { optimizer: true })
    expect(await step()).toEqual(next)
    await model.load(path, { optimizer: false })
    expect(await step()).not.toEqual(next)
    const fault = await faultOf(model.load('tinker://other/weights/x', { optimizer: true }))
    expect(fault.code).toBe('bad-checkpoint')
    expect(fault.message).toContain('no checkpoint tinker://other/weights/x')
  })

  test('is loaded into a new one where the server wants that, calls made meanwhile included', async () => {
    const { service, models, bodies } = await client({}, { profile: 'tinker' })
    const model = await service.createModel({ rank: 2 })
    const before = model.modelId
    const passed = model.forwardBackward(someData(4), ppo)
    const stepped = model.optimStep(adam)
    const path = await model.save('one')
    await Promise.all([passed, stepped])
    const weights = [...(models.get(before)?.model.weights ?? [])]
    const loaded = model.load(path, { optimizer: true })
    const looked = model.forward(someData(1), crossEntropy)
    await Promise.all([loaded, looked])
    expect(model.modelId).not.toBe(before)
    expect([...models.keys()]).toEqual([model.modelId])
    const held = models.get(model.modelId)
    expect([...(held?.model.weights ?? [])]).toEqual(weights)
    expect(held?.ran).toEqual(['load_weights 1', 'forward 2'])
    expect(bodies('/api/v1/create_model').map(({ lora_config }) => lora_config)).toEqual([
      expect.objectContaining({ rank: 2 }),
      expect.objectContaining({ rank: 2 }),
    ])
  })

  test('that could not be loaded into a new one stays as it was', async () => {
    const { service, models } = await client({}, { profile: 'tinker' })
    const model = await service.createModel()
    await Promise.all([model.forwardBackward(someData(4), ppo), model.optimStep(adam)])
    const { modelId } = model
    const loaded = model.load('tinker://x/weights/none', { optimizer: true })
    const meanwhile = model.optimStep(adam)
    expect((await faultOf(loaded)).code).toBe('bad-checkpoint')
    expect((await faultOf(meanwhile)).message).toContain('no checkpoint tinker://x/weights/none')
    await model.optimStep(adam)
    expect(model.modelId).toBe(modelId)
    expect([...models.keys()]).toEqual([modelId])
    expect(models.get(modelId)?.ran).toEqual(['forward_backward 1', 'optim_step 2', 'optim_step 3'])
  })

  test('is freed when it is unloaded', async () => {
    const { service, models } = await client()
    const model = await service.createModel()
    const stepped = model.optimStep(adam)
    await model.unload()
    await stepped
    expect(models.size).toBe(0)
    expect((await faultOf(model.optimStep(adam))).code).toBe('backend-lost')
  })
})
