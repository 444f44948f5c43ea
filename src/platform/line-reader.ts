/** Lines that a person types at a terminal, or that come from a pipe, read one at a time. */
import { createInterface, type Interface } from 'node:readline'
import { Fault } from '../error.js'

/** Where lines come from, and where prompts go. */
export interface LineStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/** Strips control characters, which a terminal would obey. */
export const stripControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are what it removes
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')

/** Lines read but not asked for yet, and the reader that delivers them while one is open. */
interface LineQueue {
  readonly lines: string[]
  ended: boolean
  wake: () => void
  reader?: Interface | undefined
}

/** Opens a reader that fills the queue. */
function openReader({ input, output }: LineStreams, terminal: boolean, queue: LineQueue) {
  const reader = createInterface(terminal ? { input, output, terminal } : { input, terminal })
  reader.on('line', (line) => {
    queue.lines.push(line)
    queue.wake()
  })
  reader.on('close', () => {
    if (queue.reader !== reader) return
    queue.ended = true
    queue.wake()
  })
  // A terminal in raw mode sends Ctrl-C as a key; it is turned back into the signal it stands for.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  return reader
}

/** Reads lines on demand, for somebody who is named in errors. Lines that come early are queued; `readline`'s own `question` would lose them. */
export function lineReader(options: LineStreams, who: string) {
  const { input, output } = options
  const terminal = Boolean(input.isTTY && output.isTTY)
  const queue: LineQueue = { lines: [], ended: false, wake: () => {} }
  return {
    /** The next line, or `undefined` at the end of the input. @throws Fault `aborted` with the signal */
    async read(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined> {
      if (signal?.aborted) throw new Fault('aborted', `${who} was interrupted`)
      if (!queue.ended) {
        queue.reader ??= openReader(options, terminal, queue)
        queue.reader.resume()
      }
      if (terminal && !queue.ended) {
        queue.reader?.setPrompt(prompt)
        queue.reader?.prompt()
      } else output.write(prompt)
      if (queue.lines.length === 0 && !queue.ended) {
        await new Promise<void>((resolve) => {
          queue.wake = resolve
          signal?.addEventListener('abort', queue.wake)
        })
        signal?.removeEventListener('abort', queue.wake)
        if (signal?.aborted) throw new Fault('aborted', `${who} was interrupted`)
      }
      const line = queue.lines.shift()
      if (!terminal) output.write(`${line ?? ''}\n`)
      return line
    },
    /** Releases the input between consultations, so that the process may end. */
    release(): void {
      const held = queue.reader
      if (!terminal) return void held?.pause()
      // A terminal is closed, to leave raw mode, and opened again for the next consultation.
      queue.reader = undefined
      held?.close()
    },
  }
}
