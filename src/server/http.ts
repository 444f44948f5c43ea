/** Requests of the HTTP dialects: bounded bodies, JSON, and replies to what went wrong. */
import type { Context } from 'hono'
import type { z } from 'zod'
import { readBody } from './options.js'
import { Refusal, refusalBody, refusalStatus } from './refusal.js'
import type { Service } from './service.js'

const tooLarge = (most: number): Refusal =>
  new Refusal('too-large', `Expected at most ${most} characters in a request`)

/** Bodies that were read: a stream gives its text once, and two dialects may look at it. */
const read = new WeakMap<Request, string>()

async function readStream({ req }: Context, most: number): Promise<string> {
  if (Number(req.header('content-length') ?? 0) > most) throw tooLarge(most)
  if (!req.raw.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of req.raw.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > most) throw tooLarge(most)
  }
  return text + decoder.decode()
}

/** The text of a request's body, bounded while it is read. @throws Refusal `too-large` */
export async function readText(context: Context, most: number): Promise<string> {
  const { raw } = context.req
  const text = read.get(raw) ?? (await readStream(context, most))
  read.set(raw, text)
  if (text.length > most) throw tooLarge(most)
  return text
}

/** Parses JSON from a client. @throws Refusal `bad-request` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal('bad-request', `Expected JSON: ${(error as Error).message}`) // of JSON.parse
  }
}

/** Reads a request's JSON; an empty body is an empty object. @throws Refusal */
export async function readJson<T>(
  context: Context,
  { longestBody }: Pick<Service, 'longestBody'>,
  schema: z.ZodType<T>,
  name: string,
): Promise<T> {
  const text = await readText(context, longestBody)
  return readBody(schema, text.trim() === '' ? {} : parseJson(text), name)
}

/** Header in which a client of this package says its version. */
const versionHeader = 'x-bedside-version'

/** Releases that work together: those of one minor version before 1.0, of one major version since. */
const seriesOf = (version: string): string => /^(?:0\.\d+|[1-9]\d*)/.exec(version)?.[0] ?? version

/** Refuses a client of a release that may mean other things by the same words. @throws Refusal `version` */
export function checkClientVersion({ req }: Context, version: string): void {
  const client = req.header(versionHeader)
  if (client === undefined || seriesOf(client) === seriesOf(version)) return
  throw new Refusal(
    'version',
    `Expected a client of version ${seriesOf(version)}.x, as this server is ${version}, got \`${client.slice(0, 40)}\`: install the same version of both`,
    { server: version },
  )
}

/** The reply to what a request threw. Nothing of the server's inside is in it. */
export function failureReply(context: Context, error: unknown): Response {
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal('unavailable', 'The server failed at this request; its log says why')
  if (refusal.code === 'capacity' || refusal.code === 'draining') context.header('Retry-After', '5')
  return context.json(refusalBody(refusal), refusalStatus[refusal.code])
}
