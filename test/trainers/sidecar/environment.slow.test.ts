import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  engineModules,
  engineNames,
  findPython,
  interpreterPath,
  pinsHash,
  requirementsFile,
  stampFile,
} from '../../../src/trainers/sidecar/environment.js'
import type { SetupOptions } from '../../../src/trainers/sidecar/environment-setup.js'
import { makeEnvironment } from '../../../src/trainers/sidecar/environment-setup.js'
import { installFault } from '../../../src/trainers/sidecar/installer.js'
import { chooseInterpreter } from '../../../src/trainers/sidecar/interpreter.js'
import { redactSecrets } from '../../../src/trainers/sidecar/program.js'
import { python, stampedFolder, uvFolder, wheel } from '../../fixtures/environments.js'
import { fc } from '../../fixtures/property.js'

const home = mkdtempSync(join(tmpdir(), 'bedside-environments-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the locked requirements', () => {
  test.each(engineNames)('of %s pin what the engine imports, and name no place', (engine) => {
    const lines = readFileSync(requirementsFile(engine), 'utf8').trim().split('\n')
    const pinned = lines.map((line) => /^([a-z\d-]+)==[\w.]+(?: ; .+)?$/.exec(line)?.[1])
    expect(pinned).not.toContain(undefined)
    for (const name of Object.values(engineModules(engine))) expect(pinned).toContain(name)
  })

  const pin = fc.stringMatching(/^[a-z]{1,9}==\d\.\d$/)

  test('hash to the same whatever their order and comments, and to another with another pin', () => {
    fc.assert(
      fc.property(fc.uniqueArray(pin, { minLength: 2 }), fc.string(), (pins, build) => {
        const turned = ['# a comment', ...pins.toReversed(), ''].join('\n')
        expect(pinsHash(build, turned)).toBe(pinsHash(build, pins.join('\n')))
        expect(pinsHash(build, pins.slice(1).join('\n'))).not.toBe(pinsHash(build, turned))
        expect(pinsHash(`${build}.`, turned)).not.toBe(pinsHash(build, turned))
      }),
    )
  })
})

describe('secrets', () => {
  const word = fc.stringMatching(/^[\w.%-]{8,20}$/)

  test('of addresses are in nothing that is shown', () => {
    fc.assert(
      fc.property(word, word, word, (user, password, key) => {
        const said = `error at https://${user}:${password}@example.org/simple?key=${key}, see (http://x.org/?t=${key})`
        const shown = redactSecrets(said)
        for (const secret of [`${user}:${password}`, `=${key}`]) expect(shown).not.toContain(secret)
        expect(shown).toContain('example.org/simple')
      }),
    )
  })
})

describe('what uv and pip say', () => {
  const told: readonly (readonly [string, RegExp])[] = [
    ['  cause: No space left on device (os error 28)', /disk is full.*--env DIR/],
    ['error: failed to create directory: Permission denied (os error 13)', /permission.*--env DIR/],
    ['OSError: [Errno 30] Read-only file system', /permission/],
    ['error: Failed to fetch: `https://example.org/simple/torch/`', /did not answer.*HTTPS_PROXY/],
    ['  cause: dns error: failed to lookup address information', /did not answer/],
    ['ERROR: Could not find a version (from versions: none)', /did not answer/],
    ['  cause: Because torch==2.14.1 has no wheels with a matching platform tag', /no wheel of/],
    ['Error: ensurepip is not available', /python3-venv/],
    ['error: something new', /it failed\.\s+It said: something new/],
  ]
  test.each(told)('%s', (line, meaning) => {
    const ended = { code: 2, signal: null, lines: ['Collecting networkx', line] }
    const fault = installFault('uv', ended, 'somewhere')
    expect(fault.code).toBe('model-unavailable')
    expect(fault.message).toMatch(meaning)
  })
})

describe.skipIf(!python)('findPython', () => {
  const stamp = (folder: string, text: string) => writeFileSync(stampFile(folder), text)

  test('finds a stamped environment and reads its versions without importing', async () => {
    const folder = join(home, 'root', 'sidecar')
    stampedFolder(folder, 'peft', { torch: '2.14.1', Protobuf: '7.0', unrelated: '1' })
    expect(await findPython('peft', { root: join(home, 'root') })).toMatchObject({
      found: true,
      folder,
      version: python?.version,
      versions: { torch: '2.14.1', protobuf: '7.0' },
    })
    expect(await findPython('peft', { env: { BEDSIDE_VENVS: join(home, 'root') } })).toMatchObject({
      found: true,
    })
  })

  test('says what is the matter, and what mends it', async () => {
    const found = (folder: string) => findPython('unsloth', { folder })
    const folder = join(home, 'unsloth')
    const mend = `npx bedside sidecar setup --engine unsloth --env ${folder}`
    expect(await found(folder)).toEqual({
      found: false,
      folder,
      state: 'missing',
      reason: expect.stringContaining(mend),
    })
    stampedFolder(folder, 'unsloth')
    expect(await found(folder)).toMatchObject({ found: true })
    stamp(folder, 'unfinished 1\n')
    expect(await found(folder)).toMatchObject({ found: false, state: 'unfinished' })
    rmSync(stampFile(folder))
    expect(await found(folder)).toMatchObject({ found: false, state: 'unfinished' })
    stamp(folder, `${'0'.repeat(64)}\n`)
    expect(await found(folder)).toMatchObject({ found: false, state: 'other-pins' })
    rmSync(interpreterPath(folder))
    expect(await found(folder)).toMatchObject({ found: false, state: 'broken' })
  })

  test('takes the stamp of scripts/python-env.sh for its own', () => {
    const pins = requirementsFile('peft')
    const script = `{ "$0" -c 'import sys; print(sys.version)'; grep -v '^#' "$1" | LC_ALL=C sort; } | "$0" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'`
    const made = execFileSync('bash', ['-c', script, python?.python ?? '', pins], {
      encoding: 'utf8',
    })
    expect(pinsHash(python?.build ?? '', readFileSync(pins, 'utf8'))).toBe(made.trim())
  })
})

describe('chooseInterpreter', () => {
  /** A program that answers as a Python of that version would. */
  function answering(folder: string, name: string, version: string): string {
    mkdirSync(folder, { recursive: true })
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\necho '${version}|${version} (a stand-in)'\n`)
    chmodSync(path, 0o755)
    return path
  }

  test('takes the first on PATH that is new enough and not too new', async () => {
    const [first, second] = [join(home, 'first'), join(home, 'second')]
    answering(first, 'python3', '3.9.1')
    answering(first, 'python', '2.7.18')
    answering(second, 'python3', '3.12.4')
    const env = { PATH: [first, second].join(delimiter) }
    expect(await chooseInterpreter(env, {})).toMatchObject({
      python: join(second, 'python3'),
      version: '3.12.4',
    })
  })

  test('says what it found, what it needs and how to choose', async () => {
    const folder = join(home, 'old')
    const path = answering(folder, 'python3', '3.10.2')
    const fault = { code: 'bad-input', message: expect.stringContaining('3.11 to 3.13') }
    const asked = chooseInterpreter({ PATH: folder }, {})
    await expect(asked).rejects.toMatchObject(fault)
    await expect(asked).rejects.toThrow(
      `found 3.10.2 at ${path}. Choose one with \`--python PATH\``,
    )
    await expect(chooseInterpreter({ PATH: '' }, {})).rejects.toThrow('found none')
    await expect(chooseInterpreter({}, { python: path })).rejects.toThrow('found 3.10.2')
    const nothing = chooseInterpreter({}, { python: join(folder, 'nothing') })
    await expect(nothing).rejects.toThrow('does not run')
  })
})

describe.skipIf(!python)('makeEnvironment', () => {
  const wheels = join(home, 'wheels')
  const requirements = join(home, 'requirements.txt')
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PIP_NO_INDEX: '1',
    PIP_FIND_LINKS: wheels,
    UV_OFFLINE: '1',
    UV_FIND_LINKS: wheels,
    UV_CACHE_DIR: join(home, 'cache'),
  }
  const withUv = { ...env, PATH: `${uvFolder}${delimiter}${env.PATH}` }
  beforeAll(() => {
    mkdirSync(wheels)
    wheel(wheels, 'sound', 'x = 1\n')
    wheel(wheels, 'faulty', 'raise OSError("a library is missing")\n')
    writeFileSync(requirements, "sound==1.0\nabsent==9.9 ; sys_platform == 'none'\n")
  })

  const making = (folder: string, more: Partial<SetupOptions> = {}): SetupOptions => ({
    ...{ engine: 'peft', folder, env, requirements, modules: { sound: 'sound' } },
    ...(uvFolder === undefined ? {} : { env: withUv }),
    ...more,
  })

  const tools = [
    ['pip', env],
    ...(uvFolder === undefined ? [] : [['uv', withUv] as const]),
  ] as const

  test.each(tools)(
    'with %s makes it phase by phase, and stamps it last',
    async (_, variables) => {
      const folder = mkdtempSync(join(home, 'made-'))
      const heard: string[] = []
      const progress: string[] = []
      const made = await makeEnvironment({
        ...making(folder, { env: variables }),
        onBegin: (phase) => heard.push(phase),
        onProgress: (phase, { done, total }) => progress.push(`${phase} ${done}/${total}`),
        onEnd: (phase, note) => {
          heard.push(`${phase}: ${note}`)
          if (phase !== 'python')
            expect(readFileSync(stampFile(folder), 'utf8')).toMatch(/^unfinished/)
        },
      }).catch((error: unknown) => error)
      expect(made).toMatchObject({ made: true, versions: { sound: '1.0' }, device: 'cpu' })
      expect(heard.filter((line) => !line.includes(':'))).toEqual([
        ...['python', 'environment', 'packages', 'imports'],
      ])
      expect(heard).toContain('packages: 1 distributions')
      // Which of them are seen while it goes on depends on how fast the machine is.
      const possible = ['packages 0/1', 'packages 1/1', 'imports 0/1', 'imports 1/1']
      for (const line of progress) expect(possible).toContain(line)
      expect(progress.at(-1)).toBe('imports 1/1')
      expect(readFileSync(stampFile(folder), 'utf8')).toBe(
        `${pinsHash(python?.build ?? '', readFileSync(requirements, 'utf8'))}\n`,
      )
    },
    60_000,
  )

  test('names the module that does not import, and leaves no environment that passes for whole', async () => {
    const folder = join(home, 'faulty')
    writeFileSync(join(home, 'faulty.txt'), 'sound==1.0\nfaulty==1.0\n')
    const options = making(folder, {
      requirements: join(home, 'faulty.txt'),
      modules: { sound: 'sound', faulty: 'faulty' },
    })
    const failing = makeEnvironment(options)
    await expect(failing).rejects.toMatchObject({ code: 'model-unavailable' })
    await expect(failing).rejects.toThrow(/faulty .* does not import: .*a library is missing/)
    expect(await findPython('peft', { folder })).toMatchObject({ state: 'unfinished' })
    expect(await makeEnvironment(making(folder))).toMatchObject({ made: true })
  }, 60_000)

  test('says that a pin is nowhere to be had', async () => {
    writeFileSync(join(home, 'absent.txt'), 'absent==9.9\n')
    const options = making(join(home, 'absent'), { requirements: join(home, 'absent.txt') })
    await expect(makeEnvironment(options)).rejects.toThrow(/absent/)
  }, 60_000)

  test('stopped in the middle is unfinished, and made afresh the next time', async () => {
    const folder = join(home, 'stopped')
    const controller = new AbortController()
    const options = making(folder, {
      signal: controller.signal,
      onBegin: (phase) => phase === 'packages' && controller.abort(),
    })
    await expect(makeEnvironment(options)).rejects.toMatchObject({ name: 'AbortError' })
    expect(await findPython('peft', { folder })).toMatchObject({ state: 'unfinished' })
    expect(await makeEnvironment(making(folder))).toMatchObject({ made: true })
  }, 60_000)

  test('touches no folder that is not its own, nor one that another process is at work in', async () => {
    const folder = join(home, 'mine')
    mkdirSync(folder)
    writeFileSync(join(folder, 'thesis.tex'), 'years of work')
    const refused = makeEnvironment(making(folder))
    await expect(refused).rejects.toMatchObject({ code: 'bad-input' })
    await expect(refused).rejects.toThrow('found 1 entries of something else')
    expect(existsSync(join(folder, 'thesis.tex'))).toBe(true)
    rmSync(join(folder, 'thesis.tex'))
    writeFileSync(stampFile(folder), `unfinished ${process.ppid}\n`)
    await expect(makeEnvironment(making(folder))).rejects.toThrow(`process ${process.ppid}`)
  })

  test('leaves alone what is whole', async () => {
    const folder = join(home, 'whole')
    stampedFolder(folder, 'peft', { torch: '2.14.1' })
    expect(await makeEnvironment({ engine: 'peft', folder, env })).toMatchObject({
      made: false,
      versions: { torch: '2.14.1' },
    })
  })
})
