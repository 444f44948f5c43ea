/** `bedside info`: versions, Python environments, accelerators, and which backends can run here. */
import { packageVersion } from '../../platform/package-root.js'
import type { EngineName, PythonLookup } from '../../trainers/sidecar/environment.js'
import { engineNames, engineVersions, findPython } from '../../trainers/sidecar/environment.js'
import { findOnPath, runProgram } from '../../trainers/sidecar/program.js'
import { output, type PrintFlags, type Terminal, table } from '../print/output.js'

/** Runs a program and returns the lines it prints; none when it is missing or fails. */
async function readLines(
  env: Terminal['env'],
  program: string,
  ...args: readonly string[]
): Promise<readonly string[]> {
  const [path] = findOnPath(program, env)
  if (path === undefined) return []
  const ended = await runProgram(path, args, { env, timeoutMs: 3000 })
  return ended.code === 0 ? ended.lines : []
}

const gpuQuery = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader']

/** Whether an engine or backend runs here, and the reason. */
interface Availability {
  readonly runs: boolean
  readonly why: string
}

/** What a trainer that owns its process needs; whether a cluster has it cannot be seen from here. */
const elsewhere = (name: string): Availability => ({
  runs: false,
  why: `runs as a Ray job on GPUs (\`cluster.ray\` of a recipe); \`bedside train --backend ${name} --stand-in\` tries a recipe on this CPU`,
})

/** Whether an engine of the sidecar runs here. */
function engineAvailability(engine: EngineName, found: PythonLookup, gpu: boolean): Availability {
  if (engine === 'unsloth' && !gpu)
    return { runs: false, why: 'needs an NVIDIA GPU; nvidia-smi finds none' }
  if (!found.found) return { runs: false, why: found.reason }
  const versions = Object.entries(found.versions).map((pair) => pair.join(' '))
  return { runs: true, why: `${found.folder}: Python ${found.version}, ${versions.join(', ')}` }
}

/** Inspects the Python environment of an engine, complete or not. */
async function inspectEnvironment(engine: EngineName, env: Terminal['env'], gpu: boolean) {
  const found = await findPython(engine, { env })
  return {
    engine,
    folder: found.folder,
    state: found.found ? 'whole' : found.state,
    python: found.found ? found.python : null,
    pythonVersion: found.found ? found.version : null,
    versions: engineVersions(found.folder, engine),
    ...engineAvailability(engine, found, gpu),
  }
}

/** Every backend of the design, with its availability here. */
function listBackends(engines: readonly (Availability & { readonly engine: EngineName })[]) {
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
    { name: 'slime', ...elsewhere('slime') },
    { name: 'verl', ...elsewhere('verl') },
  ] as const
}

const availabilityText = ({ runs, why }: Availability): string =>
  `${runs ? 'runs here' : 'does not run here'}: ${why}`

/** Prints the versions, accelerators, Python environments and backends of this machine. */
export async function showInfo(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const { env } = terminal
  const out = output(terminal, flags)
  const [[python3 = null], [uv = null], accelerators] = await Promise.all([
    readLines(env, 'python3', '--version'),
    readLines(env, 'uv', '--version'),
    readLines(env, 'nvidia-smi', ...gpuQuery),
  ])
  const python = [
    { program: 'python3', version: python3 },
    { program: 'uv', version: uv },
  ]
  const gpu = accelerators.length > 0
  const inspections = engineNames.map((one) => inspectEnvironment(one, env, gpu))
  const environments = await Promise.all(inspections)
  const backends = listBackends(environments)
  const platform = `${process.platform}-${process.arch}`
  const rows = [
    ['bedside', packageVersion()],
    ['node', `${process.version} on ${platform}`],
    ...python.map((one) => [one.program, one.version ?? 'not found']),
    ['accelerators', accelerators.join('; ') || 'none found'],
    ...backends.map((backend) => [`backend ${backend.name}`, availabilityText(backend)]),
    ...environments.map((one) => [`engine ${one.engine}`, availabilityText(one)]),
  ]
  return out.show(table(rows, { words: 2 }), {
    versions: { bedside: packageVersion(), node: process.version, platform },
    ...{ python, accelerators, backends },
    environments: environments.map(({ runs: _, why: __, ...environment }) => environment),
  })
}
