import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { runFolder } from '../../../src/cli/commands/run-folder.js'
import { commandLine, output, table } from '../../../src/cli/print/output.js'
import { startProgress } from '../../../src/cli/print/progress.js'

function terminal({ tty = false, env = {} }: { tty?: boolean; env?: Record<string, string> } = {}) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(new PassThrough(), { isTTY: tty, columns: 120 }).on('data', (chunk) => {
      written[name] += chunk
    })
  const { signal } = new AbortController()
  const streams = { stdin: new PassThrough(), stdout: stream('stdout'), stderr: stream('stderr') }
  return { terminal: { ...streams, env, signal }, written }
}

describe('output', () => {
  test('with --json people’s lines go to stderr and the document alone to stdout', async () => {
    const { terminal: at, written } = terminal()
    const { say, note, document } = output(at, { json: true })
    await say('a table')
    await note('a note')
    await document({ one: 1 })
    expect(written).toEqual({ stdout: '{"one":1}\n', stderr: 'a table\na note\n' })
  })

  test('--quiet silences notes, not results', async () => {
    const { terminal: at, written } = terminal()
    const { say, note } = output(at, { quiet: true })
    await note('a note')
    await say('a table')
    expect(written).toEqual({ stdout: 'a table\n', stderr: '' })
  })

  test('colours a terminal only, and not with NO_COLOR', () => {
    const red = (options: Parameters<typeof terminal>[0]) =>
      output(terminal(options).terminal).paint.red('x')
    expect(red({ tty: true })).toContain('\u001b[31m')
    expect(red({ tty: true, env: { NO_COLOR: '1' } })).toBe('x')
    expect(red({ tty: false })).toBe('x')
  })

  test.each([
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: 'true', TERM: 'dumb' }, false, true],
    [{ FORCE_COLOR: '3' }, true, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: 'false' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '' }, false, true],
    [{ TERM: 'dumb' }, true, false],
    [{}, true, true],
  ])('with %j on a terminal (%s) there are colours: %s', (env, tty, coloured) => {
    const { paint } = output(terminal({ tty, env }).terminal)
    expect(paint.red('x')).toBe(coloured ? '\u001b[31mx\u001b[39m' : 'x')
  })

  test('stdout as the file to write leaves it to the file', async () => {
    const { terminal: at, written } = terminal()
    await output(at, { out: '/dev/stdout' }).say('a table')
    await output(at, { out: 'cases.jsonl' }).say('another')
    expect(written).toEqual({ stdout: 'another\n', stderr: 'a table\n' })
    expect(() => output(at, { json: true, out: '/dev/stdout' })).toThrow('got `/dev/stdout`')
  })

  test('a table lines up Chinese and coloured cells', () => {
    const rows = [
      ['诊断', '1.000'],
      ['\u001b[31mexams\u001b[39m', '0.5'],
    ]
    expect(table(rows)).toBe('诊断   1.000\n\u001b[31mexams\u001b[39m    0.5')
  })

  test('a command line can be pasted into a shell', () => {
    expect(commandLine('train', '--set', "reward='a b'")).toBe(
      `npx bedside train --set 'reward='\\''a b'\\'''`,
    )
  })

  test('a run folder carries its name and local time', () => {
    expect(runFolder('my recipe', new Date(2026, 0, 2, 3, 4, 5))).toBe(
      'runs/my-recipe-20260102-030405',
    )
  })
})

describe('progress', () => {
  test('without a terminal is a plain line now and then, with rate and time left', async () => {
    const { terminal: at, written } = terminal()
    const { update: done } = await startProgress(at, { label: 'work', total: 3, everyMs: 0 })
    done(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    done(2, 'going well')
    done(3)
    const lines = written.stderr.split('\n')
    expect(lines[0]).toBe('work 1/3 · …')
    expect(lines[1]).toMatch(/^work 2\/3 · \d+\/s, 0 s left · going well$/)
    expect(lines[2]).toBe('work 3/3 · took 0 s')
  })

  test('tells the time left by the later half, and by the work of units that differ', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { terminal: at, written } = terminal()
      // Ten units of work 1, then ten of work 10.
      const workAt = (units: number) => Math.min(units, 10) + 10 * Math.max(0, units - 10)
      const { update: done } = await startProgress(at, {
        ...{ label: 'work', total: 20, everyMs: 0, workAt },
      })
      const last = () => written.stderr.trimEnd().split('\n').at(-1)
      for (let n = 1; n <= 10; n++) {
        done(n)
        vi.advanceTimersByTime(1000)
      }
      // 100 of work are left at 1 a second.
      expect(last()).toBe('work 10/20 · 1.0/s, 1 min 40 s left')
      for (let n = 11; n <= 15; n++) {
        vi.advanceTimersByTime(19_000)
        done(n)
        vi.advanceTimersByTime(1000)
      }
      // The later half is at .5 a second: five of work 10 take 100 s.
      expect(last()).toBe('work 15/20 · 0.1/s, 1 min 40 s left')
    } finally {
      vi.useRealTimers()
    }
  })

  test('keeps still between its lines', async () => {
    const { terminal: at, written } = terminal()
    const { update: done } = await startProgress(at, {
      label: 'work',
      total: 1000,
      everyMs: 60_000,
    })
    for (let n = 1; n < 1000; n++) done(n)
    expect(written.stderr).toBe('')
  })

  test('on a terminal is a bar, and nothing at all with --quiet', async () => {
    const { terminal: at, written } = terminal({ tty: true })
    const quiet = await startProgress(at, { label: 'work', total: 2, quiet: true })
    quiet.update(1)
    quiet.stop()
    expect(written.stderr).toBe('')
    const bar = await startProgress(at, { label: 'work', total: 2 })
    bar.update(1)
    bar.stop()
    expect(written.stderr).toContain('work ████████████░░░░░░░░░░░░ 1/2')
  })
})
