/** Whatever goes wrong on the way, the weights are those of an undisturbed run. */
import { describe, expect, test } from 'vitest'
import { uniform } from '../../../src/seed.js'
import type { DialectName } from '../../../src/trainers/tinker/profile.js'
import { tinkerClients, trainTiny } from '../../fixtures/tinker-client.js'
import type { ServerOptions, Trouble } from '../../fixtures/tinker-server.js'

const { client } = tinkerClients()

/** One training against a server in trouble; what came of it, and what the server holds and ran. */
async function trained(server: ServerOptions, dialect: DialectName = 'protobuf') {
  const config = { fwdbwd_max_chunk_len: 2 }
  const { service, models, requests } = await client({ config, ...server }, { dialect })
  const model = await service.createModel()
  const came = await trainTiny(model)
  const held = models.get(model.modelId)
  return { came, weights: [...(held?.model.weights ?? [])], ran: held?.ran, requests }
}

const undisturbed = new Map<DialectName, ReturnType<typeof trained>>()
const quietRun = (dialect: DialectName) => {
  const run = undisturbed.get(dialect) ?? trained({}, dialect)
  undisturbed.set(dialect, run)
  return run
}

/** Trouble on some of the requests that are part of training, drawn anew for each. */
const onSome =
  (name: string, share: number, trouble: Trouble, routes = /forward|optim|save|retrieve/) =>
  (request: { route: string; index: number }): Trouble | undefined =>
    routes.test(request.route) && uniform(0, name, request.route, request.index) < share
      ? trouble
      : undefined

const retrieval = /retrieve/
const submission = /forward|optim|save/
const troubles: Readonly<Record<string, ServerOptions['trouble']>> = {
  'a 429 with and without a time to wait': ({ route, index }) =>
    /v1/.test(route) && index % 3 === 0
      ? { status: 429, headers: index % 2 ? { 'retry-after': '0.01' } : {} }
      : undefined,
  'a 500': onSome('500', 0.4, { status: 500 }),
  'a 408': onSome('408', 0.4, { status: 408 }),
  'a 400 to the first three questions for a result': ({ route, nth }) =>
    retrieval.test(route) && nth < 3 ? { status: 400 } : undefined,
  'a connection broken before the server acted': onSome('before', 0.3, { reset: 'before' }),
  'a connection broken after the server acted': onSome('after', 0.3, { reset: 'after' }),
  'a result that was lost': onSome('lost', 0.4, { lost: true }, retrieval),
  'a request delivered twice': onSome('twice', 0.5, { twice: true }, submission),
  'parts that arrive out of order': ({ route, body }) =>
    submission.test(route) ? { delay: ((body.seq_id * 7) % 5) * 6 } : undefined,
  'an answer that there is only metadata yet': onSome(
    'metadata',
    0.4,
    { status: 200, body: { status: 'complete_metadata', response_payload_size: 9 } },
    retrieval,
  ),
  'an answer to ask again': onSome(
    'again',
    0.5,
    { status: 200, body: { type: 'try_again', queue_state: 'paused_capacity' } },
    retrieval,
  ),
  'all of it': (request) => {
    const kinds: Trouble[] = [
      { status: 429 },
      { status: 503 },
      { reset: 'before' },
      { reset: 'after' },
      { twice: true },
      { delay: 20 },
    ]
    const { route, index } = request
    const drawn = Math.floor(uniform(3, route, index) * 14)
    return /v1/.test(route) ? kinds[drawn] : undefined
  },
}

describe('the same weights, outputs and metrics as undisturbed, each operation run once', () => {
  for (const [what, trouble] of Object.entries(troubles))
    for (const dialect of ['protobuf', 'json'] as const)
      test(`through ${what}, in ${dialect}`, async () => {
        const quiet = await quietRun(dialect)
        const disturbed = await trained(trouble ? { trouble } : {}, dialect)
        expect(disturbed.requests.length).toBeGreaterThanOrEqual(quiet.requests.length)
        expect(disturbed.ran).toEqual(quiet.ran)
        expect(disturbed.weights).toEqual(quiet.weights)
        expect(disturbed.came).toEqual(quiet.came)
      })

  test('in either dialect', async () => {
    const [protobuf, json] = [await quietRun('protobuf'), await quietRun('json')]
    expect(json.weights).toEqual(protobuf.weights)
    expect(json.came).toEqual(protobuf.came)
  })

  test('however the batches are split', async () => {
    const whole = await trained({ config: {} })
    const single = await trained({ config: { fwdbwd_max_chunk_len: 1 } })
    expect(whole.ran).toHaveLength(4 * 4 + 1)
    expect(single.ran).toHaveLength(4 * (5 + 3 + 1 + 2) + 1)
    for (const [i, weight] of single.weights.entries())
      expect(weight).toBeCloseTo(whole.weights[i]!, 10)
    expect(single.came.drawn.sequences.map(({ tokens }) => tokens)).toEqual(
      whole.came.drawn.sequences.map(({ tokens }) => tokens),
    )
  })
})

test('what repeats a request repeats its number, its bytes and its key', async () => {
  const { requests } = await trained({
    trouble: onSome('repeat', 0.5, { reset: 'after' }, submission),
  })
  const byKey = new Map<unknown, (typeof requests)[number][]>()
  for (const request of requests.filter(({ route }) => submission.test(route))) {
    const key = request.headers['x-idempotency-key']
    expect(key).toBeTypeOf('string')
    byKey.set(key, [...(byKey.get(key) ?? []), request])
  }
  const sizes = [...byKey.values()].map((same) => same.length)
  expect(Math.max(...sizes)).toBeGreaterThan(1)
  for (const same of byKey.values())
    for (const request of same) expect(request.body).toEqual(same[0]?.body)
  const numbers = [...byKey.values()].map(([one]) => one?.body.seq_id ?? 0)
  expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1))
})
