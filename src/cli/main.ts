#!/usr/bin/env node
/** The `bedside` binary: the process's streams and Ctrl-C around the program. */
import { setMaxListeners } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { run } from './program.js'

const interrupt = new AbortController()
setMaxListeners(0, interrupt.signal)
process.on('SIGINT', () => {
  // The first asks everything to stop at a safe place; the second is an order.
  if (interrupt.signal.aborted) process.exit(130)
  interrupt.abort()
})

// stdout holds a command's result alone: what modules of the user's print, by the console or as they like, goes to stderr.
const { stdin, stdout, stderr } = process
Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true })
syncBuiltinESMExports()

// A reader that has seen enough (`| head`) closes the pipe, which is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

process.exitCode = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env: process.env,
  signal: interrupt.signal,
})
