/** Declares `rewards audit`. */
import type { Command } from 'commander'
import type { AuditFlags } from '../commands/audit.js'
import type { Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import { addCaseFlags, addPrintFlags, addSeedFlags, parseWhole } from './flags.js'

/** Adds `audit` to `rewards`. */
export function addAudit(rewards: Command, act: CommandRunner, terminal: Terminal): void {
  const audit = rewards
    .command('audit')
    .description(
      'Measures what a reward pays degenerate doctors, who list, pad, repeat, flatter, inject or guess; exit code 1 when one exploits it.',
    )
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`',
    )
    .option(
      '--search',
      'also trains an adversary on the reward: a doctor that never hears an answer',
    )
    .option(
      '--budget <N>',
      'consultations the search may play (default: 20000); implies --search',
      parseWhole(128, 100_000_000),
    )
    .action((flags: AuditFlags) =>
      act(async () => (await import('../commands/audit.js')).auditReward(flags, terminal)),
    )
  addCaseFlags(audit, 'a case file, or how many held-out cases (default: 500)')
  addPrintFlags(addSeedFlags(audit))
  addExamples(
    audit,
    'rewards audit --reward default --tier standard',
    'rewards audit --reward ./my-reward.mjs --cases 100 --search',
    'rewards audit --reward history-coverage --lang zh --json',
  )
}
