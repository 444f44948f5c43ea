/** `bedside info`: versions, Python environments, accelerators, and which backends can run here. */
import { execFile } from 'node:child_process'
import type { PrintFlags, Terminal } from './output.js'
import { output, table } from './output.js'
import { version } from './version.js'

/** The lines a program prints; none where there is no such program. */
const lines = (program: string, ...args: readonly string[]): Promise<readonly string[]> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: 3000 }, (error, stdout) =>
      resolve(error ? [] : stdout.trim().split('\n').filter(Boolean)),
    )
  })

const later = 'not part of this version'

/** What every backend of the plan needs, and whether it is here. */
const backends = [
  { name: 'embedded', runs: true, why: 'a policy in TypeScript; needs nothing but Node' },
  { name: 'sidecar', runs: false, why: later },
  { name: 'slime', runs: false, why: later },
  { name: 'verl', runs: false, why: later },
] as const

/** Prints what this machine has. */
export async function info(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const out = output(terminal, flags)
  const [[python], [uv], accelerators] = await Promise.all([
    lines('python3', '--version'),
    lines('uv', '--version'),
    lines('nvidia-smi', '--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'),
  ])
  const found = {
    versions: {
      bedside: version(),
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    },
    python: [
      { program: 'python3', version: python ?? null },
      { program: 'uv', version: uv ?? null },
    ],
    accelerators,
    backends,
  }
  await out.say(
    table(
      [
        ['bedside', version()],
        ['node', `${process.version} on ${found.versions.platform}`],
        ['python3', python ?? 'not found'],
        ['uv', uv ?? 'not found'],
        ['accelerators', accelerators.join('; ') || 'none found'],
        ...backends.map(({ name, runs, why }) => [
          `backend ${name}`,
          `${runs ? 'runs here' : 'does not run here'}: ${why}`,
        ]),
      ],
      { words: 2 },
    ),
  )
  if (flags.json) await out.document(found)
  return 0
}
