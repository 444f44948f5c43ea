#!/usr/bin/env node
/** The `bedside` binary: the process's streams and Ctrl-C around the program. */
import { setMaxListeners } from 'node:events'
import { run } from './program.js'

const interrupt = new AbortController()
setMaxListeners(0, interrupt.signal)
process.on('SIGINT', () => {
  // The first asks everything to stop at a safe place; the second is an order.
  if (interrupt.signal.aborted) process.exit(130)
  interrupt.abort()
})

// A reader that has seen enough (`| head`) closes the pipe, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: interrupt.signal,
})
