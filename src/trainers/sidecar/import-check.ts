/** Imports everything an engine needs, once, in its environment: what does not import is found at set-up. */
import { join } from 'node:path'
import { z } from 'zod'
import { Fault } from '../../error.js'
import type { EngineName } from './environment.js'
import { pythonPackage } from './environment.js'
import type { InstallProgress, WorkOptions } from './installer.js'
import { onPath, runProgram } from './program.js'

const line = z.union([
  z.object({ module: z.string(), version: z.string() }),
  z.object({ device: z.string() }),
])

export interface ImportCheck {
  /** By distribution. */
  readonly versions: Readonly<Record<string, string>>
  /** What torch computes on; `cpu` where there is no torch. */
  readonly device: string
}

function parsed(text: string): z.infer<typeof line> | undefined {
  try {
    return line.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // a banner of some library
  }
}

/** Imports modules in order. @throws Fault `model-unavailable` naming the one that does not import */
export async function importAll(
  {
    python,
    engine,
    modules,
  }: {
    readonly python: string
    readonly engine: EngineName
    readonly modules: Readonly<Record<string, string>>
  },
  { env, onProgress, ...options }: WorkOptions & { onProgress?: (at: InstallProgress) => void },
): Promise<ImportCheck> {
  const names = Object.keys(modules)
  const versions: Record<string, string> = {}
  let device = 'cpu'
  // Without a GPU Unsloth imports only when it is told to, and then does nothing more.
  const cpu = engine === 'unsloth' && onPath('nvidia-smi', env).length === 0
  const tell = () => {
    const done = Object.keys(versions).length
    onProgress?.({ done, total: names.length, note: names[done] ?? '' })
  }
  tell()
  const script = join(pythonPackage(), 'bedside_trainers', 'import_check.py')
  const { code, lines, signal } = await runProgram(
    python,
    [script, ...names.map((name) => `${name}=${modules[name]}`)],
    {
      env: { ...env, ...(cpu ? { UNSLOTH_ALLOW_CPU: '1' } : {}) },
      ...options,
      onLine(text, stream) {
        const found = stream === 'stdout' ? parsed(text) : undefined
        if (found && 'module' in found) {
          versions[modules[found.module] ?? found.module] = found.version
          tell()
        } else if (found) device = found.device
      },
    },
  )
  options.signal?.throwIfAborted()
  if (code !== 0) {
    const failed = names[Object.keys(versions).length] ?? python
    const last = lines.at(-1) ?? `it ended with ${signal ?? code}`
    throw new Fault(
      'model-unavailable',
      `${failed} was installed and does not import: ${last}. Run the command again; where it stays, try another Python with \`--python PATH\``,
    )
  }
  return { versions, device }
}
