/**
 * Runs every property test from fresh seeds: `node bench/properties.js [rounds] [first seed]`. Prints the seed of each
 * round, so that a failure can be repeated with `PROPERTY_SEED=N npx vitest run --mode all FILE`.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [rounds = 3, first = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
const files = readdirSync(`${root}test`, { recursive: true })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(`${root}${name}`, 'utf8').includes('fixtures/property.js'))
let failed = 0
for (let seed = first; seed < first + rounds; seed++) {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--mode', 'all', ...files],
    { cwd: root, encoding: 'utf8', env: { ...process.env, PROPERTY_SEED: `${seed}` } },
  )
  console.log(`seed ${seed}: ${files.length} files ${status === 0 ? 'pass' : 'FAIL'}`)
  if (status !== 0) {
    failed++
    console.log(stdout)
  }
}
process.exitCode = failed > 0 ? 1 : 0
