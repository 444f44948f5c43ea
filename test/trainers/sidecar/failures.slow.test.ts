/** Steps and snapshots that fail on a real server leave the policy as it was. */
import { expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import { addCritic } from '../../../src/testing/backend-batches.js'
import { describeWithPython } from '../../fixtures/python.js'
import { served } from '../../fixtures/sidecar-server.js'
import { batchWith, consult } from '../embedded/play.js'

const toBatch = batchWith(0.003)

describeWithPython('the sidecar', 'sidecar', () => {
  const { open } = served()
  const lora = { mode: 'lora', rank: 4, alpha: 8 } as const

  test('has not moved the policy when the critic cannot step', async () => {
    await using failing = await open(lora)
    await using sound = await open(lora)
    const episodes = await Promise.all([0, 1].map((n) => consult(sound.sampler(), n, n)))
    const batch = toBatch(episodes, [1, -1], 0)
    const behaviour = (backend: Backend) => backend.logprobs?.(batch.segments)
    const before = await behaviour(failing)
    // Squared, it is beyond float32: the gradient is not finite, and the critic makes no step.
    await expect(failing.step(addCritic(batch, 3e38))).rejects.toThrow('finite')
    expect(failing.policyVersion).toBe(0)
    expect(await behaviour(failing)).toEqual(before)
    // Nothing is left of the failed step: the next one is that of a policy without it.
    const again = addCritic(batch, 1)
    const [one, other] = [await failing.step(again), await sound.step(again)]
    expect(one).toEqual(other)
    expect(await behaviour(failing)).toEqual(await behaviour(sound))
  })
})
