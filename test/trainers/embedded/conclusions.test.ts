import { describe, expect, test } from 'vitest'
import { scripted } from '../../../src/agents/scripted.js'
import { makeNormaliser } from '../../../src/batch.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { tokenizer } from '../../../src/trainers/embedded/tokenizer.js'
import type { Action } from '../../../src/turn.js'
import { consult, words } from './play.js'

const [fever, chest, , influenza, angina] = words.actions as [
  Action,
  Action,
  Action,
  Action,
  Action,
]
const { clockOf } = tokenizer(words)

const demonstrated = async () => {
  const backend = embedded({ actionSpace: words })
  const episode = await consult(scripted([fever, chest, angina]), 0, 0)
  return { backend, segments: backend.demonstrate?.(episode) ?? [] }
}

describe('a conclusion at every turn', () => {
  test('stands before each drawn token with one turn left, and is all that is drawn', async () => {
    const { backend, segments } = await demonstrated()
    const concluded = backend.conclude?.(segments, influenza) ?? []
    expect(concluded).toHaveLength(segments.length)
    const [own, made] = [segments[0]!, concluded[0]!]
    const drawn = [...made.mask].flatMap((one, t) => (one === 1 ? [t + made.promptLength] : []))
    expect(drawn.map((at) => made.tokens[at])).toEqual([3, 3, 3])
    expect(drawn.map((at) => made.tokens[at - 1])).toEqual(drawn.map(() => clockOf(1)))
    // The rest is the consultation as it was.
    const added = new Set(drawn.flatMap((at) => [at - 1, at]))
    expect([...made.tokens].filter((_, at) => !added.has(at))).toEqual([...own.tokens])
  })

  test('is likelier the more it is taught, and neither gate nor questions move', async () => {
    const { backend, segments } = await demonstrated()
    const concluded = backend.conclude?.(segments, influenza) ?? []
    const before = await backend.logprobs?.(segments)
    const first = await backend.logprobs?.(concluded)
    // With two diagnoses and nothing learnt, each has one half.
    const drawn = (values: Float32Array) => [...values].filter((value) => value !== 0)
    for (const value of drawn(first![0]!)) expect(value).toBeCloseTo(Math.log(0.5), 6)
    for (let step = 1; step <= 20; step++)
      await backend.step({
        ...{ step, policyVersion: backend.policyVersion, segments: concluded },
        normaliser: makeNormaliser('token-mean', concluded),
        loss: { kind: 'cross-entropy', entropy: 0 },
        adam: { learningRate: 0.1 },
      })
    const last = await backend.logprobs?.(concluded)
    for (const value of drawn(last![0]!)) expect(value).toBeGreaterThan(Math.log(0.8))
    // The two questions are as likely as they were; the diagnosis that was made instead is less likely.
    const [was, is] = [drawn(before![0]!), drawn((await backend.logprobs?.(segments))![0]!)]
    expect(is.slice(0, 2).map((x, i) => Math.abs(x - was[i]!) < 1e-6)).toEqual([true, true])
    expect(is[2]).toBeLessThan(was[2]!)
  })

  test('is none for a question or an unknown diagnosis', async () => {
    const { backend, segments } = await demonstrated()
    expect(backend.conclude?.(segments, fever)).toEqual([])
    expect(backend.conclude?.(segments, { kind: 'diagnose', diagnosis: 'Gout' })).toEqual([])
  })
})
