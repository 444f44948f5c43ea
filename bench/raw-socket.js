/**
 * A WebSocket client that costs next to nothing, so that a load measures the server: one text frame out, one in. It
 * reads unbroken frames below 4 GB, looks for a word in them and never decodes them; the mask is zero, which the
 * protocol allows and which saves a copy.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as dial } from 'node:net'

/** A text frame, ready to be sent as often as one likes. */
export function frame(text) {
  const payload = Buffer.from(text)
  const size = payload.length
  const head =
    size < 126 ? Buffer.from([0x81, 0x80 | size]) : Buffer.from([0x81, 0xfe, size >> 8, size & 255])
  if (size > 65_535) throw new RangeError(`expected at most 65,535 bytes, got ${size}`)
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** Where the first frame's payload begins and ends; undefined while a part of it is missing. */
function bounds(data) {
  if (data.length < 2) return
  const short = data[1] & 127
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (data.length < start) return
  const size = short < 126 ? short : short === 126 ? data.readUInt16BE(2) : data.readUInt32BE(6)
  return data.length < start + size ? undefined : { start, end: start + size, kind: data[0] & 15 }
}

/** Opens a connection. `ask(frame)` gives the reply's bytes; one question at a time. */
export async function openSocket(url) {
  const { hostname, port, pathname } = new URL(url)
  const socket = dial({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  let rest = Buffer.alloc(0)
  while (!rest.includes('\r\n\r\n')) rest = Buffer.concat([rest, (await once(socket, 'data'))[0]])
  if (!rest.subarray(0, 12).includes(' 101')) throw new Error(`refused: ${rest.subarray(0, 200)}`)
  rest = rest.subarray(rest.indexOf('\r\n\r\n') + 4)
  let answer
  let failed
  const read = () => {
    for (let at = bounds(rest); at !== undefined; at = bounds(rest)) {
      const payload = rest.subarray(at.start, at.end)
      rest = rest.subarray(at.end)
      if (at.kind === 8) return socket.destroy(new Error('the server closed the connection'))
      if (at.kind === 1) answer(payload)
    }
  }
  socket.on('data', (data) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data])
    read()
  })
  socket.on('error', (error) => failed?.(error))
  const ask = (bytes) =>
    new Promise((resolve, reject) => {
      answer = resolve
      failed = reject
      socket.write(bytes)
    })
  return { ask, write: (bytes) => socket.write(bytes), close: () => socket.destroy() }
}
