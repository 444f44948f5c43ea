/** Conformance checks of a backend's files: checkpoints that resume, damaged checkpoints, exports. */
import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backend } from '../backend.js'
import { Fault } from '../error.js'
import { type BackendBench, type BenchChecks, reportNumbers } from './backend-bench.js'
import { expectRefused, expectSame, expectThat } from './expect.js'

/** Makes a temporary folder, which is deleted when it is disposed of. */
export async function makeFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'bedside-check-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

const listFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Truncates every file of a folder to a share of its size. */
async function truncateFiles(folder: string, share: number): Promise<void> {
  const files = await listFiles(folder)
  expectThat(files.length > 0, 'save() to write files', 'none')
  for (const file of files) await truncate(file, Math.floor((await stat(file)).size * share))
}

/** Throws unless loading the folder is refused with a `bad-checkpoint` Fault and leaves the weights unchanged. */
async function expectNotLoaded(b: BackendBench, backend: Backend, what: string, folder: string) {
  const before = await b.behaviour(backend)
  const version = backend.policyVersion
  const error = await expectRefused(`loading ${what}`, () => backend.load(folder))
  const isBad = Fault.is(error) && error.code === 'bad-checkpoint'
  expectThat(isBad, `a Fault 'bad-checkpoint' for ${what}`, String(error))
  expectSame(`the policy version after ${what}`, backend.policyVersion, version)
  b.expectClose(`the behaviour after ${what}`, await b.behaviour(backend), before)
}

const fileChecks: BenchChecks = {
  'a loaded checkpoint goes on as if nothing had happened': async (b, one) => {
    await using folder = await makeFolder()
    await using other = await b.open()
    await one.step(await b.batch(one, 1))
    // A folder that does not exist yet, like a run's `checkpoints/40`.
    await one.save(join(folder.path, 'new'))
    await other.load(join(folder.path, 'new'))
    expectSame('the policy version', other.policyVersion, one.policyVersion)
    const before = await b.behaviour(one)
    b.expectClose('the behaviour', await b.behaviour(other), before)
    // One step on new rollouts, so that a lost optimiser state shows.
    const batch = await b.batch(one)
    const expected = reportNumbers(await one.step(batch))
    const got = reportNumbers(await other.step(batch))
    b.expectClose('the next report', got, expected)
    const after = await b.behaviour(one)
    b.expectClose('the behaviour a step later', await b.behaviour(other), after)
  },

  'saving does not change the policy': async (b, backend) => {
    await using folder = await makeFolder()
    await backend.step(await b.batch(backend, 1))
    const before = await b.behaviour(backend)
    const version = backend.policyVersion
    await backend.save(folder.path)
    // Again over the first, like a run that keeps one checkpoint.
    await backend.save(folder.path)
    expectSame('the policy version', backend.policyVersion, version)
    b.expectClose('the behaviour', await b.behaviour(backend), before)
  },

  'a damaged checkpoint is refused and the weights stay': async (b, one) => {
    await using folder = await makeFolder()
    await using other = await b.open()
    await one.step(await b.batch(one, 1))
    await one.save(folder.path)
    await truncateFiles(folder.path, 0.5)
    await expectNotLoaded(b, other, 'files cut in half', folder.path)
    await truncateFiles(folder.path, 0)
    await expectNotLoaded(b, other, 'empty files', folder.path)
  },

  'every export format declared writes a file, and no other': async (b, backend) => {
    await using folder = await makeFolder()
    await backend.step(await b.batch(backend))
    for (const format of backend.capabilities.exports) {
      const file = join(folder.path, format)
      await backend.export(format, file)
      const { size } = await stat(file)
      expectThat(size > 0, `an export as ${format} that is not empty`, size)
    }
    const before = await readdir(folder.path)
    const file = join(folder.path, 'unheard-of')
    const error = await expectRefused('an unknown format', () => backend.export('unheard-of', file))
    expectThat(error instanceof RangeError, 'a RangeError for an unknown format', String(error))
    expectSame('the files after it', await readdir(folder.path), before)
  },
}

/** Lists the checks of saving, loading and exporting; `openOther` opens a backend of another policy shape. */
export const checkpointChecks = (openOther?: () => Promise<Backend>): BenchChecks => ({
  ...fileChecks,
  ...(openOther && {
    'a checkpoint of another policy shape is refused': async (b, backend) => {
      await using folder = await makeFolder()
      await using other = await openOther()
      await other.save(folder.path)
      await expectNotLoaded(b, backend, 'a checkpoint of another policy shape', folder.path)
    },
  }),
})
