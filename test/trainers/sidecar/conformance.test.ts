import { describe } from 'vitest'
import type { Agent } from '../../../src/agent.js'
import type { TrainBatch } from '../../../src/batch.js'
import { normalise } from '../../../src/batch.js'
import type { Episode } from '../../../src/episode.js'
import { backendChecks } from '../../../src/testing/backend.js'
import { episodeSegments } from '../../../src/trainers/segments.js'
import type { SidecarModel } from '../../../src/trainers/sidecar/sidecar.js'
import { describeWithPython } from '../../fixtures/python.js'
import { served } from '../../fixtures/sidecar-server.js'
import { testAll } from '../../testing/run-checks.js'
import { consult } from '../embedded/play.js'

const toBatch = (
  episodes: readonly Episode[],
  advantages: readonly number[],
  policyVersion: number,
): TrainBatch => {
  const segments = episodes.flatMap(
    (episode, i) => episodeSegments(episode, advantages[i] as number, 'g').segments,
  )
  return {
    step: 1,
    policyVersion,
    segments,
    normaliser: normalise('token-mean', segments),
    loss: { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 },
    adam: { learningRate: 0.003 },
  }
}

describeWithPython('the sidecar keeps the contract of a backend', 'sidecar', () => {
  const { open } = served()
  const lora: SidecarModel = { mode: 'lora', rank: 4, alpha: 8 }
  const full: SidecarModel = { mode: 'full' }
  describe.each([
    ['a LoRA adapter', lora, { ...lora, rank: 8 }],
    ['all parameters', full, lora],
  ])('%s', (_, model, other) => {
    const play = (agent: Agent, n: number) => consult(agent, n, n)
    const openOther = () => open(other)
    testAll(backendChecks(() => open(model), { play, toBatch, openOther, tolerance: 1e-4 }))
  })
})
