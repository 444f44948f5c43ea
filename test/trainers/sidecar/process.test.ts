import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pythonPackage } from '../../../src/trainers/sidecar/environment.js'
import type { StartSidecarOptions } from '../../../src/trainers/sidecar/process.js'
import { startSidecar } from '../../../src/trainers/sidecar/process.js'
import { standIn } from '../../fixtures/sidecar-standin.js'

const home = mkdtempSync(join(tmpdir(), 'bedside-process-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const python = standIn(home)

type Behaviour = 'ready' | 'refuses' | 'crashes' | 'silent' | 'stubborn'

const options = (
  model: Behaviour,
  more: Partial<StartSidecarOptions> = {},
): StartSidecarOptions => ({
  ...{ model, engine: 'peft', state: join(home, 'state'), python },
  ...more,
})

const running = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a sidecar that starts', () => {
  test('is told everything on its command line, but the token', async () => {
    await using server = await startSidecar(
      options('ready', { dtype: 'float64', threads: 2, flags: ['--name', 'doctor'] }),
    )
    expect(server.token).toMatch(/^tml-[\da-f]{48}$/)
    expect(server.ready).toMatchObject({ token: server.token, engine: 'peft', pid: server.pid })
    const argv = [server.ready.argv].flat()
    for (const pair of [
      ['-m', 'bedside_trainers.sidecar'],
      ['--state', join(home, 'state')],
      ['--port', '0'],
      ['--parent-pid', String(process.pid)],
      ['--dtype', 'float64'],
      ['--threads', '2'],
      ['--name', 'doctor'],
    ])
      expect(argv[argv.indexOf(pair[0]) + 1]).toBe(pair[1])
    expect(argv).not.toContain('--device')
    expect(JSON.stringify(argv)).not.toContain(server.token)
    expect(String(server.ready.pythonPath).startsWith(pythonPackage())).toBe(true)
    expect(server.summary).toBe('peft on cpu, float32, qwen3 of 1,234 parameters; torch 2.0')
  })

  test('takes a token of the caller, and logs what is no word of its own', async () => {
    const heard: string[] = []
    const token = 'tml-of-the-caller'
    await using server = await startSidecar(
      options('ready', { token, onLine: (line) => heard.push(line) }),
    )
    expect(server.ready.token).toBe(token)
    expect(heard).toEqual(['a banner of some library'])
  })

  test('is stopped when it is asked to be, which is no loss', async () => {
    const server = await startSidecar(options('ready'))
    const [first, second] = await Promise.all([server.stop(), server.stop()])
    expect(first).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(second).toBe(first)
    expect([running(server.pid), server.died.aborted]).toEqual([false, false])
  })

  test('is killed when it does not end by itself', async () => {
    const server = await startSidecar(options('stubborn', { stopSeconds: 0.2 }))
    expect(await server.stop()).toMatchObject({ signal: 'SIGKILL' })
    expect(running(server.pid)).toBe(false)
  })

  test('ends with the signal of the caller', async () => {
    const controller = new AbortController()
    const server = await startSidecar(options('ready', { signal: controller.signal }))
    controller.abort()
    expect(await server.exited).toMatchObject({ signal: 'SIGTERM' })
  })

  test('that is killed is a loss, which everyone who waits hears of at once', async () => {
    await using server = await startSidecar(options('ready'))
    const waiting = server.watch(new Promise<never>(() => {}))
    process.kill(server.pid, 'SIGKILL')
    await expect(waiting).rejects.toMatchObject({ code: 'backend-lost' })
    await expect(waiting).rejects.toThrow('killed (SIGKILL)')
    expect(server.died.reason).toMatchObject({ code: 'backend-lost' })
    expect(await server.exited).toMatchObject({ signal: 'SIGKILL', code: null })
    await expect(server.watch(new Promise<never>(() => {}))).rejects.toThrow('gone')
  })

  test('gives what it worked out while it was there', async () => {
    await using server = await startSidecar(options('ready'))
    expect(await server.watch(Promise.resolve(7))).toBe(7)
  })
})

describe('a sidecar that does not start', () => {
  test('because of what it was given says so in its own words', async () => {
    await expect(startSidecar(options('refuses'))).rejects.toMatchObject({
      code: 'bad-input',
      message: '--model: expected a folder',
    })
  })

  test('for another reason shows its last lines, and never the token', async () => {
    const failing = startSidecar(options('crashes'))
    await expect(failing).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringMatching(
        /ended with code 1.*loading with tml-\*\*\*.*hundred reasons/s,
      ),
    })
  })

  test('in time is stopped, and what it was doing is told', async () => {
    const failing = startSidecar(options('silent', { startSeconds: 3 }))
    await expect(failing).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('within 3 s; the last it said: loading shard 3 of 7'),
    })
  })

  test('because there is no such interpreter says so', async () => {
    const failing = startSidecar(options('ready', { python: join(home, 'none') }))
    await expect(failing).rejects.toMatchObject({ code: 'model-unavailable' })
    await expect(failing).rejects.toThrow(/could not be started: .*ENOENT/)
  })

  test('because there is no environment names the command that makes one', async () => {
    const { python: _, ...rest } = options('ready')
    const failing = startSidecar({ ...rest, env: { BEDSIDE_VENVS: home } })
    await expect(failing).rejects.toMatchObject({ code: 'bad-input' })
    await expect(failing).rejects.toThrow('npx bedside sidecar setup')
  })

  test('because the caller gave up throws what the caller gave', async () => {
    const controller = new AbortController()
    const failing = startSidecar(
      options('silent', { signal: controller.signal, onLine: () => controller.abort() }),
    )
    await expect(failing).rejects.toMatchObject({ name: 'AbortError' })
  })
})
