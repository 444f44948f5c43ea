import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockName, lockRun } from '../../src/runs/lock.js'

let root: string
let run: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bedside-lock-'))
})
beforeEach(async () => {
  run = join(await mkdtemp(join(root, 'one-')), 'run')
})
afterAll(() => rm(root, { recursive: true, force: true }))

const lock = () => join(run, lockName)
/** The id of a process that has ended. */
const endedPid = () => spawnSync(process.execPath, ['-e', '']).pid
/** Leaves a lock as another process would. */
async function leaveLock(owner: object) {
  await (await lockRun(run))[Symbol.asyncDispose]()
  await mkdir(run, { recursive: true })
  await writeFile(lock(), JSON.stringify({ host: hostname(), since: '2026-01-01', ...owner }))
}

describe('a run directory', () => {
  test('is held by one writer, who is named, until it is released', async () => {
    const first = await lockRun(run)
    expect(JSON.parse(await readFile(lock(), 'utf8'))).toMatchObject({
      pid: process.pid,
      host: hostname(),
      since: expect.stringMatching(/^\d{4}-/),
    })
    await expect(lockRun(run)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(`in use (process ${process.pid} on ${hostname()}`),
    })
    await first[Symbol.asyncDispose]()
    await using second = await lockRun(run)
    expect(second.takenOver).toBeUndefined()
  })

  test('that was not begun is gone after the release', async () => {
    await (await lockRun(run))[Symbol.asyncDispose]()
    await expect(readdir(run)).rejects.toThrow('ENOENT')
  })

  test('is taken over from a process that has ended, which is said', async () => {
    const pid = endedPid()
    await leaveLock({ pid })
    await using held = await lockRun(run)
    expect(held.takenOver).toContain(`process ${pid} on ${hostname()}, since 2026-01-01`)
    expect(await readdir(run)).toEqual([lockName])
  })

  test('is taken over from an earlier process that had the id of one that runs', async () => {
    await leaveLock({ pid: process.pid, process: 'another boot/1' })
    await using held = await lockRun(run)
    expect(held.takenOver).toBeDefined()
  })

  test.each([
    ['of a process that runs', { pid: process.ppid }],
    ['of another host', { pid: 1, host: 'elsewhere' }],
    ['of nobody', { pid: 'x' }],
  ])('is refused with a lock %s, which is named', async (_, owner) => {
    await leaveLock(owner)
    await expect(lockRun(run)).rejects.toThrow(`remove ${lock()}`)
    expect(await readFile(lock(), 'utf8')).toContain('2026-01-01')
  })

  test('whose takeover was cut off is taken over all the same', async () => {
    await leaveLock({ pid: endedPid() })
    await writeFile(`${lock()}.taking`, await readFile(lock()))
    await using held = await lockRun(run)
    expect(held.takenOver).toBeDefined()
    expect(await readdir(run)).toEqual([lockName])
  })

  test('of several that would take it over goes to one', async () => {
    await leaveLock({ pid: endedPid() })
    const tried = await Promise.allSettled(Array.from({ length: 20 }, () => lockRun(run)))
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('of a process that was killed is free again', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await leaveLock({ pid: child.pid })
    await expect(lockRun(run)).rejects.toThrow(`process ${child.pid}`)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    await using held = await lockRun(run)
    expect(held.takenOver).toContain(`process ${child.pid}`)
  })
})
