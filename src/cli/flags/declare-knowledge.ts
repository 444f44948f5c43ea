/** Declares the commands `patient` and `knowledge`. */
import type { Command } from 'commander'
import type { UnderstandFlags } from '../commands/patient.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import { addPrintFlags } from './flags.js'

/** Adds `patient` and its subcommand. */
export function addPatient(program: Command, act: CommandRunner, terminal: Terminal): void {
  const understand = program
    .command('patient')
    .description('The rule patient: how it understands what a doctor says.')
    .command('understand')
    .description(
      'Shows how each utterance is understood: arguments give a table, {"text": …} lines on stdin give JSON lines.',
    )
    .argument('[TEXT...]', 'what the doctor says, in Chinese or English')
    .option('--knowledge <DIR>', 'a knowledge base of your own (default: the one of the package)')
    .action((texts: readonly string[], flags: UnderstandFlags) =>
      act(async () =>
        (await import('../commands/patient.js')).understandAll(texts, flags, terminal),
      ),
    )
  addPrintFlags(understand)
  addExamples(
    understand,
    'patient understand "Does the pain spread anywhere?" "有没有恶心、想吐？"',
    'patient understand < questions.jsonl > understood.jsonl',
  )
}

/** Adds `knowledge` and its subcommand. */
export function addKnowledge(program: Command, act: CommandRunner, terminal: Terminal): void {
  const check = program
    .command('knowledge')
    .description('The disease knowledge base that cases, patients and oracles share.')
    .command('check')
    .description(
      'Checks ids, edges, probabilities, both languages and ambiguous phrases; counts the contents.',
    )
    .argument('[DIR]', 'a folder of *.json files (default: the knowledge base of the package)')
    .action((folder: string | undefined, flags: PrintFlags) =>
      act(async () =>
        (await import('../commands/knowledge.js')).checkKnowledge(folder, flags, terminal),
      ),
    )
  addPrintFlags(check)
  addExamples(check, 'knowledge check', 'knowledge check ./my-knowledge --json')
}
