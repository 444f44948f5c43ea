/** The token level of the plain dialect: a model's owner reads ids and sends the ids that it drew. */
import type { Hono } from 'hono'
import { z } from 'zod'
import type { SessionEnd, ToRead } from '../../trainers/tokens/token-session.js'
import { readJson } from '../http.js'
import { sessionOptions } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'

/** Characters of the longest request: a thousand log-probabilities are 20,000. */
const longestBody = 8 * 1024 * 1024
const id = z.int().min(0)

const drawn = z.strictObject({
  index: z.int().min(0).describe('Number of draws before this one.'),
  tokens: z.array(id).describe('Ids that the model drew.'),
  logprobs: z.array(z.number()).describe('Natural logarithm of the probability of each.'),
  version: z.int().min(0).describe('Number of the policy that drew them.'),
  prompt: z
    .array(id)
    .optional()
    .describe('Ids that it read, where they are others than it was to.'),
})

/** What `POST /v1/token-sessions` takes. */
export const tokenOpening = sessionOptions.extend({
  max_tokens: z.int().min(1).max(100_000).describe('Most tokens of one reply.'),
  context_length: z.int().min(1).max(10_000_000).describe('Context window of the model.'),
  history: z
    .enum(['keep', 'strip-reasoning'])
    .optional()
    .describe('Whether reasoning of earlier turns stays in the prompt. Default keep.'),
  draws: z.array(drawn).max(1000).optional().describe('Draws of an earlier session, taken again.'),
})

/** What `POST /v1/token-sessions/{id}/draws` takes. */
export const tokenDraw = drawn

const toDraw = ({ version, prompt, ...rest }: z.infer<typeof drawn>) => ({
  ...rest,
  ...(prompt && { prompt }),
  policyVersion: version,
})

/** What is to be read, or the end, as the wire has it. */
function wireNext(next: ToRead | SessionEnd): object {
  if (!next.done) {
    const { maxTokens, ...rest } = next
    return { ...rest, max_tokens: maxTokens }
  }
  const { score, forks, episode } = next
  const { total: reward = null } = score ?? {}
  return { done: true, reward, score, forks, turns: episode.turns.length }
}

/** Adds the routes. */
export function addTokens(app: Hono, { sessions, openTokens, deadline }: Service): void {
  const large = { longestBody }
  app.post('/v1/token-sessions', async (c) => {
    const sent = await readJson(c, large, tokenOpening, 'options')
    const { max_tokens: maxTokens, context_length, history, draws = [], ...options } = sent
    const limits = { maxTokens, contextLength: context_length, ...(history && { history }) }
    const opened = await openTokens(options, limits, draws.map(toDraw))
    return c.json({ session: opened.id, ...wireNext(opened.session.next) }, 201)
  })
  app.get('/v1/token-sessions/:id', (c) => {
    const { options, next } = sessions.findTokens(c.req.param('id'))
    return c.json({ options, ...wireNext(next) })
  })
  app.post('/v1/token-sessions/:id/draws', async (c) => {
    const session = sessions.findTokens(c.req.param('id'))
    const sent = await readJson(c, large, drawn, 'a draw')
    return c.json(wireNext(await session.draw(toDraw(sent), deadline())))
  })
  app.delete('/v1/token-sessions/:id', async (c) => {
    if (await sessions.close(c.req.param('id'))) return c.body(null, 204)
    throw new Refusal('session-gone', 'This session has ended already')
  })
}
