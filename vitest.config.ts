import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

const src = fileURLToPath(new URL('./src/', import.meta.url))

/** `vitest run` leaves out the slow tests, `*.slow.test.ts`; `vitest run --mode all` runs them too. */
export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^bedside$/, replacement: `${src}index.ts` },
      { find: /^bedside\/(.+)$/, replacement: `${src}exports/$1.ts` },
    ],
  },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(mode === 'all' ? [] : ['**/*.slow.test.ts'])],
    pool: 'forks',
    // Loading every module anew for each test file takes a third of the time; the full run does it.
    isolate: mode === 'all',
    maxWorkers: 2,
    testTimeout: 60_000,
  },
}))
