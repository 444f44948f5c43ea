/**
 * NeMo Gym's resources server of the gymnasium kind: `/reset`, `/step` and `/close` of a session that a cookie names.
 * An action is a model's response, in the form of OpenAI's Responses API. A step is answered again by its request id.
 */
import type { Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { toolAction, type WireAction, wireAction } from '../action.js'
import { parseJson, readJson, readText } from '../http.js'
import { labelledPrompt, toolPrompt, type WireObservation } from '../observation.js'
import { readBody, sessionOptions } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import type { ServerSession, SessionReply } from '../session.js'

const cookie = 'bedside_session'

/** Characters of the longest request: a trainer's responses carry the ids and log-probabilities of their tokens. */
const longestBody = 8 * 1024 * 1024

const inputItem = z.looseObject({ role: z.string().optional() })
const createParams = z.looseObject({
  input: z.union([z.string(), z.array(inputItem)]),
  tools: z.array(z.looseObject({ name: z.string().optional() })).nullish(),
  instructions: z.string().nullish(),
})

/** A row of a dataset; the options of its consultation are in one field, and the rest is others' business. */
const row = z.looseObject({
  responses_create_params: createParams,
  consultation: z.unknown().optional(),
})

const outputItem = z.looseObject({
  type: z.string(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .nullish(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  call_id: z.string().optional(),
})

const stepBody = row.extend({
  response: z.looseObject({ output: z.array(outputItem).max(1000) }),
  _ng_step_request_id: z.string().min(1).max(128).optional(),
})

/** What came of a step, as the wire has it. */
interface NemoReply {
  readonly observation: string | null
  readonly reward: number
  readonly terminated: boolean
  readonly truncated: boolean
  readonly info: object
}

/** Reads a row's options. @throws Refusal for an option beside the field that holds them */
function optionsOf(sent: z.infer<typeof row>) {
  const stray = Object.keys(sessionOptions.shape).filter((name) => name in sent)
  if (stray.length === 0)
    return readBody(sessionOptions, sent.consultation ?? {}, 'options in `consultation`')
  throw new Refusal(
    'bad-request',
    `Expected options of the consultation in its own field, {"consultation": {"${stray[0]}": …}}, got \`${stray.join('`, `')}\` in the row`,
  )
}

/** What the model is told first: the rules too, unless the row has its own. */
function firstWords(first: WireObservation, { responses_create_params }: z.infer<typeof row>) {
  const { input, tools, instructions } = responses_create_params
  const ruled =
    instructions ||
    (typeof input !== 'string' &&
      input.some(({ role }) => /^(?:system|developer)$/.test(role ?? '')))
  if (ruled) return first.message
  return tools?.length ? toolPrompt(first) : labelledPrompt(first)
}

const facts = ({ message: _, prompt: __, ...rest }: WireObservation) => rest

/** The text of a response: its messages, without reasoning. */
const textOf = (output: readonly z.infer<typeof outputItem>[]): string =>
  output
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => {
      if (typeof content === 'string') return [content]
      return (content ?? []).map((part) => (part.type === 'output_text' ? (part.text ?? '') : ''))
    })
    .join('')

/** @throws Refusal `unavailable` where the score is not known: this wire has a number for it, and 0 would be a lie */
function rewardOf({ observation, reward }: SessionReply): number {
  if (observation.done && reward === null)
    throw new Refusal(
      'unavailable',
      'The consultation has ended, and its score is not known: leave this rollout out',
    )
  return reward ?? 0
}

const nemoReply = (reply: SessionReply, observation: string | null, info: object): NemoReply => ({
  observation,
  reward: rewardOf(reply),
  terminated: reply.observation.terminated,
  truncated: reply.observation.truncated,
  info: { ...facts(reply.observation), ...info },
})

/** Reads a tool call. @throws Refusal */
const callAction = ({ name = '', arguments: given = '{}' }: z.infer<typeof outputItem>) =>
  toolAction(name, parseJson(given))

/**
 * Takes the tool calls of a response, one after another until the end. A call that is none is told so.
 * @param from number of steps before: calls that were taken before one failed are answered as before
 */
async function takeCalls(
  service: Service,
  session: ServerSession,
  calls: readonly z.infer<typeof outputItem>[],
  from: number,
): Promise<NemoReply> {
  const tool_outputs: object[] = []
  let at = from
  for (const call of calls) {
    let output: string
    try {
      const action: WireAction = callAction(call)
      output = (await service.step(session, action, at++)).observation.message
    } catch (error) {
      const wrong = error instanceof Refusal && /^(?:bad-request|not-found)$/.test(error.code)
      if (!wrong) throw error
      output = JSON.stringify({ error: error.message })
    }
    tool_outputs.push({ call_id: call.call_id ?? '', output })
    if (session.last.observation.done) break
  }
  return nemoReply(session.last, null, { tool_outputs })
}

/** Takes a response as a step. @throws Refusal */
async function takeResponse(
  service: Service,
  session: ServerSession,
  { response: { output } }: z.infer<typeof stepBody>,
  from: number,
): Promise<NemoReply> {
  if (session.last.observation.done && from === session.actions.length)
    throw new Refusal('conflict', 'Expected no more steps: the consultation has ended')
  const calls = output.filter(({ type }) => type === 'function_call')
  if (calls.length > 0) return takeCalls(service, session, calls, from)
  const action = readBody(wireAction, { message: textOf(output) }, 'a reply')
  const reply = await service.step(session, action, from)
  const { done, message } = reply.observation
  return nemoReply(reply, done ? null : message, {})
}

/** A step by its request id. */
interface NamedStep {
  readonly id: string
  readonly sent: string
  /** Number of steps before it. */
  readonly from: number
  /** Absent after a failure: it may be sent again. */
  reply?: Promise<NemoReply>
}

/** The steps of each session: one that is sent again is answered as before. */
function stepsOfSessions(service: Service) {
  const last = new WeakMap<ServerSession, NamedStep>()
  return (session: ServerSession, body: z.infer<typeof stepBody>) => {
    const { length } = session.actions
    const id = body._ng_step_request_id
    if (id === undefined) return takeResponse(service, session, body, length)
    const sent = JSON.stringify(body.response.output)
    const before = last.get(session)
    const again = before?.id === id
    if (again && before.sent !== sent)
      throw new Refusal('conflict', 'Expected the response that this request id had before')
    const step: NamedStep = again ? before : { id, sent, from: length }
    last.set(session, step)
    step.reply ??= takeResponse(service, session, body, step.from).catch((error: unknown) => {
      delete step.reply
      throw error
    })
    return step.reply
  }
}

/** @throws Refusal `bad-request` without the cookie */
function sessionId(c: Context): string {
  const id = getCookie(c, cookie)
  if (id) return id
  throw new Refusal('bad-request', `Expected the cookie ${cookie}, as /reset sets it`)
}

/** Whether a request is NeMo Gym's: OpenEnv has routes of the same name. */
const isNemo = async (c: Context): Promise<boolean> =>
  (await readText(c, longestBody)).includes('"responses_create_params"')

/** Adds the dialect's routes; before OpenEnv's. */
export function addNemo(app: Hono, service: Service, alone: boolean): void {
  const { sessions } = service
  const step = stepsOfSessions(service)
  const large = { longestBody }
  app.post('/reset', async (c, next) => {
    if (!alone && !(await isNemo(c))) return next()
    const sent = await readJson(c, large, row, 'a row')
    const { id, session } = await service.open(optionsOf(sent), { abandoned: c.req.raw.signal })
    setCookie(c, cookie, id, { path: '/', httpOnly: true })
    const info = {
      ...facts(session.first),
      ...{ supports_explicit_close: true, supports_step_idempotency: true },
    }
    return c.json({ observation: firstWords(session.first, sent), info })
  })
  app.post('/step', async (c, next) => {
    if (!alone && !(await isNemo(c))) return next()
    const id = sessionId(c)
    const session = sessions.find(id)
    const body = await readJson(c, large, stepBody, 'a step')
    const reply = await step(session, body)
    // Agents that name their requests close by themselves, and may ask for the last reply again.
    if (session.last.observation.done && body._ng_step_request_id === undefined)
      await sessions.close(id)
    return c.json(reply)
  })
  app.post('/close', async (c) => {
    await sessions.close(sessionId(c))
    return c.json({})
  })
}
