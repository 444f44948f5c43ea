/**
 * Processes that serve one port together. A connection may reach any of them, and a session is held by one: a request for
 * another's session is passed on to it, over a door of its own that only they know.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context } from 'hono'
import { readText } from './http.js'
import { Refusal } from './refusal.js'

/** A process among those that serve one port. */
export interface WorkerPlace {
  readonly number: number
  /** Shown by the processes to one another. */
  readonly secret: string
  /** Inner addresses of all of them now, by number. */
  readonly peers: () => ReadonlyMap<number, string>
}

/** Header that shows the secret. */
const header = 'x-bedside-worker'

/** Characters of the longest request that is passed on: the dialects have bounds of their own. */
const longest = 8 * 1024 * 1024

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Makes the check of requests at the inner door. */
export function peerCheck({
  secret,
}: WorkerPlace): (request: Pick<IncomingMessage, 'headers'>) => boolean {
  const wanted = digest(secret)
  return ({ headers }) => timingSafeEqual(digest(String(headers[header] ?? '')), wanted)
}

const gone = (): Refusal =>
  new Refusal(
    'session-gone',
    'The process that had this session has ended: open one with the same options and, as `actions`, those it had taken',
  )

/** @throws Refusal `session-gone` where there is no such process now */
function addressOf({ peers }: WorkerPlace, number: number): string {
  const address = peers().get(number)
  if (address === undefined) throw gone()
  return address
}

/** Passes a request on to the process that has its session. @throws Refusal `session-gone` */
export async function passOn(c: Context, place: WorkerPlace, to: number): Promise<Response> {
  const { method, raw, url } = c.req
  const { pathname, search } = new URL(url)
  const address = addressOf(place, to)
  const headers = new Headers(raw.headers)
  for (const name of ['connection', 'content-length', 'host', 'transfer-encoding', 'expect'])
    headers.delete(name)
  headers.set(header, place.secret)
  const body = method === 'GET' || method === 'HEAD' ? null : await readText(c, longest)
  // A client that vanishes ends the request until its reply begins. After that the listener cancels the reply: an error in
  // the middle of it would be printed.
  const waiting = new AbortController()
  const stop = () => waiting.abort()
  raw.signal.addEventListener('abort', stop, { once: true })
  const sent = { method, headers, body, signal: waiting.signal, redirect: 'manual' } as const
  const reply = await fetch(`${address}${pathname}${search}`, sent)
    .catch(() => {
      throw gone()
    })
    .finally(() => raw.signal.removeEventListener('abort', stop))
  const told = new Headers(reply.headers)
  for (const name of ['connection', 'keep-alive', 'transfer-encoding']) told.delete(name)
  return new Response(reply.body, { status: reply.status, headers: told })
}

/** Passes a WebSocket handshake on, and then all that is said. */
export function passOnSocket(
  { url = '/', headers }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { place, to }: { readonly place: WorkerPlace; readonly to: number },
): void {
  const address = place.peers().get(to)
  const fail = () => {
    socket.destroy()
  }
  if (address === undefined) {
    fail()
    return
  }
  const inner = request(`${address}${url}`, {
    headers: { ...headers, [header]: place.secret },
  })
  inner.on('error', fail)
  inner.on('response', fail)
  inner.on('upgrade', (reply, other, first) => {
    const lines = Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    if (first.length > 0) socket.write(first)
    if (head.length > 0) other.write(head)
    other.on('error', fail)
    other.on('close', fail)
    socket.on('close', () => other.destroy())
    socket.pipe(other).pipe(socket)
  })
  inner.end()
}

/** Asks all other processes for a document; one that does not answer is left out. */
export async function askPeers(place: WorkerPlace, path: string): Promise<readonly unknown[]> {
  const others = [...place.peers()].filter(([number]) => number !== place.number)
  const told = await Promise.all(
    others
      .map(async ([, address]) => {
        const signal = AbortSignal.timeout(2000)
        const reply = await fetch(`${address}${path}`, {
          headers: { [header]: place.secret },
          signal,
        })
        return reply.ok ? [(await reply.json()) as unknown] : []
      })
      .map((one) => one.catch(() => [])),
  )
  return told.flat()
}
