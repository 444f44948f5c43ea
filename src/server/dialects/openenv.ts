/**
 * The HTTP routes of OpenEnv. Its own server makes a new env for each `/reset` and `/step`; here `/reset` gives a
 * `session_id`, which `/step`, `/state` and `/mcp` take.
 */
import type { Hono } from 'hono'
import { z } from 'zod'
import { wireAction } from '../action.js'
import { readJson } from '../http.js'
import { readBody, splitNames } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import { answerRpc, openEnvStep, type RpcSession, resetOptions, wireStep } from './openenv-wire.js'

/** Name of the env in the task routes. */
const envName = 'consultation'

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

const taskBody = z.object({ split: z.enum(splitNames) })
const taskAt = taskBody.extend({ index: z.int().min(0) })
const taskRange = taskBody.extend({
  start: z.int().min(0).nullish(),
  stop: z.int().min(0).nullish(),
})
/** Tasks of one reply. */
const mostTasks = 10_000

const checkEnv = (name: string): void => {
  if (name !== envName)
    throw new Refusal('not-found', `Expected the env ${envName}, got \`${name.slice(0, 80)}\``)
}

/** The task routes of OpenEnv: splits, and tasks by index. */
function addTasks(app: Hono, service: Service): void {
  const { consultations } = service
  const tasks = (split: (typeof splitNames)[number], start: number, stop: number) =>
    Array.from({ length: Math.max(0, Math.min(stop, start + mostTasks) - start) }, (_, n) => ({
      split,
      index: start + n,
    }))
  app.get('/list_environments', (c) => c.json([envName]))
  app.get('/:env/splits', (c) => {
    checkEnv(c.req.param('env'))
    return c.json(
      splitNames.map((name) => ({ name, type: name === 'train' ? 'train' : 'validation' })),
    )
  })
  app.post('/:env/tasks', async (c) => {
    checkEnv(c.req.param('env'))
    const { split } = await readJson(c, service, taskBody, 'a split')
    return c.json({ tasks: tasks(split, 0, consultations.count(split)), env_name: envName })
  })
  app.post('/:env/num_tasks', async (c) => {
    checkEnv(c.req.param('env'))
    const { split } = await readJson(c, service, taskBody, 'a split')
    return c.json({ num_tasks: consultations.count(split) })
  })
  app.post('/:env/task', async (c) => {
    checkEnv(c.req.param('env'))
    const { split, index } = await readJson(c, service, taskAt, 'a task')
    if (index < consultations.count(split)) return c.json({ task: { split, index } })
    throw new Refusal('bad-request', `Expected an index below ${consultations.count(split)}`)
  })
  app.post('/:env/task_range', async (c) => {
    checkEnv(c.req.param('env'))
    const { split, start, stop } = await readJson(c, service, taskRange, 'a range of tasks')
    const count = consultations.count(split)
    return c.json({ tasks: tasks(split, start ?? 0, Math.min(stop ?? count, count)) })
  })
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
  addTasks(app, service)
}
