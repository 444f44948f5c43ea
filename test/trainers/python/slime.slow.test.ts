/** slime's plugin: consultations by a real server, draws by a stand-in of its engines, on the records of slime's. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { builtPackage } from '../../server/built.js'

const script = fileURLToPath(new URL('../../python/slime_plugin.py', import.meta.url))

describeWithPython("slime's plugin", 'verl', (run) => {
  const { command } = builtPackage()

  test('plays, breaks off, loses, replaces and pays as it should', async () => {
    const env = { ...process.env, BEDSIDE_TEST_COMMAND: JSON.stringify(command) }
    const { stdout } = await promisify(execFile)(pythonOf('verl') ?? '', [script], {
      env,
      maxBuffer: 1e8,
    }).catch((error) => error)
    const { passed, failed } = JSON.parse(stdout.trimEnd().split('\n').at(-1))
    expect(failed).toEqual({})
    expect(passed).toHaveLength(25)
  }, 300_000)

  test('stands on the facts of slime: the fields of a sample, and losses with their gradients', async () => {
    const golden = new URL('../../golden/slime-sample.json', import.meta.url)
    const sample = JSON.parse(await readFile(golden, 'utf8'))
    const { fields, status, losses } = Object(run('slime_facts.py', {}))
    expect(fields).toEqual(Object.keys(sample.fields))
    expect(status).toEqual(sample.status)
    expect(losses).toHaveLength(31)
    for (const { name, gap } of losses) expect(gap, name).toBeLessThan(1e-8)
  }, 120_000)

  test("gives a batch the sidecar's loss and gradient", () => {
    const found: Record<string, Record<string, [number, number]>> = Object(
      run('slime_batch.py', {}),
    )
    expect(Object.keys(found)).toHaveLength(6)
    for (const [name, { loss, gradient }] of Object.entries(found)) {
      const most = name.startsWith('float64') ? 1e-9 : 1e-4
      for (const [ours, theirs] of [loss, gradient])
        expect(Math.abs((ours ?? 0) - (theirs ?? 0)), name).toBeLessThan(
          most * Math.abs(theirs ?? 0),
        )
    }
  }, 120_000)
})
