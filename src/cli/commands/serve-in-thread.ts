/** Where `bedside serve` runs: in a thread with a larger young generation, or in several processes. */
import { semiSpaceMb } from '../../server/young-generation.js'
import type { Terminal } from '../print/output.js'
import type { ServeFlags } from './serve.js'

/** Runs `bedside serve` until Ctrl-C. @returns the exit code */
export async function serveInThread(flags: ServeFlags, terminal: Terminal): Promise<number> {
  const { stopWithInput: withInput = false, workers = 1 } = flags
  // V8's young generation has two halves, and large objects.
  if (terminal.inThread && workers === 1)
    return terminal.inThread({ youngMb: 3 * semiSpaceMb, withInput })
  // Late: the thread loads it for itself, and it takes as long as all else at the start.
  const { serve } = await import('./serve.js')
  return serve(flags, terminal)
}
