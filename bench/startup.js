/** Milliseconds from `import('bedside')` to the end of the first `step`, in fresh processes. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const index = new URL('../dist/index.js', import.meta.url).href
const script = `
const started = performance.now()
const { make } = await import('${index}')
const imported = performance.now()
const env = make('consultation')
await env.reset({ seed: 1 })
await env.step('Question: Have you had a fever?')
console.log(JSON.stringify([imported - started, performance.now() - started]))
`
const runs = Array.from({ length: 9 }, () =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
    }),
  ),
)
const sorted = (which) => runs.map((run) => run[which]).sort((a, b) => a - b)
const told = (list) =>
  `min ${list[0].toFixed(0)}, median ${list[4].toFixed(0)}, max ${list[8].toFixed(0)} ms`
console.log(`import: ${told(sorted(0))}`)
console.log(`import to first step: ${told(sorted(1))} (target 150)`)
