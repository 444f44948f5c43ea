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

/** What a script saw of a server, with a client of a version. */
async function drive<T>(
  { address, token, ready }: SidecarProcess,
  version: string,
  script: string,
): Promise<T> {
  const older = join(root, `.venvs/tinker/sdk-${version}`)
  // A crash says where, too.
  const argv = ['-X', 'faulthandler', join(root, 'test/python', script)]
  const running = promisify(execFile)(client, argv, {
    env: { ...process.env, PYTHONPATH: version === '0.38.0' ? '' : older, HF_HUB_OFFLINE: '1' },
    maxBuffer: 1e8,
  })
  const { name, vocabSize, contextLength } = ready.model
  const given = { model: name, vocabulary: vocabSize, context: contextLength, steps: [10, 16] }
  running.child.stdin?.end(JSON.stringify({ address, token, ...given }))
  return JSON.parse((await running).stdout)
}

/** What the client was told of a refused request, and how the requests after it went. */
interface AfterRefusal {
  readonly told: string | null
  /** Until the next step was answered, and until a batch and a step after that were. */
  readonly seconds: number
  readonly whole: number
  readonly norm: number | null
  readonly errors: readonly string[]
}

/** Of the script, by version: a change of their number is meant. */
const refusals = { '0.24.1': 27, '0.38.0': 28 } as const

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
    ;[whole, split] = await Promise.all([
      begin('--missing-seconds', '1'),
      begin('--max-chunk-len', '1'),
    ])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([whole.stop(), split.stop()])
  })

  test('learns by both dialects, and with one datum a request, to the same numbers', async () => {
    const seen = await Promise.all([
      drive<Outcome>(whole, '0.24.1', 'sdk_loops.py'),
      drive<Outcome>(split, '0.24.1', 'sdk_loops.py'),
      drive<Outcome>(whole, '0.38.0', 'sdk_loops.py'),
      drive<Outcome>(split, '0.38.0', 'sdk_loops.py'),
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

  test.each([
    ['0.38.0', 'whole'],
    ['0.38.0', 'split'],
    ['0.24.1', 'whole'],
  ] as const)(
    '%s goes on after every refusal, with %s batches',
    async (version, batches) => {
      const server = { whole, split }[batches]
      const { seen, ...made } = await drive<{
        readonly version: string
        readonly first: number
        readonly seen: Readonly<Record<string, AfterRefusal>>
      }>(server, version, 'sdk_refusals.py')
      expect(made.version).toBe(version)
      expect(Object.keys(seen)).toHaveLength(refusals[version])
      for (const [name, { told, seconds, whole: both, norm, errors }] of Object.entries(seen)) {
        expect({ name, told, errors }).toEqual({ name, told: expect.any(String), errors: [] })
        // A part of a batch that was refused leaves nothing of it.
        expect({ name, norm }).toEqual({ name, norm: made.first })
        expect({ name, soon: seconds < 2 && both < 4 }).toEqual({ name, soon: true })
      }
    },
    120_000,
  )
})
