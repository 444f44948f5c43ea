/** The plain dialect: sessions as resources under `/v1`, described in `/openapi.json`. */
import type { Hono } from 'hono'
import { z } from 'zod'
import { tools, wireAction } from '../action.js'
import { checkClientVersion, readJson } from '../http.js'
import { sessionOptions, splitNames } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import { advantageRequest } from './advantages.js'
import { tokenDraw, tokenOpening } from './tokens.js'

const opening = sessionOptions.extend({
  actions: z
    .array(wireAction)
    .max(1000)
    .optional()
    .describe(
      'Actions of an earlier session with these options, taken again before the first reply.',
    ),
})

const stepBody = z.strictObject({
  action: wireAction,
  index: z
    .int()
    .min(0)
    .optional()
    .describe('Number of steps before this one: a step that is sent again is answered as before.'),
})

/** A route with what the description says of it. */
interface PlainRoute {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly says: string
  readonly body?: z.ZodType
}

const routes = [
  { method: 'post', path: '/v1/sessions', says: 'Opens a consultation.', body: opening },
  {
    method: 'get',
    path: '/v1/sessions/{id}',
    says: 'Options, actions and last reply of a session.',
  },
  { method: 'post', path: '/v1/sessions/{id}/steps', says: 'Takes one action.', body: stepBody },
  { method: 'delete', path: '/v1/sessions/{id}', says: 'Ends a session.' },
  {
    method: 'post',
    path: '/v1/token-sessions',
    says: 'Opens a consultation in tokens.',
    body: tokenOpening,
  },
  {
    method: 'get',
    path: '/v1/token-sessions/{id}',
    says: 'Options of a session in tokens, and the ids to be read now.',
  },
  {
    method: 'post',
    path: '/v1/token-sessions/{id}/draws',
    says: 'Takes the ids that a model drew.',
    body: tokenDraw,
  },
  { method: 'delete', path: '/v1/token-sessions/{id}', says: 'Ends a session in tokens.' },
  {
    method: 'post',
    path: '/v1/advantages',
    says: 'What rollouts learn from what they were paid.',
    body: advantageRequest,
  },
  { method: 'get', path: '/v1/splits', says: 'Splits with the number of their cases.' },
  { method: 'get', path: '/v1/tools', says: 'The actions as tools, with JSON schemas.' },
] as const satisfies readonly PlainRoute[]

const jsonSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema)
  return rest
}

/** The tools, each with its name and the JSON schema of its arguments. */
export const describeTools = (): readonly object[] =>
  Object.entries(tools).map(([name, { description, input }]) => ({
    ...{ name, description },
    input_schema: jsonSchema(input),
  }))

/** The description of the dialect, OpenAPI 3.1. */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const { method, path, says } = route
    const parameters = path.includes('{id}')
      ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
      : []
    const content =
      'body' in route ? { 'application/json': { schema: jsonSchema(route.body) } } : undefined
    paths[path] = {
      ...paths[path],
      [method]: {
        summary: says,
        ...{ parameters, security: [{ token: [] }] },
        ...(content ? { requestBody: { content } } : {}),
        responses: {
          200: { description: 'The session, or what was asked for.' },
          default: { description: 'Refused: `error.code` and `error.message` say why.' },
        },
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Bedside', version, summary: 'Consultations over HTTP.' },
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}

/** Adds the dialect's routes. */
export function addPlain(app: Hono, service: Service): void {
  const { sessions, consultations, version } = service
  app.use('/v1/*', (c, next) => {
    checkClientVersion(c, version)
    return next()
  })
  app.get('/openapi.json', (c) => c.json(openApi(version)))
  app.get('/v1/tools', (c) => c.json({ tools: describeTools() }))
  app.get('/v1/splits', (c) =>
    c.json({ splits: splitNames.map((name) => ({ name, cases: consultations.count(name) })) }),
  )
  app.post('/v1/sessions', async (c) => {
    const { actions, ...options } = await readJson(c, service, opening, 'options')
    const abandoned = c.req.raw.signal
    const { id, session } = await service.open(options, { abandoned, ...(actions && { actions }) })
    return c.json({ session: id, ...session.last }, 201)
  })
  app.get('/v1/sessions/:id', (c) => {
    const { options, actions, last } = sessions.find(c.req.param('id'))
    return c.json({ options, actions, ...last })
  })
  app.post('/v1/sessions/:id/steps', async (c) => {
    const session = sessions.find(c.req.param('id'))
    const { action, index } = await readJson(c, service, stepBody, 'a step')
    return c.json(await service.step(session, action, index))
  })
  app.delete('/v1/sessions/:id', async (c) => {
    const id = c.req.param('id')
    if (await sessions.close(id)) return c.body(null, 204)
    throw new Refusal('session-gone', 'This session has ended already')
  })
}
