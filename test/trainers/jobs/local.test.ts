import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { followJob } from '../../../src/trainers/jobs/job.js'
import { localJobs } from '../../../src/trainers/jobs/local.js'

let parent: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'bedside-jobs-'))
})
afterAll(() => rm(parent, { recursive: true }))

const spec = (id: string, script: string) => ({
  ...{ id, command: ['sh', '-c', script], env: { WORD: 'hello' } },
  files: new Map([['a/b.txt', Buffer.from('text\n')]]),
})

const everyMs = 20

test('a job runs with its files and variables, and all its lines are told', async () => {
  const jobs = localJobs(parent)
  const lines: string[] = []
  expect(await jobs.state('one')).toBeUndefined()
  expect(await jobs.submit(spec('one', 'cat a/b.txt; echo $WORD; printf end'))).toBe(true)
  const onLine = (line: string) => void lines.push(line)
  expect(await followJob(jobs, 'one', { onLine, everyMs })).toMatchObject({ status: 'succeeded' })
  expect(lines.slice(0, 2)).toEqual(['text', 'hello'])
  // Who comes later finds it, and starts none.
  expect(await localJobs(parent).submit(spec('one', 'echo other'))).toBe(false)
})

test('a job that fails says its exit code; one that is stopped or killed says so', async () => {
  const jobs = localJobs(parent)
  await jobs.submit(spec('bad', 'exit 3'))
  expect(await followJob(jobs, 'bad', { onLine: () => {}, everyMs })).toMatchObject({
    ...{ status: 'failed', exitCode: 3 },
  })
  await jobs.submit(spec('long', 'sleep 60'))
  expect(await jobs.state('long')).toMatchObject({ status: 'running' })
  await jobs.stop('long')
  expect(await jobs.state('long')).toMatchObject({ status: 'stopped' })
  await jobs.stop('long')
})

test('following ends with its signal, and the job goes on', async () => {
  const jobs = localJobs(parent)
  await jobs.submit(spec('on', 'echo begun; sleep 60'))
  const signal = AbortSignal.timeout(300)
  await expect(followJob(jobs, 'on', { onLine: () => {}, signal, everyMs })).rejects.toThrow()
  expect(await jobs.state('on')).toMatchObject({ status: 'running' })
  await jobs.stop('on')
})

test('a job that nobody knows is lost', async () => {
  const following = followJob(localJobs(parent), 'none', { onLine: () => {}, everyMs })
  await expect(following).rejects.toMatchObject({ code: 'backend-lost' })
})
