/** Advantages for a trainer that owns its loop: it says what its rollouts were paid, and is told what each learns. */
import type { Hono } from 'hono'
import { z } from 'zod'
import { advantageNames } from '../../group.js'
import { namedAdvantages } from '../../trainers/advantages/method.js'
import { sampleAdvantages } from '../../trainers/advantages/samples.js'
import { readJson } from '../http.js'
import { Refusal } from '../refusal.js'

/** Characters of the longest request: a rollout with a dozen parts is 500. */
const longestBody = 8 * 1024 * 1024

const method = z.strictObject({
  name: z
    .enum(advantageNames)
    .exclude(['remax'])
    .describe('Estimator, as `training.advantages` of a recipe.'),
  min_scored: z
    .int()
    .min(1)
    .optional()
    .describe('Scored rollouts of a group that learns, at least.'),
  truncated: z
    .enum(['keep', 'drop', 'zero'])
    .optional()
    .describe(
      'Truncated rollouts: as any other, left out, or counted with advantage 0. Default keep.',
    ),
})

const rollout = z.strictObject({
  total: z.number().nullable().describe('Its reward; null leaves it out.'),
  parts: z.record(z.string(), z.number()).optional().describe('Values of the parts of its reward.'),
  tokens: z.int().min(0).optional().describe('Tokens that were drawn.'),
  truncated: z.boolean().optional(),
})

/** What `POST /v1/advantages` takes. */
export const advantageRequest = z.strictObject({
  method,
  groups: z
    .array(z.array(rollout).min(1))
    .min(1)
    .describe('Rollouts by group: one case and one seed each.'),
})

/** What it answers, by group and rollout. */
export const advantageReply = z.object({
  advantages: z.array(z.array(z.number().nullable())).describe('Null for one that is left out.'),
  status: z.array(z.string()).describe('Of each group: whether it learns, or why not.'),
})

/** Optional keys of a request without those that were not sent. */
const given = <T extends object>(sent: T) =>
  // Of zod's output, whose optional keys may hold undefined.
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }

/** Adds the route. */
export function addAdvantages(app: Hono): void {
  app.post('/v1/advantages', async (c) => {
    const sent = await readJson(c, { longestBody }, advantageRequest, 'rollouts')
    const { name, min_scored: minScored, truncated } = sent.method
    const groups = sent.groups.map((rollouts) => rollouts.map(given))
    try {
      const how = given({ minScored, truncated })
      const estimated = sampleAdvantages(groups, namedAdvantages(name), how)
      return c.json({
        advantages: estimated.map(({ advantages }) => advantages),
        status: estimated.map(({ status }) => status),
      })
    } catch (error) {
      if (error instanceof RangeError) throw new Refusal('bad-request', error.message)
      throw error
    }
  })
}
