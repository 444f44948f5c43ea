/** The client against a real Ray head on loopback. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { followJob } from '../../../src/trainers/jobs/job.js'
import { rayJobs } from '../../../src/trainers/jobs/ray.js'
import { hasRay, type RayHead, rayPython, startRayHead } from '../../fixtures/ray-head.js'

const job = (id: string, script: string, env: Record<string, string> = {}) => ({
  ...{ id, env, command: [rayPython, '-c', script] },
  files: new Map([['part/one.py', Buffer.from("word = 'from the package'\n")]]),
})

// Without it: `scripts/python-env.sh verl`.
describe.skipIf(!hasRay)('a Ray head', () => {
  let head: RayHead
  beforeAll(async () => {
    head = await startRayHead()
  }, 120_000)
  afterAll(() => head?.[Symbol.asyncDispose]())
  const everyMs = 200

  test('runs a job with its package and variables, and tells all its lines once', async () => {
    const jobs = rayJobs({ address: head.address, env: {} })
    await jobs.check()
    const script =
      "import os, sys; from part.one import word; print(word); print(os.environ['WORD']); [print('line', i, flush=True) for i in range(300)]; print(\"it's\", sys.argv)"
    const spec = job('one', script, { WORD: 'a variable' })
    expect(await jobs.submit(spec)).toBe(true)
    // As after an answer that was lost.
    expect(await jobs.submit(spec)).toBe(false)
    const lines: string[] = []
    const onLine = (line: string) => void lines.push(line)
    expect(await followJob(jobs, 'one', { onLine, everyMs })).toMatchObject({
      status: 'succeeded',
      exitCode: 0,
    })
    expect(lines).toContain('from the package')
    expect(lines).toContain('a variable')
    expect(lines.filter((line) => line.startsWith('line '))).toHaveLength(300)
    expect(lines).toContain("it's ['-c']")
  }, 120_000)

  test('says how a job failed, and stops one that runs', async () => {
    const jobs = rayJobs({ address: head.address, env: {} })
    await jobs.submit(job('fails', 'import sys; print("last words"); sys.exit(3)'))
    await jobs.submit(job('runs', 'import time; print("begun", flush=True); time.sleep(600)'))
    const lines: string[] = []
    const onLine = (line: string) => void lines.push(line)
    const failed = await followJob(jobs, 'fails', { onLine, everyMs })
    expect(failed).toMatchObject({ status: 'failed', exitCode: 3 })
    expect(lines).toContain('last words')
    // Ray tells the lines of a job that goes on a few at a time, so a lone one may be late.
    await vi.waitFor(
      async () => expect(await jobs.state('runs')).toMatchObject({ status: 'running' }),
      { timeout: 30_000, interval: everyMs },
    )
    const stopped = followJob(jobs, 'runs', { everyMs, onLine: () => undefined })
    await jobs.stop('runs')
    expect(await stopped).toMatchObject({ status: 'stopped' })
    await jobs.stop('runs')
    await jobs.stop('nobody')
    expect(await jobs.state('nobody')).toBeUndefined()
  }, 120_000)
})

test('an address where no Ray is, is said at once', async () => {
  const jobs = rayJobs({ address: 'http://127.0.0.1:9', env: {}, timeoutMs: 2000 })
  await expect(jobs.check()).rejects.toThrow(/cluster\.ray: expected the dashboard of a Ray head/)
})
