/**
 * Builds `dist`: JavaScript bundled into few files, because loading a hundred small ones takes longer than all they do,
 * and one declaration file a source file in `dist/types`. Prints nothing unless something is wrong.
 * `--out DIR` builds elsewhere, `--no-types` leaves the declarations out.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const {
  values: { out, types },
} = parseArgs({
  options: { out: { type: 'string', default: 'dist' }, types: { type: 'boolean', default: true } },
  allowNegative: true,
})
process.chdir(root)
rmSync(out, { recursive: true, force: true })

const subpaths = readdirSync('src/exports', { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [`exports/${name.slice(0, -'.ts'.length)}`, `src/exports/${name}`])

const bundle = await rolldown({
  input: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    // Started by its path, as a thread.
    'rewards/text/overlap-worker': 'src/rewards/text/overlap-worker.ts',
    // Run at the end of the build.
    'similarity/save-updates': 'src/envs/patients/nlu/save-updates.ts',
    ...Object.fromEntries(subpaths),
  },
  platform: 'node',
  transform: { target: 'node20' },
  // Dependencies stay outside; what the compiler itself adds is bundled.
  external: (id) => !/^[./]|^@oxc-project\//.test(id) && !id.startsWith(root),
  // The command line loads late what a subpath loads at once.
  checks: { ineffectiveDynamicImport: false },
})
await bundle.write({
  dir: out,
  format: 'esm',
  chunkFileNames: 'chunks/[name]-[hash].js',
  // Doc comments are in the declarations, where editors look for them.
  comments: { jsdoc: false, legal: true, annotation: true },
  codeSplitting: {
    groups: [
      // What the command line needs to parse its flags.
      {
        name: 'concepts',
        test: /src[\\/]((?!index)[a-z]+|knowledge[\\/]tiers|platform[\\/].*)\.ts$/,
        priority: 1,
      },
      // Everything that `import 'bedside'` loads at once.
      { name: 'core', test: /src[\\/]index\.ts$/ },
    ],
  },
})
await bundle.close()
chmodSync(`${out}/cli/main.js`, 0o755)

// What the rule patient learns of the shipped knowledge base: seconds of training, once a build instead of once a process.
const { saveUpdates } = await import(pathToFileURL(resolve(out, 'similarity/save-updates.js')).href)
saveUpdates('data/knowledge')
for (const language of ['en', 'zh'])
  if (!existsSync(`${out}/similarity/${language}.bin`))
    throw new Error(
      `Expected ${out}/similarity/${language}.bin, got none: updatesFile() must name a file there`,
    )

if (types)
  execFileSync(
    process.execPath,
    [
      'node_modules/typescript/bin/tsc',
      '--project',
      'tsconfig.build.json',
      '--outDir',
      `${out}/types`,
    ],
    { stdio: 'inherit' },
  )
