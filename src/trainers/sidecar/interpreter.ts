/** Finds a Python interpreter of a supported version to create environments with. */
import { Fault } from '../../error.js'
import { type EnvironmentVariables, findOnPath, runProgram } from './program.js'

/** A Python interpreter and its version. */
export interface Interpreter {
  readonly python: string
  /** For example `3.11.7`. */
  readonly version: string
  /** All of `sys.version`, which identifies the build. */
  readonly build: string
}

const oldest = [3, 11] as const
const newest = [3, 13] as const

/** Supported versions, for messages: those the locked requirements were resolved for. */
export const pythonVersions = `${oldest.join('.')} to ${newest.join('.')}`

// Python 2 can run this too.
const versionScript =
  'import sys; v = sys.version_info; sys.stdout.write("%d.%d.%d|%s" % (v[0], v[1], v[2], sys.version.replace("\\n", "|")))'

const fits = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 3 && minor >= oldest[1] && minor <= newest[1]
}

/** Asks an interpreter for its version; undefined if it does not run. */
export async function queryPython(
  python: string,
  env: EnvironmentVariables,
): Promise<Interpreter | undefined> {
  const { code, lines } = await runProgram(python, ['-E', '-s', '-c', versionScript], {
    env,
    timeoutMs: 20_000,
  })
  const [version, ...build] = (lines.at(-1) ?? '').split('|')
  return code === 0 && version ? { python, version, build: build.join('\n') } : undefined
}

/** Interpreters on `PATH`, the most usual names first, then those that uv manages. */
async function candidates(env: EnvironmentVariables, uv: string | undefined): Promise<string[]> {
  const minors = [12, 11, 13].map((minor) => `python3.${minor}`)
  const found = ['python3', 'python', ...minors].flatMap((name) => findOnPath(name, env))
  if (uv === undefined) return found
  const range = `>=${oldest.join('.')},<${newest[0]}.${newest[1] + 1}`
  const { code, lines } = await runProgram(uv, ['python', 'find', '--no-python-downloads', range], {
    env,
    timeoutMs: 20_000,
  })
  return code === 0 ? [...found, ...lines.slice(-1)] : found
}

const choose = 'Choose one with `--python PATH`'

/** Checks the interpreter of `--python`. @throws Fault `bad-input` */
async function checkGiven(python: string, env: EnvironmentVariables): Promise<Interpreter> {
  const asked = await queryPython(python, env)
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
 * Chooses the interpreter for an environment: the given one, else the first on `PATH` of a supported version.
 * @param uv path of uv, which also finds interpreters that are not on `PATH`
 * @throws Fault `bad-input` naming what was found, what is needed, and how to choose
 */
export async function chooseInterpreter(
  env: EnvironmentVariables,
  { python, uv }: { readonly python?: string; readonly uv?: string },
): Promise<Interpreter> {
  if (python !== undefined) return checkGiven(python, env)
  const others: Interpreter[] = []
  for (const candidate of new Set(await candidates(env, uv))) {
    const asked = await queryPython(candidate, env)
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
