import { expect, test } from 'vitest'
import { holdSnapshot } from '../../../src/trainers/sidecar/snapshots.js'
import { adam, faultOf, someData, tinkerClients } from '../../fixtures/tinker-client.js'

const { client } = tinkerClients()
const asked = { prompt: [1, 2], maxTokens: 4, seed: 3 }

test('a snapshot that was refused is asked for again, while the weights are the same', async () => {
  const busy = new Set([0, 2])
  const { service, bodies } = await client({
    trouble: ({ route, index }) =>
      route.endsWith('save_weights_for_sampler') && busy.has(index) ? { status: 422 } : undefined,
  })
  const policy = await service.createModel()
  const moment = { weights: {} }
  const held = holdSnapshot({ policy, moment })
  expect((await faultOf(held().sample(asked))).code).toBe('bad-input')
  const drawn = await held().sample(asked)
  expect(await held().sample(asked)).toEqual(drawn)
  expect(bodies('/api/v1/save_weights_for_sampler')).toHaveLength(2)

  const late = holdSnapshot({ policy, moment })
  await faultOf(late().sample(asked))
  moment.weights = {}
  // Other weights would pass for those of its moment.
  expect((await faultOf(late().sample(asked))).code).toBe('bad-input')
  expect(bodies('/api/v1/save_weights_for_sampler')).toHaveLength(3)
})

test('a lasting snapshot outlives its model on a server that loads only into new ones', async () => {
  const { service } = await client({ capabilities: undefined }, { profile: 'tinker' })
  const policy = await service.createModel()
  const moment = { weights: {} }
  const [passing, reference] = [false, true].map((lasting) =>
    holdSnapshot({ policy, moment }, lasting),
  )
  const drawn = await reference!().sample(asked)
  expect(await passing!().sample(asked)).toEqual(drawn)
  const path = await policy.save('x')
  await policy.forwardBackward(someData(1), { name: 'cross_entropy' })
  await policy.optimStep(adam)
  await policy.load(path, { optimizer: true })
  expect((await faultOf(passing!().sample(asked))).message).toContain('no sampler')
  expect(await reference!().sample(asked)).toEqual(drawn)
})

test('only our own sidecar drops gradients', async () => {
  const { service } = await client({ capabilities: undefined }, { profile: 'tinker' })
  await expect((await service.createModel()).discard()).rejects.toThrow('a sidecar of ours')
})
