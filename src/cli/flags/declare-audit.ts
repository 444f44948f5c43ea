/** Declares `rewards audit`. */
import type { Command } from 'commander'
import { Option } from 'commander'
import type { AuditFlags } from '../commands/audit.js'
import type { Terminal } from '../print/output.js'
import type { Act } from './declared.js'
import { examples } from './declared.js'
import { whole, withCases, withPrint, withSeed } from './flags.js'

/** Adds `audit` to `rewards`. */
export function addAudit(rewards: Command, act: Act, terminal: Terminal): void {
  const audit = rewards
    .command('audit')
    .description(
      'What a reward pays doctors who list, pad, repeat, flatter, inject and guess; exit code 1 where that is too much.',
    )
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`',
    )
    .option('--search', 'also trains a doctor on the reward that never hears an answer')
    .addOption(
      new Option(
        '--budget <N>',
        'consultations it may try things out in (default: 20000); implies --search',
      ).argParser(whole(128, 100_000_000)),
    )
    .action((flags: AuditFlags) =>
      act(async () => (await import('../commands/audit.js')).auditReward(flags, terminal)),
    )
  withCases(audit, 'a case file, or how many held-out cases (default: 500)')
  withPrint(withSeed(audit))
  examples(
    audit,
    'rewards audit --reward default --tier standard',
    'rewards audit --reward ./my-reward.mjs --cases 100 --search',
    'rewards audit --reward history-coverage --lang zh --json',
  )
}
