/** Puts locked distributions into an environment, with uv or with pip, and says in words what went wrong. */
import { Fault } from '../../error.js'
import { installed, interpreterIn } from './environment.js'
import type { Ended, Variables } from './program.js'
import { onPath, runProgram } from './program.js'

/** What makes environments here. */
export interface Installer {
  readonly name: 'uv' | 'pip'
  /** Of uv. */
  readonly path?: string
}

/** uv where it is on `PATH`, else the pip that comes with Python. */
export function chooseInstaller(env: Variables): Installer {
  const [path] = onPath('uv', env)
  return path === undefined ? { name: 'pip' } : { name: 'uv', path }
}

/** What the tools say, and what it means; the first that fits. */
const meanings: readonly (readonly [RegExp, (folder: string) => string])[] = [
  [
    /no space left on device|disk quota exceeded|not enough space/i,
    (folder) =>
      `the disk is full. An environment takes about 6 GB, and the cache of uv or pip as much; free some, or choose another disk with \`--env DIR\` (now ${folder})`,
  ],
  [
    /permission denied|operation not permitted|read-only file system|access is denied/i,
    (folder) =>
      `there is no permission to write. Choose a folder of your own with \`--env DIR\` (now ${folder}), or mend its owner`,
  ],
  [
    /ensurepip is not available|no module named '?(?:venv|ensurepip)|No module named pip/i,
    () =>
      'this Python has no `venv` and `pip`. Install them (on Debian and Ubuntu: `apt install python3-venv`), or install uv (https://docs.astral.sh/uv)',
  ],
  [
    /failed to fetch|error sending request|dns error|name resolution|could not connect|connect(?:ion)? (?:error|refused|reset|broken|timed out)|timed? ?out|unreachable|tunnel|certificate|from versions: none|status code|HTTP error|unauthori[sz]ed|forbidden/i,
    () =>
      'the package index did not answer. Check the network, `HTTPS_PROXY`, and the index that `UV_DEFAULT_INDEX` or `PIP_INDEX_URL` names; then run the command again, which keeps what it has downloaded',
  ],
  [
    /no (?:matching )?(?:wheels?|distribution|version)|not a supported wheel|unsatisfiable/i,
    () =>
      'the index has no wheel of a pinned version for this system and Python. The pins are for 64-bit Linux, Windows, and macOS 14 on arm64; an index of your own must mirror PyPI',
  ],
]

/** What a tool says first and last of a failure, without its ornaments. */
function saidBy({ lines, error }: Ended): string {
  const plain = lines
    .filter((line) => !/^\s*(?:hint|warning)\b/i.test(line))
    .map((line) => line.replace(/^[×╰─▶├│\s]*(?:(?:error|cause|caused by):\s*)?/i, ''))
  const first = lines.findIndex((line) => /^\s*(?:error\b|×)/i.test(line))
  const from = first < 0 ? [] : [lines[first]?.replace(/^\W*(?:error:\s*)?/i, '')]
  return [...new Set([...from, error ?? plain.at(-1)])].filter(Boolean).join(' … ')
}

/** What went wrong with an environment and what mends it, with what the tool said. */
export function installFault(what: string, ended: Ended, folder: string): Fault {
  const said = saidBy(ended)
  const text = [...ended.lines.slice(-12), ended.error ?? ''].join('\n')
  const meaning = meanings.find(([pattern]) => pattern.test(text))?.[1](folder)
  return new Fault(
    'model-unavailable',
    `${what}: ${meaning ?? 'it failed'}.${said && `\n  It said: ${said}`}`,
  )
}

/** Where an installation is: distributions that lie in the environment, of those it will hold. */
export interface InstallProgress {
  readonly done: number
  readonly total: number
  /** The last thing the tool said. */
  readonly note: string
}

export interface WorkOptions {
  readonly env: Variables
  readonly signal?: AbortSignal
}

/** Makes an empty environment in a folder that may exist. @throws Fault `model-unavailable` saying why not */
export async function makeVenv(
  { name, path }: Installer,
  { python, folder }: { readonly python: string; readonly folder: string },
  options: WorkOptions,
): Promise<void> {
  const ended =
    path === undefined
      ? await runProgram(python, ['-m', 'venv', folder], options)
      : await runProgram(
          path,
          ['venv', '--quiet', '--allow-existing', '--no-project', '--python', python, folder],
          options,
        )
  options.signal?.throwIfAborted()
  if (ended.code !== 0) throw installFault(`${name}: no environment in ${folder}`, ended, folder)
}

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Counts what will be installed from what uv or pip says, as soon as it is known. */
function totalFrom(pins: number) {
  let ignored = 0
  let total: number | undefined
  return (line: string): number | undefined => {
    const resolved = /^Resolved (\d+) packages?/.exec(line)?.[1]
    // pip first names the pins that are for other systems.
    if (line.startsWith('Ignoring ')) ignored++
    if (/^(?:Collecting|Processing) /.test(line)) total ??= pins - ignored
    if (resolved !== undefined) total ??= Number(resolved)
    return total
  }
}

/**
 * Installs exactly what a locked requirement file names; gives how many distributions that is.
 * @throws Fault `model-unavailable` saying what to check
 */
export async function installPins(
  { name, path }: Installer,
  where: { readonly folder: string; readonly requirements: string; readonly pins: number },
  { onProgress, ...options }: WorkOptions & { onProgress?: (at: InstallProgress) => void },
): Promise<number> {
  const { folder, requirements, pins } = where
  const python = interpreterIn(folder)
  const before = installed(folder).size
  const totalOf = totalFrom(pins)
  let at: InstallProgress | undefined
  const tell = () => {
    if (at) onProgress?.({ ...at, done: Math.min(at.total, installed(folder).size - before) })
  }
  // Only the folder tells how far uv is; neither tool counts aloud.
  const timer = setInterval(tell, 500)
  const locked = ['--no-deps', '--only-binary', ':all:', '--requirement', requirements]
  const [command, args] =
    path === undefined
      ? [python, ['-m', 'pip', 'install', '--no-input', '--progress-bar', 'off', ...locked]]
      : [path, ['pip', 'install', '--python', python, ...locked]]
  try {
    const ended = await runProgram(command, args, {
      ...options,
      onLine(line) {
        const total = totalOf(line)
        if (total !== undefined) at = { done: 0, total, note: short(line.trim()) }
        tell()
      },
    })
    options.signal?.throwIfAborted()
    if (ended.code !== 0) throw installFault(`${name}: no installation`, ended, folder)
  } finally {
    clearInterval(timer)
  }
  return installed(folder).size - before
}
