/** The routes of the plain dialect: what each takes and answers, as schemas, and the OpenAPI document that says so. */
import { z } from 'zod'
import { tools, wireAction } from '../action.js'
import { sessionOptions, splitNames } from '../options.js'
import { advantageReply, advantageRequest } from './advantages.js'
import { tokenDraw, tokenOpening } from './tokens.js'

/** What `POST /v1/sessions` takes. */
export const opening = sessionOptions.extend({
  actions: z
    .array(wireAction)
    .max(1000)
    .optional()
    .describe(
      'Actions of an earlier session with these options, taken again before the first reply.',
    ),
})

/** What `POST /v1/sessions/{id}/steps` takes. */
export const stepBody = z.strictObject({
  action: wireAction,
  index: z
    .int()
    .min(0)
    .optional()
    .describe('Number of steps before this one: a step that is sent again is answered as before.'),
})

const count = z.int().min(0)
const amount = z.number().min(0)
const reward = z
  .number()
  .nullable()
  .describe('Null before the end, and where the score is not known, which is not 0.')

const part = z.union([
  z.object({ status: z.literal('ok'), value: z.number(), evidence: z.string().optional() }),
  z.object({ status: z.literal('unavailable'), reason: z.string() }),
  z.object({ status: z.literal('not-applicable') }),
])

const score = z
  .object({
    total: z.number().nullable().describe('Null says that it is not known, which is not 0.'),
    parts: z.record(z.string(), part),
  })
  .describe('The score at the end.')

const observation = z.object({
  message: z
    .string()
    .describe(
      'What the doctor hears: the intake, a reply, a report, or why an action was refused.',
    ),
  outcome: z.string().describe('`opening`, or how the last action came out.'),
  turns_left: count,
  money_spent: amount,
  minutes_spent: amount,
  money: amount,
  minutes: amount,
  language: z.string(),
  done: z.boolean(),
  terminated: z.boolean().describe('Whether the doctor ended it.'),
  truncated: z.boolean().describe('Whether a limit ended it.'),
  stop: z.string().optional().describe('Why it ended; absent before.'),
  score: score.optional(),
  prompt: z
    .array(z.object({ role: z.string(), content: z.string() }))
    .optional()
    .describe('At the opening: the messages that a language model reads, with the rules.'),
})

const replied = z.object({
  index: count.describe('Steps taken so far: the index of the next one.'),
  observation,
  reward,
})
const session = z.string().describe('Id of the session.')

const toRead = z.object({
  done: z.literal(false),
  index: count.describe('Number of draws so far: the index of the next one.'),
  prompt: z.array(count).describe('Ids to be read.'),
  heard: count.describe('How many of the last ids are new.'),
  max_tokens: count,
  stop: z.array(count).describe('Ids that end a reply.'),
})
const ending = z.object({
  done: z.literal(true),
  reward,
  score: score.optional(),
  forks: count.describe('Token streams that were broken off.'),
  turns: count,
})

const refused = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().describe('What was expected.'),
    fields: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
})

/** A route with what the description says of it. */
interface PlainRoute {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  /** Name for generated clients. */
  readonly name: string
  readonly says: string
  readonly body?: z.ZodType
  readonly status: 200 | 201 | 204
  /** What it answers with; nothing with 204. */
  readonly reply?: z.ZodType
}

const routes: readonly PlainRoute[] = [
  {
    ...{ method: 'post', path: '/v1/sessions', name: 'openSession', says: 'Opens a consultation.' },
    ...{ body: opening, status: 201, reply: replied.extend({ session }) },
  },
  {
    ...{ method: 'get', path: '/v1/sessions/{id}', name: 'readSession', status: 200 },
    says: 'Options, actions and last reply of a session.',
    reply: replied.extend({ options: sessionOptions, actions: z.array(wireAction) }),
  },
  {
    ...{ method: 'post', path: '/v1/sessions/{id}/steps', name: 'takeStep' },
    ...{ says: 'Takes one action.', body: stepBody, status: 200, reply: replied },
  },
  {
    ...{ method: 'delete', path: '/v1/sessions/{id}', name: 'endSession', status: 204 },
    says: 'Ends a session.',
  },
  {
    ...{ method: 'post', path: '/v1/token-sessions', name: 'openTokenSession' },
    ...{ says: 'Opens a consultation in tokens.', body: tokenOpening, status: 201 },
    reply: z.union([toRead.extend({ session }), ending.extend({ session })]),
  },
  {
    ...{ method: 'get', path: '/v1/token-sessions/{id}', name: 'readTokenSession', status: 200 },
    says: 'Options of a session in tokens, and the ids to be read now.',
    reply: z.union([
      toRead.extend({ options: sessionOptions }),
      ending.extend({ options: sessionOptions }),
    ]),
  },
  {
    ...{ method: 'post', path: '/v1/token-sessions/{id}/draws', name: 'takeDraw', status: 200 },
    ...{ says: 'Takes the ids that a model drew.', body: tokenDraw },
    reply: z.union([toRead, ending]),
  },
  {
    ...{ method: 'delete', path: '/v1/token-sessions/{id}', name: 'endTokenSession', status: 204 },
    says: 'Ends a session in tokens.',
  },
  {
    ...{ method: 'post', path: '/v1/advantages', name: 'estimateAdvantages', status: 200 },
    says: 'What rollouts learn from what they were paid.',
    ...{ body: advantageRequest, reply: advantageReply },
  },
  {
    ...{ method: 'get', path: '/v1/splits', name: 'listSplits', status: 200 },
    says: 'Splits with the number of their cases.',
    reply: z.object({ splits: z.array(z.object({ name: z.enum(splitNames), cases: count })) }),
  },
  {
    ...{ method: 'get', path: '/v1/tools', name: 'listTools', status: 200 },
    says: 'The actions as tools, with JSON schemas.',
    reply: z.object({
      tools: z.array(
        z.object({ name: z.string(), description: z.string(), input_schema: z.looseObject({}) }),
      ),
    }),
  },
]

/** A schema for what is sent to a server refuses what it does not know; one for replies lets later releases say more. */
const jsonSchema = (schema: z.ZodType, io: 'input' | 'output' = 'output'): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

const json = (schema: object) => ({ 'application/json': { schema } })

/** The tools, each with its name and the JSON schema of its arguments. */
export const describeTools = (): readonly object[] =>
  Object.entries(tools).map(([name, { description, input }]) => ({
    ...{ name, description },
    input_schema: jsonSchema(input),
  }))

const refusal = { $ref: '#/components/responses/Refused' }

function operation({ path, name, says, body, status, reply }: PlainRoute): object {
  const parameters = path.includes('{id}')
    ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
    : []
  return {
    ...{ operationId: name, summary: says, parameters, security: [{ token: [] }] },
    ...(body && { requestBody: { content: json(jsonSchema(body)) } }),
    responses: {
      [status]: {
        description: reply ? 'What was asked for.' : 'Done.',
        ...(reply && { content: json(jsonSchema(reply, 'input')) }),
      },
      ...{ '4XX': refusal, '5XX': refusal },
    },
  }
}

/** The description of the dialect, OpenAPI 3.1. */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
  const refusedBody = json(jsonSchema(refused, 'input'))
  return {
    openapi: '3.1.0',
    info: { title: 'Bedside', version, summary: 'Consultations over HTTP.', license },
    servers: [{ url: '/' }],
    paths,
    components: {
      responses: {
        Refused: { description: '`error.code` and `error.message` say why.', content: refusedBody },
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}
