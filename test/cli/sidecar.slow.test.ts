import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { python, stampedFolder } from '../fixtures/environments.js'
import { sidecarPython, tinyModel } from '../fixtures/sidecar.js'
import { standIn } from '../fixtures/sidecar-standin.js'
import { bedside, document } from './terminal.js'

const home = mkdtempSync(join(tmpdir(), 'bedside-sidecar-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const env = { PATH: String(process.env.PATH) }

describe.skipIf(!python)('sidecar setup', () => {
  test('says of a whole environment that it is up to date', async () => {
    const folder = join(home, 'unsloth')
    stampedFolder(folder, 'unsloth', { unsloth: '2026.10.7', torch: '2.14.1' })
    const argv = ['sidecar', 'setup', '--engine', 'unsloth']
    const { code, stdout, stderr } = await bedside(argv, { env: { ...env, BEDSIDE_VENVS: home } })
    expect(code).toBe(0)
    expect(stdout).toContain(`${folder}: up to date`)
    expect(stdout).toMatch(/^unsloth +2026\.10\.7$/m)
    expect(stderr).toContain('npx bedside sidecar serve --model FOLDER --engine unsloth')
    expect(await document([...argv, '--env', folder], { env })).toMatchObject({
      ...{ engine: 'unsloth', folder, made: false, pythonVersion: python?.version },
      versions: { unsloth: '2026.10.7', torch: '2.14.1' },
      timing: { seconds: expect.any(Number) },
    })
  })

  test('gives 2 for a folder or an interpreter that cannot be it', async () => {
    const folder = join(home, 'mine')
    mkdirSync(folder)
    writeFileSync(join(folder, 'thesis.tex'), 'years of work')
    const mine = await bedside(['sidecar', 'setup', '--env', folder], { env })
    expect([mine.code, mine.stdout]).toEqual([2, ''])
    expect(mine.stderr).toContain('found 1 entries of something else')
    const none = await bedside(['sidecar', 'setup', '--python', join(home, 'none')], {
      env: { ...env, BEDSIDE_VENVS: join(home, 'venvs') },
    })
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('expected a Python interpreter (3.11 to 3.13)')
    const engine = await bedside(['sidecar', 'setup', '--engine', 'jax'], { env })
    expect(engine.code).toBe(2)
    expect(engine.stderr).toContain('peft, unsloth')
  })

  test('stopped by Ctrl-C gives 130 and the command that goes on', async () => {
    const controller = new AbortController()
    const folder = join(home, 'stopped')
    const { code, stderr } = await bedside(['sidecar', 'setup', '--env', folder], {
      ...{ env, signal: controller.signal },
      onText: (text) => text.startsWith('python') && controller.abort(),
    })
    expect(code).toBe(130)
    expect(stderr).toContain(`npx bedside sidecar setup --env ${folder}`)
  }, 60_000)
})

describe('sidecar tiny-model', () => {
  test('looks for its environment where it is told to', async () => {
    const argv = ['sidecar', 'tiny-model', '--out', join(home, 'tiny'), '--env', join(home, 'no')]
    const { code, stderr } = await bedside(argv, { env })
    expect(code).toBe(2)
    expect(stderr).toContain(join(home, 'no'))
    const python = join(home, 'no-python')
    const other = await bedside([...argv, '--python', python], { env })
    expect(other.code).toBe(2)
    expect(other.stderr).toContain(python)
  })
})

describe('sidecar serve', () => {
  const serve = (...argv: readonly string[]) => ['sidecar', 'serve', '--model', ...argv]
  const state = () => mkdtempSync(join(home, 'state-'))

  /** Serves until what is printed contains `text`, then presses Ctrl-C. */
  const until = (text: string, argv: readonly string[], more: Record<string, string> = {}) => {
    const controller = new AbortController()
    return bedside(argv, {
      ...{ env: { ...env, ...more }, signal: controller.signal },
      onText: (written) => written.includes(text) && controller.abort(),
    })
  }

  test('prints one document, with where the token is and not what', async () => {
    const folder = state()
    const argv = serve('ready', '--python', standIn(home), '--state', folder, '--json')
    const { code, stdout, stderr } = await until('Ctrl-C', argv)
    expect(code).toBe(130)
    const file = join(folder, 'token')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ engine: 'peft', address: 'http://127.0.0.1:9', versions: { torch: '2.0' } },
      token: { file },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const token = readFileSync(file, 'utf8').trim()
    expect(stdout + stderr).not.toContain(token)
    await until('Ctrl-C', argv)
    expect(readFileSync(file, 'utf8').trim()).toBe(token)
  })

  test('takes the token of the environment, and writes no file then', async () => {
    const folder = state()
    const variable = { BEDSIDE_SIDECAR_TOKEN: 'tml-0123456789abcdef' }
    const argv = serve('ready', '--python', standIn(home), '--state', folder)
    const { code, stdout, stderr } = await until('Ctrl-C', argv, variable)
    expect(code).toBe(130)
    expect(stdout).toMatch(/^token +\$BEDSIDE_SIDECAR_TOKEN$/m)
    expect(stdout + stderr).not.toContain('0123456789abcdef')
    const bad = await until('Ctrl-C', argv, { BEDSIDE_SIDECAR_TOKEN: 'secret-of-mine' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('BEDSIDE_SIDECAR_TOKEN: expected a token')
    expect(bad.stderr).not.toContain('secret-of-mine')
  })

  test('gives 2 and the server’s own words for what it was given wrongly', async () => {
    const argv = serve('refuses', '--python', standIn(home), '--state', state())
    const { code, stderr } = await bedside(argv, { env })
    expect(code).toBe(2)
    expect(stderr).toMatch(/loading\nerror: --model: expected a folder\n$/)
  })

  test('gives 1 when the server ends by itself', async () => {
    const argv = serve('crashes', '--python', standIn(home), '--state', state())
    const { code, stderr } = await bedside(argv, { env })
    expect(code).toBe(1)
    expect(stderr).toContain('a hundred reasons')
  })

  test('without an environment names the command that makes one', async () => {
    const more = { BEDSIDE_VENVS: join(home, 'none') }
    const { code, stderr } = await bedside(serve('ready', '--state', state()), { env: more })
    expect(code).toBe(2)
    expect(stderr).toContain('run `npx bedside sidecar setup`')
  })

  test.skipIf(!sidecarPython)(
    'serves a real model to those who have the token',
    async () => {
      const folder = state()
      const controller = new AbortController()
      const model = tinyModel()
      const argv = serve(
        model,
        '--python',
        String(sidecarPython),
        '--state',
        folder,
        '--threads',
        '1',
        '--max-models',
        '2',
        '--max-snapshots',
        '3',
        '--missing-seconds',
        '4.5',
        '--context-length',
        '64',
      )
      let text = ''
      const printed = new Promise<void>((resolve) => {
        const ended = bedside([...argv, '--json'], {
          ...{ env, signal: controller.signal },
          onText: (written) => {
            text += written
            if (text.includes('Ctrl-C')) resolve()
          },
        })
        void ended.then(({ code }) => {
          text += `ended with ${code}`
          resolve()
        })
      })
      await printed
      const address = /"address":"([^"]+)"/.exec(text)?.[1] ?? text
      expect(text).toContain('"maxModels":2')
      expect(text).toContain('"maxSnapshots":3')
      expect(text).toContain('"maxMissingSeconds":4.5')
      expect(text).toContain('"contextLength":64')
      const token = readFileSync(join(folder, 'token'), 'utf8').trim()
      const asked = async (headers: Record<string, string>) =>
        (await fetch(`${address}/ext/v1/capabilities`, { headers })).status
      expect([await asked({}), await asked({ 'X-API-Key': token })]).toEqual([401, 200])
      controller.abort()
      await expect.poll(() => text, { timeout: 20_000 }).toContain('ended with 130')
    },
    120_000,
  )
})

test.skipIf(!sidecarPython)(
  'says why tokens cannot be drawn elsewhere',
  async () => {
    const refused = async (...flags: string[]) => {
      const argv = ['sidecar', 'serve', '--model', tinyModel(), '--state', join(home, 'elsewhere')]
      const { code, stderr } = await bedside(
        [...argv, '--python', String(sidecarPython), '--threads', '1', ...flags],
        { env },
      )
      expect(code).toBe(2)
      return stderr
    }
    expect(await refused('--sampler', 'vllm')).toContain('expected both or neither')
    expect(await refused('--sampler', 'sglang', '--sampler-url', 'http://127.0.0.1:9')).toMatch(
      /sglang at http:\/\/127\.0\.0\.1:9\/health: .*refused/,
    )
    expect(await refused('--context-length', '1000000')).toContain("the model's own")
  },
  120_000,
)

test('every sidecar command ends its help with examples', async () => {
  for (const command of ['setup', 'serve']) {
    const { code, stdout } = await bedside(['sidecar', command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`$ npx bedside sidecar ${command}`)
  }
})

describe.skipIf(!python)('info', () => {
  test('tells of each engine whether it runs here, and why not', async () => {
    const root = join(home, 'info')
    stampedFolder(join(root, 'sidecar'), 'peft', { torch: '2.14.1', peft: '0.21.2' })
    const at = { ...env, BEDSIDE_VENVS: root }
    expect(await document(['info'], { env: at })).toMatchObject({
      environments: [
        { engine: 'peft', state: 'whole', versions: { torch: '2.14.1', peft: '0.21.2' } },
        { engine: 'unsloth', state: 'missing', python: null, versions: {} },
      ],
      backends: expect.arrayContaining([
        expect.objectContaining({
          name: 'sidecar',
          runs: true,
          why: expect.stringContaining('peft'),
        }),
      ]),
    })
    const none = await bedside(['info'], { env: { ...env, BEDSIDE_VENVS: join(home, 'none') } })
    expect(none.stdout).toMatch(/^backend sidecar +does not run here: peft: .*sidecar setup/m)
    expect(none.stdout).toMatch(/^engine unsloth +does not run here: /m)
  })
})
