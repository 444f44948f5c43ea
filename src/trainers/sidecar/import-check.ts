/** Import check at set-up: imports every module an engine needs in its environment, and reads their versions. */
import { join } from 'node:path'
import { z } from 'zod'
import { Fault } from '../../error.js'
import type { EngineName } from './environment.js'
import { pythonPackage } from './environment.js'
import type { InstallProgress, SetupWorkOptions } from './installer.js'
import { findOnPath, parseJsonLine, runProgram } from './program.js'

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
