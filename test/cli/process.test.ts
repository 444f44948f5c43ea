import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

let folder: string
let main: string

/** Builds this very source beside the package's data and dependencies, as it lies in an installed package. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bedside-process-'))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'data'), join(folder, 'data'), 'junction')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const tsdown = join(root, 'node_modules', 'tsdown', 'dist', 'run.mjs')
  await run(process.execPath, [tsdown, '--no-dts', '--out-dir', join(folder, 'dist')], {
    cwd: root,
  })
  main = join(folder, 'dist', 'cli', 'main.js')
}, 60_000)
afterAll(() => rm(folder, { recursive: true }))

/** Starts the program as a process of its own. */
function start(...argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { cwd: folder })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  )
  return { child, ended }
}

describe('the bedside binary', () => {
  test('prints its version and its help on stdout', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(await start('--version').ended).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    const help = await start('--help').ended
    expect([help.code, help.stderr]).toEqual([0, ''])
    for (const command of ['consult', 'evaluate', 'train', 'cases', 'rewards', 'info'])
      expect(help.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'))
  })

  test('ends with 2 and the help on stderr when it is told nothing', async () => {
    const { code, stdout, stderr } = await start().ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: bedside')
  })

  test('stops a run on Ctrl-C with 130 and the command that resumes it', async () => {
    const out = join(folder, 'run')
    const small = ['groupsPerStep=4', 'groupSize=4', 'evaluateCases=4'].flatMap((task) => [
      '--set',
      `training.${task}`,
    ])
    const { child, ended } = start(
      'train',
      '--clinic',
      'upper-airway',
      '--cases',
      '4',
      ...small,
      '--out',
      out,
    )
    await expect
      .poll(() => readFile(join(out, 'metrics.jsonl'), 'utf8').catch(() => ''), { timeout: 20_000 })
      .toContain('"type":"step"')
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(code).toBe(130)
    expect(stderr).toContain(`npx bedside train --resume ${out}`)
  })

  test('ends quietly when its reader has seen enough', async () => {
    const { child, ended } = start('cases', 'generate', '--cases', '2000')
    child.stdout.once('data', () => child.stdout.destroy())
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
  })
})
