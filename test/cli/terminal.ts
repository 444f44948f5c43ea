/** Runs the program inside the test's own process, with streams that remember what was written. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { runCommandLine } from '../../src/cli/program.js'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** What is typed. @default nothing */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Called with everything that is written, as it is. */
  readonly onText?: (text: string) => void
}

function collector(onText: (text: string) => void) {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    onText(chunk.toString())
  })
  return { stream, text: () => text }
}

/** Runs `bedside` with these arguments. */
export async function bedside(
  argv: readonly string[],
  {
    input = '',
    env = {},
    signal = new AbortController().signal,
    onText = () => {},
  }: RunOptions = {},
): Promise<Ran> {
  const stdout = collector(onText)
  const stderr = collector(onText)
  const code = await runCommandLine(argv, {
    stdin: Readable.from(input === '' ? [] : [input]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    signal,
  })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Runs a command that must succeed and gives its JSON document. */
export async function document(argv: readonly string[], options?: RunOptions): Promise<unknown> {
  const { code, stdout, stderr } = await bedside([...argv, '--json'], options)
  if (code !== 0) throw new Error(`bedside ${argv.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** A chat server for as long as a test lasts; `reply` sees how many messages it was sent. */
export async function chatServer(reply: (messages: number) => string) {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { messages } = JSON.parse(body)
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          choices: [
            {
              index: 0,
              finish_reason: 'stop',
              message: { role: 'assistant', content: reply(messages.length) },
            },
          ],
          usage: { prompt_tokens: 10, completion_tokens: 5 },
        }),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on a port, not on a pipe
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
