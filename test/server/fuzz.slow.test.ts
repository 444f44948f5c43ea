import fc from 'fast-check'
import { expect, test } from 'vitest'
import { open } from '../trainers/tokens/conversation.js'
import { openSocket, testServer, token } from './client.js'

/** JSON that is near to what the wires take: their names and values, in any arrangement. */
const word = fc.constantFrom(
  ...['type', 'data', 'reset', 'step', 'state', 'mcp', 'call_tool', 'tool_name', 'arguments'],
  ...['seed', 'tier', 'easy', 'index', 'split', 'train', 'persona', 'clinic', 'reward', 'default'],
  ...[
    'message',
    'order',
    'diagnosis',
    'confidence',
    'differential',
    'action',
    'actions',
    'session_id',
  ],
  ...[
    'jsonrpc',
    '2.0',
    'method',
    'params',
    'id',
    'tools/list',
    'tools/call',
    '__proto__',
    'constructor',
  ],
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(word, fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(word, fc.string()), tie('value'), { maxKeys: 5 }),
  ),
}))
const frame = fc.oneof(
  fc.record({ type: word, data: value }),
  fc.record({ type: fc.constantFrom('reset', 'step', 'mcp', 'state'), data: value }),
  value,
)
const text = fc.oneof(
  { weight: 6, arbitrary: frame.map((one) => JSON.stringify(one) ?? 'null') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: frame.map((one) => (JSON.stringify(one) ?? '').slice(0, -1)) },
)
const inside = /\n\s+at |node_modules|\.ts:\d|\.js:\d|TypeError|undefined is not/

test('50,000 frames: each has one reply, and none shows the inside of the server', async () => {
  const { server, request, failures } = await testServer()
  let connection = await openSocket(server.address)
  for (const sent of fc.sample(text, { numRuns: 50_000, seed: 1 })) {
    // A frame that says `close` ends the connection, as it should.
    if (/"type":"close"/.test(sent)) continue
    const reply = await connection.send(sent)
    if (!['observation', 'error', 'state', 'mcp'].includes(reply.type))
      expect(reply).toBe('a reply')
    if (reply.type === 'error' && (inside.test(reply.data.message) || reply.data.message === ''))
      expect(reply).toBe('an error for a client')
  }
  connection.socket.terminate()
  connection = await openSocket(server.address)
  expect((await connection.send({ type: 'reset' })).type).toBe('observation')
  expect(failures).toEqual([])
  expect((await request('GET', '/healthz')).status).toBe(200)
}, 300_000)

/** Bodies near to those of NeMo Gym and ORS. */
const rowBody = fc.record(
  {
    responses_create_params: fc.oneof(fc.record({ input: value }), value),
    consultation: value,
    response: fc.oneof(
      value,
      fc.record({
        output: fc.array(
          fc.oneof(
            value,
            fc.record({ type: fc.constant('message'), content: value }),
            fc.record({
              ...{ type: fc.constant('function_call'), name: word, call_id: word },
              arguments: fc.oneof(
                word,
                value.map((one) => JSON.stringify(one) ?? ''),
              ),
            }),
          ),
          { maxLength: 3 },
        ),
      }),
    ),
    _ng_step_request_id: fc.oneof(word, value),
  },
  { requiredKeys: ['responses_create_params'] },
)
const callBody = fc.record(
  {
    ...{ name: word, input: value, task_id: value, task_spec: value, split: word },
    ...{ index: fc.oneof(fc.nat(3), value), env_name: word },
  },
  { requiredKeys: [] },
)
/** Bodies near to those of sessions in tokens. */
const ids = fc.oneof(fc.array(fc.oneof(fc.nat(600), value), { maxLength: 4 }), value)
const tokenBody = fc.record(
  {
    ...{ max_tokens: fc.oneof(fc.nat(50), value), context_length: fc.oneof(fc.nat(9000), value) },
    ...{ history: word, draws: value, seed: value, index: fc.oneof(fc.nat(2), value) },
    ...{ tokens: ids, logprobs: ids, version: fc.oneof(fc.nat(2), value), prompt: ids },
  },
  { requiredKeys: [] },
)
const near = fc.oneof(rowBody, callBody, tokenBody).map((one) => JSON.stringify(one))

test('50,000 bodies and paths of all dialects: every refusal says why', async () => {
  const { server, request, failures } = await testServer({ tokenizer: await open('qwen') })
  const { body } = await request('POST', '/v1/sessions', {})
  const limits = { max_tokens: 20, context_length: 9000 }
  const inTokens = await request('POST', '/v1/token-sessions', limits)
  const paths = [
    ...[
      '/v1/sessions',
      `/v1/sessions/${body.session}/steps`,
      '/v1/sessions/x/steps',
      '/reset',
      '/step',
    ],
    ...[
      '/mcp',
      '/consultation/task',
      '/consultation/task_range',
      '/x/tasks',
      '/%E0%A4%A',
      '/v1/tools',
    ],
    ...['/v1/token-sessions', `/v1/token-sessions/${inTokens.body.session}/draws`],
    ...['/close', '/create_session', '/create', '/call', '/consultation/call', '/ping', '/delete'],
  ]
  const minted = '00000000-0000-4000-8000-000000000000'
  const runs = fc.sample(
    fc.record({ path: fc.constantFrom(...paths), text: fc.oneof(text, near) }),
    {
      numRuns: 50_000,
      seed: 2,
    },
  )
  for (let at = 0; at < runs.length; at += 32)
    await Promise.all(
      runs.slice(at, at + 32).map(async (run) => {
        const response = await fetch(`${server.address}${run.path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            ...{ 'x-session-id': minted, cookie: `bedside_session=${body.session}` },
          },
          body: run.text,
        })
        const said = await response.text()
        if (response.status >= 500 && response.status !== 503)
          expect({ ...run, said }).toBe('no failure')
        if (inside.test(said)) expect({ ...run, said }).toBe('nothing of the inside')
        if (response.status >= 400) expect(JSON.parse(said).error.message).not.toBe('')
        const cookie = response.headers.get('set-cookie')
        const opened =
          response.status < 300 &&
          /(?:"session(?:_id)?":"|session=)([^";]+)/.exec(cookie ?? said)?.[1]
        if (opened) await server.service.sessions.close(opened)
      }),
    )
  expect(failures).toEqual([])
}, 900_000)
