/**
 * Packs the package, unpacks it into an empty project as npm would, and type-checks and runs the README's
 * code and the examples there, against the published types and nothing else. Run after `npm run build`.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'bedside-consumer-'))
const run = (command, ...args) =>
  execFileSync(command, args, {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

try {
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', project],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  mkdirSync(join(project, 'node_modules'))
  run('tar', '-xzf', packed.trim().split('\n').at(-1))
  cpSync(join(project, 'package'), join(project, 'node_modules/bedside'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== 'bedside')
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))

  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^( *)```ts\n([\s\S]*?)^ *```$/gm)]
  blocks.forEach(([, indent, code], i) => {
    writeFileSync(
      join(project, `readme-${i}.ts`),
      code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    )
  })
  const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'))
  for (const name of examples) cpSync(join(root, 'examples', name), join(project, name))

  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: 'NodeNext',
    strict: true,
    types: ['node'],
    // The types of dependencies are theirs; `skipDefaultLibCheck` leaves ours to be checked.
    skipLibCheck: false,
    outDir: 'out',
  }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts'] }),
  )
  run(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
  const scripts = readdirSync(join(project, 'out')).filter((name) => name.endsWith('.js'))
  for (const name of scripts) run(process.execPath, join('out', name))
  console.log(`consumer: ${scripts.length} scripts type-check and run against the packed package`)
} catch (error) {
  console.error(error.stdout ?? error)
  process.exitCode = 1
} finally {
  rmSync(project, { recursive: true, force: true })
}
