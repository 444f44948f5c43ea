/** Declares `serve`, the server of consultations. */
import type { Command } from 'commander'
import { dialectNames } from '../../server/dialect-names.js'
import type { Declare } from './declare.js'
import { parseFinite, parseWhole } from './flags.js'

/** Adds `serve`. */
export function addServe(program: Command, declare: Declare): void {
  const command = declare(program, 'serve', {
    says: 'Serves consultations over HTTP and WebSocket until Ctrl-C: for training loops in Python and elsewhere.',
    load: async () => (await import('../commands/serve-in-thread.js')).serveInThread,
    examples: [
      'serve',
      'serve --port 8000 --max-sessions 512 --json',
      'serve --workers 4',
      'serve --cases cases.jsonl',
    ],
  })
    .option('--port <N>', 'where it listens (default: any free one)', parseWhole(0, 65535))
    .option('--host <ADDRESS>', 'address to listen on (default: 127.0.0.1)')
    .option(
      '--dialect <NAMES>',
      `wires to speak: ${dialectNames.join(', ')} (default: all)`,
      (value: string) => value.split(','),
    )
    .option('--cases <FILE>', 'cases of a file in place of generated ones')
    .option(
      '--recipe <FILE>',
      "the consultations of a training recipe, of which clients choose the case alone; with --tokenizer, its trainer's",
    )
    .option('--record <FILE>', 'JSON lines of the finished token sessions of a --recipe')
    .option(
      '--tokenizer <FOLDER>',
      'tokenizer and chat template of a model: for sessions in tokens',
    )
    .option(
      '--token-file <FILE>',
      'holds the token of clients, created if missing (default: runs/serve/token); $BEDSIDE_SERVE_TOKEN overrides it',
    )
    .option('--no-token', 'ask for none: for clients on this machine that can send none')
  addServeBounds(command)
}

/** Adds the flags of `serve` that bound it. */
function addServeBounds(command: Command): void {
  command
    .option('--max-sessions <N>', 'sessions at once (default: 1024)', parseWhole(1, 1_000_000))
    .option(
      '--workers <N>',
      'processes that share the port; --max-sessions is of each (default: 1)',
      parseWhole(1, 128),
    )
    .option('--idle-seconds <X>', 'after which an unused session ends (default: 900)', parseFinite)
    .option('--wait-seconds <X>', 'a client waits for a place (default: 30)', parseFinite)
    .option('--deadline-seconds <X>', 'a step may take (default: 50)', parseFinite)
    .option('--stop-with-input', 'end when standard input does, as when its parent is killed')
}
