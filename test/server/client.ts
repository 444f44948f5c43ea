/** A server for a test, and requests to it: each reply of the plain dialect is held to its description. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { openApi } from '../../src/server/dialects/plain-routes.js'
import { type ServerOptions, startServer } from '../../src/server/server.js'

/** Questions as the knowledge base has them: they are understood without an index that takes long to make. */
export const questions = loadKnowledge()
  .findings.filter(
    ({ kind, knownBy, attribute }) => kind === 'symptom' && knownBy === 'patient' && !attribute,
  )
  .slice(0, 3)
  .map(({ ask }) => ask.en[0] ?? '')

export const token = 'a-token-of-the-tests'

/** A reply as JSON. */
export interface Answered {
  readonly status: number
  // Replies are read field by field in the tests.
  // biome-ignore lint/suspicious/noExplicitAny: outside JSON
  readonly body: any
}

/** Replies by status, as the description has them. */
type Described = Readonly<Record<string, { content?: { 'application/json': { schema: object } } }>>

const description = openApi('0.1.0') as {
  paths: Record<string, Record<string, { responses: Described }>>
  components: { responses: { Refused: { content: { 'application/json': { schema: object } } } } }
}
const ajv = new Ajv2020({ strict: false, allErrors: true })

/** Compares a reply with `/openapi.json`; routes that are not in it are those of other dialects. */
function expectDescribed(method: string, path: string, { status, body }: Answered): void {
  const form = (path.split('?')[0] ?? '').replace(/sessions\/[^/]+/, 'sessions/{id}')
  const route = description.paths[form]?.[method.toLowerCase()]
  if (!route || status === 401) return
  if (status < 400) expect(Object.keys(route.responses)).toContain(String(status))
  const { Refused } = description.components.responses
  const { content } = status < 400 ? (route.responses[status] ?? {}) : Refused
  const schema = content?.['application/json'].schema
  if (!schema) expect(body).toBe('')
  else expect(ajv.validate(schema, body), `${method} ${form}: ${ajv.errorsText()}`).toBe(true)
}

export async function testServer(options: ServerOptions = {}) {
  const failures: unknown[] = []
  const server = await startServer({ token, onError: (error) => failures.push(error), ...options })
  onTestFinished(() => server.close())
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = { authorization: `Bearer ${token}` },
  ): Promise<Answered> => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${server.address}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: sent }),
    })
    const text = await response.text()
    const answered = {
      status: response.status,
      body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
    }
    expectDescribed(method, path, answered)
    return answered
  }
  return { server, request, failures }
}

/** A WebSocket that gives each reply in its turn. */
export async function openSocket(address: string, path = `/t/${token}/ws`) {
  const socket = new WebSocket(`${address.replace('http', 'ws')}${path}`)
  const replies: unknown[] = []
  const readers: ((reply: unknown) => void)[] = []
  socket.on('message', (data) => {
    const reply = JSON.parse(data.toString())
    const reader = readers.shift()
    if (reader) reader(reply)
    else replies.push(reply)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  onTestFinished(() => socket.terminate())
  // biome-ignore lint/suspicious/noExplicitAny: outside JSON
  const receive = (): Promise<any> =>
    replies.length > 0
      ? Promise.resolve(replies.shift())
      : new Promise((resolve) => readers.push(resolve))
  const send = (frame: unknown) => {
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
    return receive()
  }
  return { socket, send, receive }
}
