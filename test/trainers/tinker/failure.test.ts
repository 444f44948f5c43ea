import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/error.js'
import { adam, faultOf, ppo, someData, tinkerClients } from '../../fixtures/tinker-client.js'
import { type ServerOptions, tinkerServer } from '../../fixtures/tinker-server.js'

const { client, open } = tinkerClients()

const crossEntropy = { name: 'cross_entropy' }

describe('a model', () => {
  test('goes on after an operation that failed on the server', async () => {
    const { service } = await client()
    const model = await service.createModel()
    const broken = { name: 'cispo', config: ppo.config }
    const fault = await faultOf(model.forwardBackward(someData(1), broken))
    expect(fault.code).toBe('bad-input')
    expect(fault.message).toBe('/api/v1/forward_backward failed on the server: non-finite gradient')
    await model.optimStep(adam)
  })

  test('is over after a request that was not accepted, and says why', async () => {
    const trouble: ServerOptions['trouble'] = ({ route }) =>
      route.endsWith('forward_backward')
        ? { status: 422, body: { detail: 'no such key' } }
        : undefined
    const { service, requests } = await client({ trouble }, { profile: 'tinker' })
    const model = await service.createModel()
    const passed = model.forwardBackward(someData(1), ppo)
    const stepped = model.optimStep(adam)
    const first = await faultOf(passed)
    expect(first.code).toBe('bad-input')
    expect(first.message).toMatch(/POST .*\/api\/v1\/forward_backward: 422: no such key$/)
    const asked = requests.length
    for (const later of [
      stepped,
      model.save('x'),
      model.snapshot().sample({ prompt: [1], maxTokens: 1 }),
    ]) {
      const fault = await faultOf(later)
      expect(fault.code).toBe('backend-lost')
      expect(fault.message).toContain('Not sent')
      expect(fault.message).toContain('422: no such key')
    }
    expect(requests.length).toBe(asked)
    await (await service.createModel()).optimStep(adam)
  })

  const refusesParent: ServerOptions['trouble'] = ({ route, body }) =>
    route.endsWith('save_weights') && body.path === '..' ? { status: 422 } : undefined

  test('goes on after a request that was refused by itself, its number given back', async () => {
    const { service, models } = await client(
      { trouble: refusesParent, capabilities: undefined },
      { profile: 'tinker' },
    )
    const model = await service.createModel()
    await model.optimStep(adam)
    expect((await faultOf(model.save('..'))).code).toBe('bad-input')
    await model.save('good')
    expect(models.get(model.modelId)?.ran).toEqual(['optim_step 1', 'save_weights 2'])
  })

  test('goes on after a refusal that used up its number, with what was asked meanwhile', async () => {
    const { service, models } = await client({ trouble: refusesParent })
    const model = await service.createModel()
    const [, refused, good] = [model.optimStep(adam), model.save('..'), model.save('good')]
    expect((await faultOf(refused)).code).toBe('bad-input')
    await good
    await model.optimStep(adam)
    expect(models.get(model.modelId)?.ran).toEqual([
      'optim_step 1',
      'refused 2',
      'save_weights 3',
      'optim_step 4',
    ])
  })

  test('refuses what cannot be sent without using up a number', async () => {
    const { service, models } = await client()
    const model = await service.createModel()
    await expect(model.forward([], crossEntropy)).rejects.toThrow(RangeError)
    await expect(model.forwardBackward(someData(1), { name: 'ppo' })).rejects.toThrow(RangeError)
    await expect(model.exportTo('gguf', 'x')).rejects.toThrow(
      'Expected a format of bedside (adapter), got `gguf`',
    )
    await model.optimStep(adam)
    expect(models.get(model.modelId)?.ran).toEqual(['optim_step 1'])
  })
})

describe('a caller who stops', () => {
  test('hears of it, and leaves no listener behind', async () => {
    const { service } = await client({}, {})
    const model = await service.createModel()
    const { signal } = new AbortController()
    const sampler = model.snapshot()
    for (let i = 0; i < 20; i++) {
      await model.forward(someData(1), crossEntropy, { signal })
      await sampler.sample({ prompt: [1], maxTokens: 1, signal })
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('while a result is awaited only stops the waiting', async () => {
    const later = { status: 200, body: { type: 'try_again' } }
    let held = true
    const { service, models } = await client({
      trouble: ({ route, headers }) =>
        held && route.endsWith('retrieve_future') && headers['x-tinker-request-type'] === 'Forward'
          ? later
          : undefined,
    })
    const model = await service.createModel()
    const controller = new AbortController()
    const looked = model.forward(someData(1), crossEntropy, { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 60)
    const fault = await faultOf(looked)
    expect(fault.code).toBe('aborted')
    expect(fault.message).toBe('aborted: enough')
    held = false
    await model.optimStep(adam)
    expect(models.get(model.modelId)?.ran).toEqual(['forward 1', 'optim_step 2'])
  })

  test('before anything was sent uses up no number', async () => {
    const { service, models } = await client()
    const model = await service.createModel()
    const signal = AbortSignal.abort()
    expect((await faultOf(model.forward(someData(1), crossEntropy, { signal }))).code).toBe(
      'aborted',
    )
    await model.optimStep(adam)
    expect(models.get(model.modelId)?.ran).toEqual(['optim_step 1'])
  })

  test('by closing the service ends what is under way', async () => {
    const { service } = await client({
      trouble: ({ headers }) =>
        headers['x-tinker-request-type'] === 'OptimStep' ? { delay: 10_000 } : undefined,
    })
    const model = await service.createModel()
    const stepped = model.optimStep(adam)
    await new Promise((resolve) => setTimeout(resolve, 30))
    await service[Symbol.asyncDispose]()
    expect((await faultOf(stepped)).message).toBe('the connection to the server was closed')
  })

  test('because the server died says so in his own words', async () => {
    const dying = new AbortController()
    const { service } = await client({}, { signal: dying.signal })
    const model = await service.createModel()
    dying.abort(new Fault('backend-lost', 'the sidecar ended with code 9'))
    const fault = await faultOf(model.optimStep(adam))
    expect([fault.code, fault.message]).toEqual(['backend-lost', 'the sidecar ended with code 9'])
    await service[Symbol.asyncDispose]()
    expect(getEventListeners(dying.signal, 'abort')).toHaveLength(0)
  })
})

describe('a server that answers what it should not', () => {
  const answering = (route: string, body: unknown, status = 200) =>
    client({ trouble: (request) => (request.route.endsWith(route) ? { status, body } : undefined) })

  test('is unreadable where it is no JSON, or lacks what was asked for', async () => {
    const { service } = await answering('create_model', { model: 'm' })
    const fault = await faultOf(service.createModel())
    expect(fault.code).toBe('model-unreadable')
    expect(fault.message).toContain('/ext/v1/create_model')
    expect(fault.message).toContain('model_id')
  })

  test('is unreadable where outputs are of other data', async () => {
    const { service } = await answering('/forward_backward', {
      loss_fn_outputs: [{ logprobs: { data: [1] } }],
    })
    const model = await service.createModel()
    const fault = await faultOf(model.forwardBackward(someData(2), ppo))
    expect(fault.message).toBe('/api/v1/forward_backward: expected outputs of 2 data, got 1')
  })

  test('is given up after a while, with its last words', async () => {
    const { service } = await client(
      { trouble: ({ route }) => (route.endsWith('optim_step') ? { status: 503 } : undefined) },
      { maxRetries: 2 },
    )
    const model = await service.createModel()
    const fault = await faultOf(model.optimStep(adam))
    expect(fault.code).toBe('model-unavailable')
    expect(fault.message).toMatch(/\/api\/v1\/optim_step: 503: trouble$/)
  })

  test('does not get the token on where it redirects to', async () => {
    const elsewhere = await tinkerServer()
    open.push(elsewhere.close)
    const { service } = await client({
      trouble: ({ route }) =>
        route.endsWith('optim_step')
          ? { status: 307, headers: { location: `${elsewhere.baseUrl}/api/v1/optim_step` } }
          : undefined,
    })
    const model = await service.createModel()
    expect((await faultOf(model.optimStep(adam))).message).toContain(': 307: trouble')
    expect(elsewhere.requests).toHaveLength(0)
  })

  test('that lost a result for good is not asked for ever', async () => {
    const { service, bodies } = await client({
      trouble: ({ headers }) =>
        headers['x-tinker-request-type'] === 'OptimStep' ? { lost: true } : undefined,
    })
    const model = await service.createModel()
    expect((await faultOf(model.optimStep(adam))).message).toContain('lost the result 6 times')
    expect(bodies('/api/v1/optim_step')).toHaveLength(6)
  })
})
