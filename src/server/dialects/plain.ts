/** The plain dialect: sessions as resources under `/v1`, described in `/openapi.json`. */
import type { Hono } from 'hono'
import { checkClientVersion, readJson } from '../http.js'
import { splitNames } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import { describeTools, openApi, opening, stepBody } from './plain-routes.js'

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
