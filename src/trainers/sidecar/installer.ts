/** Set-up of an environment: creates it, installs locked distributions with uv or pip, and checks that they import. */
import { join } from 'node:path'
import { z } from 'zod'
import { Fault } from '../../error.js'
import type { EngineName } from './environment.js'
import { installedVersions, interpreterPath, pythonPackage } from './environment.js'
import type { EnvironmentVariables, ProgramResult } from './program.js'
import { findOnPath, parseJsonLine, runProgram } from './program.js'

/** Tool that installs distributions. */
export interface Installer {
  readonly name: 'uv' | 'pip'
  /** Path of uv. */
  readonly path?: string
}

/** Chooses uv if it is on `PATH`, else the pip that comes with Python. */
export function chooseInstaller(env: EnvironmentVariables): Installer {
  const [path] = findOnPath('uv', env)
  return path === undefined ? { name: 'pip' } : { name: 'uv', path }
}

/** Explanations of the tools' error messages by pattern; the first match applies. */
const explanations: readonly (readonly [RegExp, (folder: string) => string])[] = [
  [
    /no space left on device|disk quota exceeded|not enough space/i,
    (folder) =>
      `the disk is full. An environment takes about 6 GB, and the cache of uv or pip as much; free some, or choose another disk with \`--env DIR\` (now ${folder})`,
  ],
  [
    /permission denied|operation not permitted|read-only file system|access is denied/i,
    (folder) =>
      `there is no permission to write. Choose a folder of your own with \`--env DIR\` (now ${folder}), or change its owner`,
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

/** First and last error line of a tool's output, without its decoration. */
function errorText({ lines, error }: ProgramResult): string {
  const plain = lines
    .filter((line) => !/^\s*(?:hint|warning)\b/i.test(line))
    .map((line) => line.replace(/^[×╰─▶├│\s]*(?:(?:error|cause|caused by):\s*)?/i, ''))
  const first = lines.findIndex((line) => /^\s*(?:error\b|×)/i.test(line))
  const from = first < 0 ? [] : [lines[first]?.replace(/^\W*(?:error:\s*)?/i, '')]
  return [...new Set([...from, error ?? plain.at(-1)])].filter(Boolean).join(' … ')
}

/** Fault of a failed installation: the cause, its remedy, and the tool's own message. */
export function installFault(what: string, ended: ProgramResult, folder: string): Fault {
  const said = errorText(ended)
  const text = [...ended.lines.slice(-12), ended.error ?? ''].join('\n')
  const meaning = explanations.find(([pattern]) => pattern.test(text))?.[1](folder)
  return new Fault(
    'model-unavailable',
    `${what}: ${meaning ?? 'it failed'}.${said && `\n  It said: ${said}`}`,
  )
}

/** Progress of an installation, in distributions; of an import check, in modules. */
export interface InstallProgress {
  readonly done: number
  readonly total: number
  /** The tool's last line, or the module being imported. */
  readonly note: string
}

/** Environment variables and abort signal of a set-up phase. */
export interface SetupWorkOptions {
  readonly env: EnvironmentVariables
  readonly signal?: AbortSignal
}

/** Creates an empty environment in a folder that may exist. @throws Fault `model-unavailable` with the cause */
export async function createVenv(
  { name, path }: Installer,
  { python, folder }: { readonly python: string; readonly folder: string },
  options: SetupWorkOptions,
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

/** Reader of uv's or pip's output that returns the number of distributions to install, once known. */
function totalReader(pins: number) {
  let ignored = 0
  let total: number | undefined
  return (line: string): number | undefined => {
    const resolved = /^Resolved (\d+) packages?/.exec(line)?.[1]
    // pip first lists the pins for other systems.
    if (line.startsWith('Ignoring ')) ignored++
    if (/^(?:Collecting|Processing) /.test(line)) total ??= pins - ignored
    if (resolved !== undefined) total ??= Number(resolved)
    return total
  }
}

/**
 * Installs exactly the distributions of a locked requirements file; returns their number.
 * @throws Fault `model-unavailable` saying what to check
 */
export async function installPins(
  { name, path }: Installer,
  where: { readonly folder: string; readonly requirements: string; readonly pins: number },
  { onProgress, ...options }: SetupWorkOptions & { onProgress?: (at: InstallProgress) => void },
): Promise<number> {
  const { folder, requirements, pins } = where
  const python = interpreterPath(folder)
  const before = installedVersions(folder).size
  const readTotal = totalReader(pins)
  let at: InstallProgress | undefined
  const report = () => {
    if (at)
      onProgress?.({ ...at, done: Math.min(at.total, installedVersions(folder).size - before) })
  }
  // Neither tool reports a count, so progress is counted in the environment's folder.
  const timer = setInterval(report, 500)
  const locked = ['--no-deps', '--only-binary', ':all:', '--requirement', requirements]
  const [command, args] =
    path === undefined
      ? [python, ['-m', 'pip', 'install', '--no-input', '--progress-bar', 'off', ...locked]]
      : [path, ['pip', 'install', '--python', python, ...locked]]
  try {
    const ended = await runProgram(command, args, {
      ...options,
      onLine(line) {
        const total = readTotal(line)
        if (total !== undefined) at = { done: 0, total, note: short(line.trim()) }
        report()
      },
    })
    options.signal?.throwIfAborted()
    if (ended.code !== 0) throw installFault(`${name}: no installation`, ended, folder)
  } finally {
    clearInterval(timer)
  }
  return installedVersions(folder).size - before
}

const line = z.union([
  z.object({ module: z.string(), version: z.string() }),
  z.object({ device: z.string() }),
])

/** Result of an import check. */
export interface ImportCheck {
  /** Versions by distribution. */
  readonly versions: Readonly<Record<string, string>>
  /** Device that torch reports; `cpu` without torch. */
  readonly device: string
}

const importFault = (module: string, error: string): Fault =>
  new Fault(
    'model-unavailable',
    `${module} was installed and does not import: ${error}. Run the command again; where it stays, try another Python with \`--python PATH\``,
  )

/** Imports modules, each with its distribution, in order. @throws Fault `model-unavailable` naming the one that does not import */
export async function checkImports(
  engine: EngineName,
  python: string,
  modules: Readonly<Record<string, string>>,
  work: SetupWorkOptions & { readonly onProgress?: (at: InstallProgress) => void },
): Promise<ImportCheck> {
  const { env, onProgress, ...options } = work
  const names = Object.keys(modules)
  const versions: Record<string, string> = {}
  let device = 'cpu'
  // Without a GPU, Unsloth imports only if allowed to use the CPU, and then does nothing more.
  const cpu = engine === 'unsloth' && findOnPath('nvidia-smi', env).length === 0
  const report = () => {
    const done = Object.keys(versions).length
    onProgress?.({ done, total: names.length, note: names[done] ?? '' })
  }
  report()
  const script = join(pythonPackage(), 'bedside_trainers', 'import_check.py')
  const args = [script, ...names.map((name) => `${name}=${modules[name]}`)]
  const { code, lines, signal } = await runProgram(python, args, {
    env: { ...env, ...(cpu ? { UNSLOTH_ALLOW_CPU: '1' } : {}) },
    ...options,
    onLine(text, stream) {
      const found = stream === 'stdout' ? parseJsonLine(line, text) : undefined
      if (found && 'module' in found) {
        versions[modules[found.module] ?? found.module] = found.version
        report()
      } else if (found) device = found.device
    },
  })
  options.signal?.throwIfAborted()
  if (code !== 0) {
    const failed = names[Object.keys(versions).length] ?? python
    const error = lines.at(-1) ?? `it ended with ${signal ?? code}`
    throw importFault(failed, error)
  }
  return { versions, device }
}
