/** What `bedside train --print-command` shows of a job: enough to start it by hand. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { bedside, document } from '../terminal.js'

const folder = mkdtempSync(join(tmpdir(), "bedside-print it's-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const model = join(folder, 'model')
cpSync(fileURLToPath(new URL('../../fixtures/tokenizers/chatml', import.meta.url)), model, {
  recursive: true,
})
writeFileSync(join(model, 'config.json'), '{"max_position_embeddings": 8192}')

const recipeOf = (backend: string): string => {
  const path = join(folder, `${backend}.yaml`)
  const cluster = `cluster: { gpus: 4, python: echo, slime: ${JSON.stringify(folder)} }`
  writeFileSync(
    path,
    `backend: ${backend}
cases: { clinic: [upper-airway], heldOut: 4 }
policy: { model: model, maxTokens: 16 }
${backend === 'slime' ? cluster : cluster.replace(/, slime.*/, ' }')}
training: { steps: 2, groupsPerStep: 2, groupSize: 4, normaliser: token-mean, evaluateCases: 4 }
`,
  )
  return path
}

describe.each(['slime', 'verl'])('the command of %s', (backend) => {
  test('is one that a shell takes, a line for each setting, beside its server and its files', async () => {
    const out = join(folder, 'run')
    const argv = ['train', recipeOf(backend), '--out', out, '--print-command']
    const { job } = Object(await document(argv))
    expect(job.files).toEqual(expect.arrayContaining(['bedside_trainers/', 'heldout.jsonl']))
    expect(job.serve.slice(0, 4)).toEqual([
      ...['bedside', 'serve', '--recipe'],
      join(out, 'config.yaml'),
    ])
    const { stdout, code } = await bedside(argv)
    expect(code).toBe(0)
    const shown = stdout.slice(stdout.indexOf('# `bedside train` starts'))
    expect(shown).toContain(job.files.join(', '))
    const lines = shown.split('\n')
    expect(lines.filter((line) => /^ {2}\S/.test(line)).length).toBeGreaterThan(30)
    // The shell's own words, by a program that prints what it was given.
    const printer = `bash() { printf '%s\\0' bash "$@"; printf '%s\\0' "$BEDSIDE_TOKENS"; }\n${shown}`
    const said = spawnSync('bash', ['-c', printer], { encoding: 'utf8' }).stdout.split('\0')
    expect(said.slice(0, -2)).toEqual(job.command)
    expect(JSON.parse(said.at(-2) ?? '')).toMatchObject({ max_tokens: 16 })
    expect(existsSync(out)).toBe(false)
  }, 120_000)
})
