/**
 * The HTTP routes of OpenEnv. Its own server makes a new env for each `/reset` and `/step`; here `/reset` gives a
 * `session_id`, which `/step`, `/state` and `/mcp` take.
 */
import type { Hono } from 'hono'
import { z } from 'zod'
import { wireAction } from '../action.js'
import { readJson } from '../http.js'
import { readBody } from '../options.js'
import type { Service } from '../service.js'
import { answerRpc, openEnvStep, type RpcSession, resetOptions, wireStep } from './openenv-wire.js'
import { envName } from './tasks.js'

const stepBody = z.strictObject({
  action: z.unknown(),
  session_id: z.string().describe('As /reset gave it.'),
  timeout_s: z.number().positive().nullish(),
  request_id: z.string().max(255).nullish(),
})

const observationSchema = {
  title: 'ConsultationObservation',
  type: 'object',
  properties: {
    message: { type: 'string' },
    outcome: { type: 'string' },
    turns_left: { type: 'integer' },
    done: { type: 'boolean' },
    terminated: { type: 'boolean' },
    truncated: { type: 'boolean' },
    stop: { type: 'string' },
    reward: { type: ['number', 'null'] },
  },
  required: ['message', 'outcome', 'done'],
}

const stateSchema = {
  title: 'State',
  type: 'object',
  properties: { episode_id: { type: ['string', 'null'] }, step_count: { type: 'integer' } },
}

/** Adds what describes the env. */
function addDescription(app: Hono, version: string): void {
  app.get('/health', (c) => c.json({ status: 'healthy' }))
  app.get('/schema', (c) => {
    const { $schema: _, ...action } = z.toJSONSchema(wireAction)
    return c.json({ action, observation: observationSchema, state: stateSchema })
  })
  app.get('/metadata', (c) =>
    c.json({
      name: envName,
      description: 'Medical consultations with a simulated patient.',
      ...{ readme_content: null, version, author: null, documentation_url: null },
    }),
  )
}

/** Adds the dialect's routes. */
export function addOpenEnv(app: Hono, service: Service): void {
  const { sessions, version } = service
  const open = async (options: z.infer<typeof resetOptions>, abandoned: AbortSignal) => {
    const { episode_id: _, ...rest } = options
    return service.open(rest, { abandoned })
  }
  addDescription(app, version)
  app.post('/reset', async (c) => {
    const options = await readJson(c, service, resetOptions, 'arguments of reset')
    const { id, session } = await open(options, c.req.raw.signal)
    const { observation, ...rest } = wireStep(session.last)
    return c.json({ observation: { ...observation, session_id: id }, ...rest })
  })
  app.post('/step', async (c) => {
    const { action, session_id } = await readJson(c, service, stepBody, 'a step')
    return c.json(await openEnvStep(service, sessions.find(session_id), action))
  })
  app.get('/state', (c) => {
    const id = c.req.query('session_id')
    if (id === undefined) return c.json({ episode_id: null, step_count: 0 })
    return c.json({ episode_id: id, step_count: sessions.find(id).actions.length })
  })
  const rpc = (abandoned: AbortSignal): RpcSession => ({
    find: ({ session_id }) => sessions.find(String(session_id)),
    open: async (params) => (await open(readBody(resetOptions, params, 'params'), abandoned)).id,
    close: ({ session_id }) => sessions.close(String(session_id)),
  })
  app.post('/mcp', async (c) => {
    const sent = await readJson(c, service, z.unknown(), 'a request')
    const answer = await answerRpc(service, sent, rpc(c.req.raw.signal))
    return answer ? c.json(answer) : c.body(null, 202)
  })
}
