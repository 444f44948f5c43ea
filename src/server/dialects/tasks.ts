/** The task routes, which OpenEnv took over from ORS: the name of the env, splits, and tasks by index. */
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { readJson } from '../http.js'
import { splitNames } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'

/** Name of the env in the routes. */
export const envName = 'consultation'

const taskBody = z.strictObject({ split: z.enum(splitNames) })
const taskAt = taskBody.extend({ index: z.int().min(0) })
const taskRange = taskBody.extend({ start: z.int().nullish(), stop: z.int().nullish() })

/** Tasks of one reply. */
const mostTasks = 10_000

/** @throws Refusal `not-found` for another env; a route without a name means the one there is */
export function checkEnv(name = envName): void {
  if (name.toLowerCase() !== envName)
    throw new Refusal('not-found', `Expected the env ${envName}, got \`${name.slice(0, 80)}\``)
}

/** The tasks of a split from `start` up to `stop`. */
const tasks = (split: (typeof splitNames)[number], start: number, stop: number) =>
  Array.from({ length: Math.max(0, Math.min(stop, start + mostTasks) - start) }, (_, n) => ({
    split,
    index: start + n,
  }))

const named = { env_name: envName }

/** Adds the routes, with and without the name of the env. */
export function addTasks(app: Hono, service: Service): void {
  const { consultations } = service
  const route = (
    method: 'get' | 'post',
    name: string,
    answer: (c: Context) => Response | Promise<Response>,
  ): void => {
    for (const path of [`/:env/${name}`, `/${name}`])
      app[method](path, (c) => {
        checkEnv(c.req.param('env'))
        return answer(c)
      })
  }
  app.get('/list_environments', (c) => c.json([envName]))
  route('get', 'splits', (c) =>
    c.json(splitNames.map((name) => ({ name, type: name === 'train' ? 'train' : 'validation' }))),
  )
  route('post', 'tasks', async (c) => {
    const { split } = await readJson(c, service, taskBody, 'a split')
    return c.json({ tasks: tasks(split, 0, consultations.count(split)), ...named })
  })
  route('post', 'num_tasks', async (c) => {
    const { split } = await readJson(c, service, taskBody, 'a split')
    return c.json({ num_tasks: consultations.count(split) })
  })
  route('post', 'task', async (c) => {
    const { split, index } = await readJson(c, service, taskAt, 'a task')
    if (index < consultations.count(split)) return c.json({ task: { split, index }, ...named })
    throw new Refusal('bad-request', `Expected an index below ${consultations.count(split)}`)
  })
  route('post', 'task_range', async (c) => {
    const { split, start, stop } = await readJson(c, service, taskRange, 'a range of tasks')
    const count = consultations.count(split)
    // As a slice of a list: numbers below 0 count from its end.
    const at = (n: number) => Math.min(count, Math.max(0, n < 0 ? count + n : n))
    return c.json({ tasks: tasks(split, at(start ?? 0), at(stop ?? count)), ...named })
  })
}
