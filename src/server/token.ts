/** The token of a server: as a header, or as a part of the address for clients that can send none. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Before the token in an address: `http://127.0.0.1:8000/t/TOKEN`. */
const prefix = '/t/'

/** The tokens that a request shows. */
function* shown({ headers, url = '' }: IncomingMessage): Generator<string> {
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (bearer) yield bearer
  const key = headers['x-api-key']
  if (typeof key === 'string') yield key
  if (url.startsWith(prefix)) yield decodeURIComponent(url.slice(prefix.length).split(/[/?]/)[0]!)
}

/**
 * Makes the check of a server's requests. It takes a token out of the address, so that the rest of the server never sees
 * it; the time of a comparison tells nothing.
 */
export function tokenCheck(token: string | undefined): (request: IncomingMessage) => boolean {
  const wanted = token === undefined ? undefined : digest(token)
  return (request) => {
    let known = wanted === undefined
    try {
      for (const one of shown(request))
        if (wanted && timingSafeEqual(digest(one), wanted)) known = true
    } catch {
      return false // An address that is no address.
    }
    const { url = '/' } = request
    if (url.startsWith(prefix)) request.url = url.slice(prefix.length).replace(/^[^/?]*/, '') || '/'
    return known
  }
}
