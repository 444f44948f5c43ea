/** Which Python makes an environment: the versions that can, and how one is found and asked. */
import { Fault } from '../../error.js'
import { onPath, runProgram, type Variables } from './program.js'

/** A Python that was asked. */
export interface Interpreter {
  readonly python: string
  /** As `3.11.7`. */
  readonly version: string
  /** All of `sys.version`, which names the build. */
  readonly build: string
}

const oldest = [3, 11] as const
const newest = [3, 13] as const

/** The versions the locked requirements were resolved for. */
export const pythonVersions = `${oldest.join('.')} to ${newest.join('.')}`

// Even Python 2 can answer this.
const question =
  'import sys; v = sys.version_info; sys.stdout.write("%d.%d.%d|%s" % (v[0], v[1], v[2], sys.version.replace("\\n", "|")))'

const fits = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 3 && minor >= oldest[1] && minor <= newest[1]
}

/** Asks an interpreter for its version; undefined where it does not run. */
export async function askPython(python: string, env: Variables): Promise<Interpreter | undefined> {
  const { code, lines } = await runProgram(python, ['-E', '-s', '-c', question], {
    env,
    timeoutMs: 20_000,
  })
  const [version, ...build] = (lines.at(-1) ?? '').split('|')
  return code === 0 && version ? { python, version, build: build.join('\n') } : undefined
}

/** Every interpreter a shell would find, the likeliest first, and those that uv keeps. */
async function candidates(env: Variables, uv: string | undefined): Promise<string[]> {
  const minors = [12, 11, 13].map((minor) => `python3.${minor}`)
  const found = ['python3', 'python', ...minors].flatMap((name) => onPath(name, env))
  if (uv === undefined) return found
  const range = `>=${oldest.join('.')},<${newest[0]}.${newest[1] + 1}`
  const { code, lines } = await runProgram(uv, ['python', 'find', '--no-python-downloads', range], {
    env,
    timeoutMs: 20_000,
  })
  return code === 0 ? [...found, ...lines.slice(-1)] : found
}

const choose = 'Choose one with `--python PATH`'

async function given(python: string, env: Variables): Promise<Interpreter> {
  const asked = await askPython(python, env)
  if (!asked)
    throw new Fault(
      'bad-input',
      `--python ${python}: expected a Python interpreter (${pythonVersions}); it does not run`,
    )
  if (!fits(asked.version))
    throw new Fault(
      'bad-input',
      `--python ${python}: expected Python ${pythonVersions}, found ${asked.version}`,
    )
  return asked
}

/**
 * The interpreter to make an environment with: the given one, else the first on `PATH` whose version fits.
 * @param uv its path; it knows of interpreters that are not on `PATH`
 * @throws Fault `bad-input` naming what was found, what is needed, and how to choose
 */
export async function chooseInterpreter(
  env: Variables,
  { python, uv }: { readonly python?: string; readonly uv?: string },
): Promise<Interpreter> {
  if (python !== undefined) return given(python, env)
  const others: Interpreter[] = []
  for (const candidate of new Set(await candidates(env, uv))) {
    const asked = await askPython(candidate, env)
    if (asked && fits(asked.version)) return asked
    if (asked) others.push(asked)
  }
  const found =
    others.length === 0
      ? 'found none'
      : `found ${others.map((one) => `${one.version} at ${one.python}`).join(', ')}`
  throw new Fault(
    'bad-input',
    `Expected Python ${pythonVersions} on PATH; ${found}. ${choose}, or get one: \`uv python install 3.12\`, python.org, or your system's packages`,
  )
}
