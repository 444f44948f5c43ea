/** `bedside info`: versions, Python environments, accelerators, and which backends can run here. */
import type { EngineName, FoundPython } from '../../trainers/sidecar/environment.js'
import { engineNames, findPython, versionsIn } from '../../trainers/sidecar/environment.js'
import { onPath, runProgram } from '../../trainers/sidecar/program.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { output, table } from '../print/output.js'
import { version } from './version.js'

/** The lines a program prints; none where there is no such program. */
async function lines(
  env: Terminal['env'],
  program: string,
  ...args: readonly string[]
): Promise<readonly string[]> {
  const [path] = onPath(program, env)
  if (path === undefined) return []
  const ended = await runProgram(path, args, { env, timeoutMs: 3000 })
  return ended.code === 0 ? ended.lines : []
}

/** Whether something runs here, and why, or why not. */
interface Verdict {
  readonly runs: boolean
  readonly why: string
}

const later: Verdict = { runs: false, why: 'not part of this version' }

/** Whether an engine of the sidecar runs here. */
function engineVerdict(engine: EngineName, found: FoundPython, gpu: boolean): Verdict {
  if (engine === 'unsloth' && !gpu)
    return { runs: false, why: 'needs an NVIDIA GPU; nvidia-smi finds none' }
  if (!found.found) return { runs: false, why: found.reason }
  const versions = Object.entries(found.versions).map((pair) => pair.join(' '))
  return { runs: true, why: `${found.folder}: Python ${found.version}, ${versions.join(', ')}` }
}

/** The environment of an engine, with what lies in it whether it is whole or not. */
async function environmentOf(engine: EngineName, env: Terminal['env'], gpu: boolean) {
  const found = await findPython(engine, { env })
  return {
    engine,
    folder: found.folder,
    state: found.found ? 'whole' : found.state,
    python: found.found ? found.python : null,
    pythonVersion: found.found ? found.version : null,
    versions: versionsIn(found.folder, engine),
    ...engineVerdict(engine, found, gpu),
  }
}

/** What every backend of the plan needs, and whether it is here. */
function backendsWith(engines: readonly (Verdict & { readonly engine: EngineName })[]) {
  const sidecar = engines.map(({ engine, runs, why }) => ({ engine, runs, why }))
  const running = sidecar.filter(({ runs }) => runs).map(({ engine }) => engine)
  return [
    { name: 'embedded', runs: true, why: 'a policy in TypeScript; needs nothing but Node' },
    {
      name: 'sidecar',
      runs: running.length > 0,
      why:
        running.length > 0
          ? `a language model in Python, engine ${running.join(' or ')}`
          : sidecar.map(({ engine, why }) => `${engine}: ${why}`).join('; '),
      engines: sidecar,
    },
    { name: 'slime', ...later },
    { name: 'verl', ...later },
  ] as const
}

const says = ({ runs, why }: Verdict): string =>
  `${runs ? 'runs here' : 'does not run here'}: ${why}`

/** Prints what this machine has. */
export async function info(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const { env } = terminal
  const out = output(terminal, flags)
  const [[python], [uv], accelerators] = await Promise.all([
    lines(env, 'python3', '--version'),
    lines(env, 'uv', '--version'),
    lines(
      env,
      'nvidia-smi',
      '--query-gpu=name,memory.total,driver_version',
      '--format=csv,noheader',
    ),
  ])
  const gpu = accelerators.length > 0
  const environments = await Promise.all(engineNames.map((one) => environmentOf(one, env, gpu)))
  const backends = backendsWith(environments)
  const platform = `${process.platform}-${process.arch}`
  await out.say(
    table(
      [
        ['bedside', version()],
        ['node', `${process.version} on ${platform}`],
        ['python3', python ?? 'not found'],
        ['uv', uv ?? 'not found'],
        ['accelerators', accelerators.join('; ') || 'none found'],
        ...backends.map((backend) => [`backend ${backend.name}`, says(backend)]),
        ...environments.map((one) => [`engine ${one.engine}`, says(one)]),
      ],
      { words: 2 },
    ),
  )
  if (flags.json)
    await out.document({
      versions: { bedside: version(), node: process.version, platform },
      python: [
        { program: 'python3', version: python ?? null },
        { program: 'uv', version: uv ?? null },
      ],
      accelerators,
      environments: environments.map(({ runs: _, why: __, ...environment }) => environment),
      backends,
    })
  return 0
}
