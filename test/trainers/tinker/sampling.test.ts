import { describe, expect, test } from 'vitest'
import { adam, ppo, someData, tinkerClients } from '../../fixtures/tinker-client.js'

const { client } = tinkerClients()

const asked = { prompt: [1, 2, 3], maxTokens: 8, seed: 3, stop: [2], promptLogprobs: true }

describe('a sampling session', () => {
  test('draws the same in either dialect, with log-probs of what was drawn and of the prompt', async () => {
    const drawn = []
    for (const dialect of ['protobuf', 'json'] as const) {
      const { service } = await client({}, { dialect })
      const sampler = await service.baseSampler()
      drawn.push(await sampler.sample({ ...asked, samples: 3 }))
    }
    expect(drawn[1]).toEqual(drawn[0])
    const { sequences, promptLogprobs } = drawn[0]!
    expect(sequences).toHaveLength(3)
    for (const { tokens, logprobs, stopReason } of sequences) {
      expect(logprobs).toHaveLength(tokens.length)
      expect(stopReason).toBe(tokens.at(-1) === 2 ? 'stop' : 'length')
    }
    expect(promptLogprobs).toHaveLength(3)
    expect(promptLogprobs?.[0]).toBeNaN()
    expect(promptLogprobs?.[1]).toBeLessThan(0)
  })

  test('says everything it wants, and counts its requests from 0', async () => {
    const { service, bodies } = await client()
    const sampler = await service.baseSampler('tiny')
    await sampler.sample(asked)
    await sampler.sample({
      prompt: Int32Array.of(1),
      maxTokens: 1,
      temperature: 0,
      topK: 5,
      topP: 0.5,
    })
    expect(bodies('/api/v1/create_sampling_session')).toEqual([
      {
        type: 'create_sampling_session',
        session_id: 's0',
        sampling_session_seq_id: 0,
        base_model: 'tiny',
      },
    ])
    const common = { type: 'sample', num_samples: 1, sampling_session_id: 'sampler1' }
    expect(bodies('/api/v1/asample')).toEqual([
      {
        ...common,
        seq_id: 0,
        prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
        sampling_params: {
          max_tokens: 8,
          temperature: 1,
          top_k: -1,
          top_p: 1,
          seed: 3,
          stop: [2],
        },
        prompt_logprobs: true,
      },
      {
        ...common,
        seq_id: 1,
        prompt: { chunks: [{ type: 'encoded_text', tokens: [1] }] },
        sampling_params: { max_tokens: 1, temperature: 0, top_k: 5, top_p: 0.5 },
        prompt_logprobs: false,
      },
    ])
  })

  test('of a model is of the moment it was taken, not of when it is used', async () => {
    const { service } = await client()
    const model = await service.createModel()
    const before = await model.snapshot().sample(asked)
    const early = model.snapshot()
    const passed = model.forwardBackward(someData(6), ppo)
    const stepped = model.optimStep({ ...adam, learningRate: 1 })
    const late = model.snapshot()
    await Promise.all([passed, stepped])
    expect(await early.sample(asked)).toEqual(before)
    expect(await late.sample(asked)).not.toEqual(before)
    expect(await early.sample(asked)).toEqual(before)
  })

  test('keeps no more samples open than the server takes', async () => {
    const { service, mostSamples } = await client({ config: { sample_max_concurrent_requests: 3 } })
    const sampler = await service.baseSampler()
    const draws = Array.from({ length: 20 }, (_, seed) => sampler.sample({ ...asked, seed }))
    const drawn = await Promise.all(draws)
    // How many are really open at once depends on how busy the machine is.
    expect(mostSamples()).toBeGreaterThan(1)
    expect(mostSamples()).toBeLessThanOrEqual(3)
    expect(drawn[7]).toEqual(await sampler.sample({ ...asked, seed: 7 }))
  })

  test('of a server that gives a path instead is opened on that', async () => {
    const path = 'tinker://m/sampler_weights/x'
    const { service, bodies } = await client({
      trouble: ({ route }) =>
        route.endsWith('save_weights_for_sampler') ? { status: 200, body: { path } } : undefined,
    })
    const model = await service.createModel()
    await model.snapshot().sample(asked)
    expect(bodies('/api/v1/save_weights_for_sampler')).toEqual([
      {
        type: 'save_weights_for_sampler',
        kind: 'snapshot',
        model_id: model.modelId,
        seq_id: 1,
        sampling_session_seq_id: 0,
      },
    ])
    expect(bodies('/api/v1/create_sampling_session')).toEqual([
      {
        type: 'create_sampling_session',
        session_id: 's0',
        sampling_session_seq_id: 1,
        model_path: path,
      },
    ])
  })

  test('that failed to be made fails when it is used, and not before', async () => {
    const { service } = await client({
      trouble: ({ route }) =>
        route.endsWith('save_weights_for_sampler')
          ? { status: 200, body: { error: 'disk full', category: 'Server' } }
          : undefined,
    })
    const model = await service.createModel()
    const sampler = model.snapshot()
    // Long enough for a rejection that nobody handles to end the test run.
    await new Promise((resolve) => setTimeout(resolve, 50))
    await expect(sampler.sample(asked)).rejects.toThrow(
      '/api/v1/save_weights_for_sampler failed on the server: disk full',
    )
  })

  test('tells the server when nobody waits for a sample any more', async () => {
    const { service, bodies } = await client({
      trouble: ({ headers }) =>
        headers['x-tinker-request-type'] === 'Sample'
          ? { status: 200, body: { type: 'try_again' } }
          : undefined,
    })
    const sampler = await service.baseSampler()
    const controller = new AbortController()
    const drawn = sampler.sample({ ...asked, signal: controller.signal })
    await expect.poll(() => bodies('/api/v1/retrieve_future').length).toBeGreaterThan(1)
    controller.abort(new Error('enough'))
    await expect(drawn).rejects.toThrow('aborted: enough')
    await expect.poll(() => bodies('/api/v1/cancel_future').length).toBe(1)
    const { request_id } = bodies('/api/v1/retrieve_future').at(-1)!
    expect(bodies('/api/v1/cancel_future')).toEqual([{ type: 'cancel_future', request_id }])
  })

  test('refuses requests that mean nothing', async () => {
    const { service } = await client()
    const sampler = await service.baseSampler()
    await expect(sampler.sample({ prompt: [], maxTokens: 1 })).rejects.toThrow(RangeError)
    await expect(sampler.sample({ prompt: [1], maxTokens: 0 })).rejects.toThrow(
      'Expected `maxTokens` to be a positive integer, got `0`',
    )
    await expect(sampler.sample({ prompt: [1], maxTokens: 1, samples: 0.5 })).rejects.toThrow(
      RangeError,
    )
  })

  test('refuses sequences without the log-probs of their tokens', async () => {
    const sequence = { tokens: [1, 2], logprobs: [-1], stop_reason: 'length' }
    const { service } = await client({
      trouble: ({ headers }) =>
        headers['x-tinker-request-type'] === 'Sample'
          ? { status: 200, body: { type: 'sample', sequences: [sequence] } }
          : undefined,
    })
    const sampler = await service.baseSampler()
    await expect(sampler.sample({ prompt: [1], maxTokens: 2 })).rejects.toThrow(
      '/api/v1/asample: expected 2 log-probs of a sequence, got 1',
    )
  })
})
