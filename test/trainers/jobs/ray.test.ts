/** The client of Ray's Jobs API against a stub of it: the headers of a head that asks for a token. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { rayJobs } from '../../../src/trainers/jobs/ray.js'

/** A head that answers who has the token, and remembers what it was asked with. */
async function guardedHead() {
  const seen: (string | undefined)[][] = []
  const server = createServer((request, response) => {
    const { authorization, 'x-team': team } = request.headers
    seen.push([request.url, authorization, String(team)])
    response.statusCode = authorization === 'Bearer secret' ? 200 : 401
    response.end(
      response.statusCode === 401
        ? '{"error": "Unauthorized"}'
        : request.url === '/api/version'
          ? '{"ray_version": "2.60.0"}'
          : '{"status": "SUCCEEDED", "message": "done"}',
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { address: `http://127.0.0.1:${port}`, seen }
}

test('every request carries the token and the further headers', async () => {
  const { address, seen } = await guardedHead()
  const env = { RAY_AUTH_TOKEN: 'secret', RAY_JOB_HEADERS: '{"X-Team": "clinic"}' }
  const jobs = rayJobs({ address, env })
  await jobs.check()
  expect(await jobs.state('a-1')).toMatchObject({ status: 'succeeded' })
  expect(seen.map(([, ...headers]) => headers)).toEqual(seen.map(() => ['Bearer secret', 'clinic']))
  expect(seen.length).toBeGreaterThan(1)
})

test('a head that asks for a token says which variable holds it', async () => {
  const { address } = await guardedHead()
  const jobs = rayJobs({ address, env: {} })
  await expect(jobs.check()).rejects.toThrow('set RAY_AUTH_TOKEN')
})

test('headers that are no JSON are refused without being shown', async () => {
  const env = { RAY_JOB_HEADERS: 'Authorization: secret' }
  await expect(
    (async () => rayJobs({ address: 'http://127.0.0.1:1', env }).check())(),
  ).rejects.toThrow(/^RAY_JOB_HEADERS: expected a JSON object of texts$/)
})
