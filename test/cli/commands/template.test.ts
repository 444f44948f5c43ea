import { PassThrough, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { TemplateFlags } from '../../../src/cli/commands/template.js'
import { checkTemplateFolder } from '../../../src/cli/commands/template.js'
import { reportFailure } from '../../../src/cli/print/failure.js'

const folder = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tokenizers/${name}`, import.meta.url))

/** Runs the command on a folder and gives what it wrote and its exit code. */
async function run(path: string, flags: TemplateFlags = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const terminal = {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: {},
    signal: new AbortController().signal,
  }
  let code: number
  try {
    code = await checkTemplateFolder(path, flags, terminal)
  } catch (error) {
    code = reportFailure(error, terminal)
  }
  const read = (stream: PassThrough): string => String(stream.read() ?? '')
  return { code, stdout: read(stdout), stderr: read(stderr) }
}

describe('template check', () => {
  test('prints one document, and 0 for a template that only appends', async () => {
    const { code, stdout, stderr } = await run(folder('chatml'), { json: true })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trimEnd()).not.toContain('\n')
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      firstDifference: null,
      families: ['chatml'],
    })
  })

  test('shows people the first difference, and gives 1', async () => {
    const { code, stdout, stderr } = await run(folder('qwen'))
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toContain('Template family: chatml, qwen-think')
    expect(stdout).toMatch(/^replies with reasoning +2$/m)
    expect(stdout).toMatch(/First difference: replies with reasoning, after reply 1, token \d+:/)
    expect(stdout).toMatch(/stream +\d+ "<think>"/)
    expect(stdout).toContain('Not append-only: 2 forks.')
    expect((await run(folder('qwen'), { json: true })).code).toBe(1)
  })

  test('gives 2 for what is no tokenizer folder, and for a day that is none', async () => {
    const { code, stdout, stderr } = await run(folder('none'))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/tokenizers.none: expected a tokenizer folder with tokenizer\.json/)
    const bad = await run(folder('chatml'), { date: 'tomorrow' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('--date: Expected `date` to be a day')
  })
})
