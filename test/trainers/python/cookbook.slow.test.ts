/** Loops of tinker-cookbook, unmodified, against the real server: only address, model name, data and sizes are ours. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { startSidecar } from '../../../src/trainers/sidecar/process.js'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { sidecarPython, tinyModel } from '../../fixtures/sidecar.js'

const script = fileURLToPath(new URL('../../python/cookbook_loops.py', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'bedside-cookbook-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What a loop logged in each step. */
type Logged = readonly Readonly<Record<string, number | undefined>>[]

type Outcome = Readonly<
  Record<'sl_loop' | 'supervised.train' | 'rl.train' | `rl_loop ${string}`, Logged>
> & {
  readonly refused: string
}

const numbers = (logged: Logged, key: string) =>
  logged.map((step) => step[key]).filter((value) => value !== undefined)

describeWithPython('tinker-cookbook', sidecarPython ? 'cookbook' : 'sidecar', () => {
  test('imitates, is rewarded and ends without an exception', async () => {
    // Embeddings of their own, so that LoRA on the output layer learns answers by heart.
    const model = tinyModel('--init-range', '0.12', '--untied')
    await using server = await startSidecar({
      ...{ model, engine: 'peft', threads: 1, state: join(home, 'state'), python: sidecarPython },
      flags: ['--name', 'Qwen/Qwen3.5-9B-Base'],
    })
    const { address, token } = server
    const folder = join(home, 'loops')
    mkdirSync(folder)
    const losses = ['importance_sampling', 'gspo']
    const running = promisify(execFile)(pythonOf('cookbook') ?? '', [script], { maxBuffer: 1e8 })
    running.child.stdin?.end(JSON.stringify({ address, token, tokenizer: model, folder, losses }))
    const { stdout } = await running
    const seen: Outcome = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')

    const learnt = numbers(seen.sl_loop, 'train_mean_nll')
    expect(learnt).toHaveLength(30)
    expect(learnt.at(-1)).toBeLessThan(learnt[0]! / 10)
    for (const loss of losses) {
      const logged = seen[`rl_loop ${loss}`] ?? []
      expect(logged).toHaveLength(2)
      // Half of the imitated answers are right, and so is about half of what is drawn.
      expect(Math.max(...numbers(logged, 'reward/total'))).toBeGreaterThan(0.1)
      expect(Math.max(...numbers(logged, 'grad_norm:mean'))).toBeGreaterThan(0.1)
    }
    expect(numbers(seen['supervised.train'], 'grad_norm:mean')).toHaveLength(2)
    expect(numbers(seen['rl.train'], 'grad_norm:mean')).toHaveLength(2)
    expect(Math.max(...numbers(seen['rl.train'], 'env/all/reward/total'))).toBeGreaterThan(0.1)
    expect(seen.refused).toContain('record_stability_info: expected false')
  }, 300_000)
})
