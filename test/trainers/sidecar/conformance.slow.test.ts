import { describe } from 'vitest'
import type { Agent } from '../../../src/agent.js'
import { backendChecks } from '../../../src/testing/backend.js'
import type { SidecarModel } from '../../../src/trainers/sidecar/sidecar.js'
import { describeWithPython } from '../../fixtures/python.js'
import { served } from '../../fixtures/sidecar-server.js'
import { testAll } from '../../testing/run-checks.js'
import { batchWith, consult } from '../embedded/play.js'

const toBatch = batchWith(0.003)

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
    testAll(backendChecks(() => open(model), { play, toBatch, openOther }))
  })
})
