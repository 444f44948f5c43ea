/**
 * ORS, the wire of OpenReward: a session is named by a header, actions are tool calls, and the result of a call is a
 * stream of events, so that a slow one keeps its connection. A call that broke off is asked for again by its `task_id`.
 */
import { randomUUID } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { z } from 'zod'
import { toolAction } from '../action.js'
import { readJson } from '../http.js'
import { toolPrompt } from '../observation.js'
import { readBody, sessionOptions } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import type { ServerSession, SessionReply } from '../session.js'
import { describeTools } from './plain-routes.js'
import { checkEnv } from './tasks.js'

/** Seconds between the comments that keep a waiting connection open; clients give up after 30. */
const pingSeconds = 10
/** Results of a session that are kept for a client whose connection broke off. */
const keptCalls = 4

/** What `/create` takes: options of a session as the task, or the place of one. */
const creation = z.strictObject({
  env_name: z.string().nullish(),
  task_spec: z.unknown().optional(),
  split: sessionOptions.shape.split.nullable(),
  index: sessionOptions.shape.index.nullable(),
  toolset_name: z.null().optional(),
})

const toolCall = z.strictObject({
  name: z.string(),
  input: z.unknown(),
  task_id: z.string().max(255).nullish(),
})

/** @throws Refusal `bad-request` without the header */
function sessionId({ req }: Context): string {
  const id = req.header('x-session-id')?.trim()
  if (id) return id
  throw new Refusal('bad-request', 'Expected the header X-Session-ID, as /create_session gave it')
}

const textBlock = (text: string) => ({ type: 'text', text, detail: null })

/** What a call gave. */
function toolOutput({ observation, reward }: SessionReply) {
  const { message, prompt: _, done, ...metadata } = observation
  return { ok: true, output: { blocks: [textBlock(message)], metadata, reward, finished: done } }
}

const failed = (reason: string, error: string) => ({ ok: false, error, reason })

/** Takes a call. What the policy did wrong is a result; what the world did is thrown. @throws Refusal */
async function takeCall(service: Service, session: ServerSession, name: string, input: unknown) {
  if (session.last.observation.done)
    return failed('episode_finished', 'Expected no more calls: the consultation has ended')
  try {
    return toolOutput(await service.step(session, toolAction(name, input)))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not-found')
      return failed('not_found', error.message)
    if (error instanceof Refusal && error.code === 'bad-request')
      return failed('input_validation', error.message)
    throw error
  }
}

/** The calls of each session, by `task_id`. */
function callsOfSessions(service: Service) {
  const calls = new WeakMap<ServerSession, Map<string, Promise<object>>>()
  return (session: ServerSession, { name, input, task_id }: z.infer<typeof toolCall>) => {
    const own = calls.get(session) ?? new Map<string, Promise<object>>()
    calls.set(session, own)
    const again = task_id ? own.get(task_id) : undefined
    if (task_id && again) return { id: task_id, result: again }
    if (task_id)
      throw new Refusal('bad-request', 'Expected the `task_id` of one of the last calls, or none')
    const id = randomUUID()
    const result = takeCall(service, session, name, input)
    result.catch(() => undefined)
    own.set(id, result)
    for (const old of own.keys()) if (own.size > keptCalls) own.delete(old)
    return { id, result }
  }
}

/** Writes the result of a call; clients read the data of one event as one line. */
async function writeResult(stream: SSEStreamingApi, id: string, result: Promise<object>) {
  const pings = setInterval(() => void stream.write(': ping\n\n'), pingSeconds * 1000)
  try {
    await stream.writeSSE({ event: 'task_id', data: id })
    await stream.writeSSE({ event: 'end', data: JSON.stringify(await result) })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await stream.writeSSE({ event: 'error', data: error.message })
  } finally {
    clearInterval(pings)
  }
}

/** Adds the routes of a session's life. */
function addLife(app: Hono, service: Service): void {
  const { sessions, version } = service
  app.get('/version', (c) => c.json({ version, build_sha: null }))
  app.post('/create_session', (c) => {
    const id = sessions.newId()
    return streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: 'task_id', data: id })
      await stream.writeSSE({ event: 'end', data: '' })
    })
  })
  app.post('/create', async (c) => {
    const id = sessionId(c)
    const sent = await readJson(c, service, creation, 'a session')
    const { env_name, task_spec, split, index } = sent
    checkEnv(env_name ?? undefined)
    const placed = split != null && index != null
    if (placed === (task_spec != null))
      throw new Refusal('bad-request', 'Expected either `task_spec`, or `split` and `index`')
    const options = readBody(sessionOptions, placed ? { split, index } : task_spec, 'a task')
    await service.open(options, { id, abandoned: c.req.raw.signal })
    return c.json({ sid: id })
  })
  app.post('/ping', (c) => {
    sessions.find(sessionId(c))
    return c.json({ status: 'ok' })
  })
  for (const path of ['/delete', '/delete_session'])
    app.post(path, async (c) => {
      const id = sessionId(c)
      await sessions.close(id)
      return c.json({ sid: id })
    })
}

/** Adds the dialect's routes, but for those of tasks. */
export function addOrs(app: Hono, service: Service): void {
  const { sessions } = service
  const call = callsOfSessions(service)
  const tools = { tools: describeTools(), terminal_tool: null, supports_score_group: false }
  addLife(app, service)
  for (const base of ['/:env', '']) {
    const found = (c: Context): ServerSession => {
      checkEnv(c.req.param('env'))
      return sessions.find(sessionId(c))
    }
    app.get(`${base}/tools`, (c) => {
      checkEnv(c.req.param('env'))
      return c.json(tools)
    })
    app.get(`${base}/task_tools`, (c) => {
      found(c)
      return c.json(tools)
    })
    app.get(`${base}/prompt`, (c) => c.json([textBlock(toolPrompt(found(c).first))]))
    app.post(`${base}/call`, async (c) => {
      const session = found(c)
      const { id, result } = call(session, await readJson(c, service, toolCall, 'a call'))
      return streamSSE(c, (stream) => writeResult(stream, id, result))
    })
  }
}
