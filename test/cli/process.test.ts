import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
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
  const build = join(root, 'scripts', 'build.js')
  await run(process.execPath, [build, '--no-types', '--out', join(folder, 'dist')])
  main = join(folder, 'dist', 'cli', 'main.js')
}, 60_000)
afterAll(() => rm(folder, { recursive: true }))

/** Starts the program as a process of its own. */
function start(...argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { cwd: folder })
  let stdout = ''
  let stderr = ''
  // Characters may be cut where chunks are.
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
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

  test.each([
    ['SIGINT', 130, 'Stopped. All sessions are closed.'],
    ['SIGTERM', 0, 'Waiting up to 10 s for sessions to end'],
    ['the end of its input', 0, 'Ctrl-C stops it.'],
  ] as const)('ends a server on %s', async (cause, expected, says) => {
    const { child, ended } = start('serve', '--json', '--stop-with-input')
    const [line] = await once(child.stdout, 'data')
    const { address } = JSON.parse(line)
    expect((await fetch(`${address}/healthz`)).status).toBe(200)
    if (cause === 'the end of its input') child.stdin.end()
    else child.kill(cause)
    const { code, stderr } = await ended
    expect(code).toBe(expected)
    expect(stderr).toContain(says)
    await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed')
  })

  test('says why a server cannot start', async () => {
    const { code, stdout, stderr } = await start('serve', '--cases', 'nowhere.jsonl').ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('nowhere.jsonl')
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

  test('streams --out /dev/stdout, whatever stdout is, and replaces nothing', async () => {
    const { stdout: lines } = await start('cases', 'generate', '--cases', '40').ended
    const generate = ['cases', 'generate', '--cases', '40', '--quiet', '--out']
    const socket = await start(...generate, '/dev/stdout').ended
    expect([socket.code, socket.stderr, socket.stdout === lines]).toEqual([0, '', true])
    const shell = async (rest: string) => {
      const command = `"${process.execPath}" "${main}" ${generate.join(' ')} /dev/stdout ${rest}`
      return (await run('sh', ['-c', command], { cwd: folder, maxBuffer: 1e8 })).stdout
    }
    expect((await shell('| cat')) === lines).toBe(true)
    await writeFile(join(folder, 'log'), 'before\n')
    await shell('>> log')
    const log = await readFile(join(folder, 'log'), 'utf8')
    expect(log === `before\n${lines}`).toBe(true)
  })

  test('ends quietly when the reader of --out /dev/stdout has seen enough', async () => {
    const { child, ended } = start('cases', 'generate', '--cases', '2000', '--out', '/dev/stdout')
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') })
  })

  test('keeps stdout to itself: what a module of the user’s prints goes to stderr', async () => {
    await writeFile(
      join(folder, 'talks.mjs'),
      `import { stdout } from 'node:process'
      import { Worker } from 'node:worker_threads'
      console.log('log at import')
      console.info('info at import')
      console.table([{ table: 'at import' }])
      new Worker('console.log("log of a worker")', { eval: true })
      setTimeout(() => console.log('log of a timer'), 1)
      export const bounds = [0, 1]
      export async function reward({ id }) {
        console.log('log of', id)
        console.debug('debug of', id)
        process.stdout.write('written of ' + id + '\\n')
        stdout.write('imported for ' + id + '\\n')
        await new Promise((resolve) => setTimeout(resolve, 100))
        return 0.5
      }`,
    )
    const argv = ['evaluate', '--agent', 'random', '--cases', '2', '--reward', './talks.mjs']
    const { code, stdout, stderr } = await start(...argv, '--json').ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ reward: { mean: 0.5 } })
    for (const said of [
      ...['log at import', 'info at import', 'at import', 'log of a worker', 'log of a timer'],
      ...['log of ', 'debug of ', 'written of ', 'imported for '].map(
        (what) => `${what}random/easy-heldout-0-1/`,
      ),
    ])
      expect(stderr).toContain(said)
    const people = await start(...argv).ended
    expect(people.stdout).not.toMatch(/log|debug|written|imported/)
  })

  test('ends quietly when its reader has seen enough', async () => {
    const { child, ended } = start('cases', 'generate', '--cases', '2000')
    child.stdout.once('data', () => child.stdout.destroy())
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
  })
})
