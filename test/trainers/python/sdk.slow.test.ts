/** The official clients of the Tinker wire, unmodified, against the real server and a real engine. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SidecarProcess } from '../../../src/trainers/sidecar/process.js'
import { startSidecar } from '../../../src/trainers/sidecar/process.js'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { sidecarPython, tinyModel } from '../../fixtures/sidecar.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const client = pythonOf('tinker') ?? ''
const home = mkdtempSync(join(tmpdir(), 'bedside-sdk-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

// Weights large enough for LoRA to learn from.
const model = () => tinyModel('--init-range', '0.12')

interface Outcome {
  readonly version: string
  readonly rank: number
  readonly tokenizer: string
  readonly encoded: readonly number[]
  /** Losses and gradient norms of every step, and how far sampler and trainer disagree at the end. */
  readonly supervised: {
    readonly losses: readonly number[]
    readonly norms: readonly number[]
    readonly gap: number
  }
  readonly rewards: readonly number[]
  readonly kept: readonly [number, number]
  readonly failed: string
}

/** What a client of a version saw of a server. */
async function drive({ address, token, ready }: SidecarProcess, version: string): Promise<Outcome> {
  const older = join(root, `.venvs/tinker/sdk-${version}`)
  const running = promisify(execFile)(client, [join(root, 'test/python/sdk_loops.py')], {
    env: { ...process.env, PYTHONPATH: version === '0.38.0' ? '' : older, HF_HUB_OFFLINE: '1' },
    maxBuffer: 1e8,
  })
  const { name, vocabSize } = ready.model
  const input = { address, token, model: name, vocabulary: vocabSize, steps: [10, 16] }
  running.child.stdin?.end(JSON.stringify(input))
  return JSON.parse((await running).stdout)
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length

describeWithPython('the official client', sidecarPython ? 'tinker' : 'sidecar', () => {
  let whole: SidecarProcess
  let split: SidecarProcess
  const begin = (...flags: readonly string[]) =>
    startSidecar({
      ...{ model: model(), engine: 'peft', threads: 1, flags },
      ...{ state: join(home, flags.join('')), python: sidecarPython },
    })
  beforeAll(async () => {
    ;[whole, split] = await Promise.all([begin(), begin('--max-chunk-len', '1')])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([whole.stop(), split.stop()])
  })

  test('learns by both dialects, and with one datum a request, to the same numbers', async () => {
    const seen = await Promise.all([
      drive(whole, '0.24.1'),
      drive(split, '0.24.1'),
      drive(whole, '0.38.0'),
      drive(split, '0.38.0'),
    ])
    expect(seen.map(({ version }) => version)).toEqual(['0.24.1', '0.24.1', '0.38.0', '0.38.0'])
    for (const { rank, tokenizer, encoded, supervised, rewards, kept, failed } of seen) {
      expect({ rank, tokenizer }).toEqual({ rank: 8, tokenizer: model() })
      expect(encoded.length).toBeGreaterThan(0)
      const { losses, gap } = supervised
      expect(losses.at(-1)).toBeLessThan(losses[0]! / 2)
      expect(gap).toBeLessThan(1e-5)
      expect(mean(rewards.slice(-4))).toBeGreaterThan(mean(rewards.slice(0, 4)) + 0.08)
      expect(kept[1]).toBe(kept[0])
      expect(failed).toContain('the gradients gathered since the last step were dropped')
    }
    const [first] = seen
    for (const { supervised } of seen) {
      expect(supervised.losses[0]).toBeCloseTo(first.supervised.losses[0]!, 3)
      // Float32 sums of another order.
      expect(supervised.norms[0]! / first.supervised.norms[0]!).toBeCloseTo(1, 5)
    }
  }, 240_000)
})
