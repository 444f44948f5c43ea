/** Declares the commands about cases and saved episodes: `cases` and `rewards`. */
import { type Command, Option } from 'commander'
import { advantageNames } from '../../group.js'
import type { GenerateFlags, ShowFlags } from '../commands/cases.js'
import type { ImportFlags } from '../commands/cases-import.js'
import type { ScoreFlags } from '../commands/rewards.js'
import type { SignalFlags } from '../commands/signal.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import { addAudit } from './declare-audit.js'
import type { CaseFlags } from './flags.js'
import {
  addCaseFlags,
  addPrintFlags,
  addSeedFlags,
  addSplitFlag,
  collect,
  parseWhole,
  trustHelp,
} from './flags.js'

function addGenerate(cases: Command, act: CommandRunner, terminal: Terminal): void {
  const generate = cases
    .command('generate')
    .description('Generated cases as JSONL, on stdout or in a file.')
    .option('--out <FILE>', 'write here, whole or not at all')
    .action((flags: GenerateFlags) =>
      act(async () => (await import('../commands/cases.js')).generateCases(flags, terminal)),
    )
  addCaseFlags(addSplitFlag(generate, 'train'), 'how many (default: 10)')
  addPrintFlags(addSeedFlags(generate))
  addExamples(generate, 'cases generate --tier hard --cases 100 --seed 3 --out hard.jsonl')
}

function addImport(cases: Command, act: CommandRunner, terminal: Terminal): void {
  const command = cases
    .command('import')
    .description(
      'Imports a published data set as a case file, or as episodes to imitate (huatuo-sft), and reports what was left out and why.',
    )
    .argument('<file>', 'the file to read')
    .requiredOption('--format <NAME>', 'mtmeddialog, huatuo-rl or huatuo-sft')
    .requiredOption('--out <FILE>', 'the file to write, whole or not at all')
    .action((file: string, flags: ImportFlags) =>
      act(async () =>
        (await import('../commands/cases-import.js')).importCases(file, flags, terminal),
      ),
    )
  addPrintFlags(command)
  addExamples(
    command,
    'cases import --format mtmeddialog sft_val.parquet --out cases.jsonl',
    'cases import --format huatuo-sft sft.json --out demonstrations.jsonl',
  )
}

const viewNames = ['doctor', 'patient', 'examiner', 'grader']

function addCheckAndShow(cases: Command, act: CommandRunner, terminal: Terminal): void {
  const check = cases
    .command('check')
    .description(
      'Checks a case file, or generated cases, for schema errors and leaks; exit code 1 when it finds any.',
    )
    .action((flags: CaseFlags) =>
      act(async () => (await import('../commands/cases.js')).checkCases(flags, terminal)),
    )
  addCaseFlags(
    addSplitFlag(check, 'train'),
    'a case file, or how many generated cases (default: 200)',
  )
  addPrintFlags(addSeedFlags(check))
  addExamples(check, 'cases check --cases cases.jsonl', 'cases check --cases 2000 --split heldout')
  const schema = cases
    .command('schema')
    .description('The JSON Schema of a case, for editors and other programs.')
    .action((flags: PrintFlags) =>
      act(async () => (await import('../commands/cases.js')).showSchema(flags, terminal)),
    )
  addPrintFlags(schema)
  addExamples(schema, 'cases schema > case.schema.json')
  const show = cases
    .command('show')
    .description('Shows one case as the doctor, patient, examiner or grader sees it.')
    .argument('[ID]', 'tier-split-seed-number, or an id of the --cases file (default: the first)')
    .addOption(new Option('--view <view>', 'whose view (default: doctor)').choices(viewNames))
    .action((id: string | undefined, flags: ShowFlags) =>
      act(async () => (await import('../commands/cases.js')).showCase(id, flags, terminal)),
    )
  addCaseFlags(show, 'a case file')
  addPrintFlags(addSeedFlags(show))
  addExamples(show, 'cases show easy-heldout-0-7 --view grader --lang zh')
}

function addScore(rewards: Command, act: CommandRunner, terminal: Terminal): void {
  const command = rewards
    .command('score')
    .description(
      'Scores saved episodes with other rewards, in one pass; nothing is played and no model is called.',
    )
    .argument('<path>', 'a .jsonl or .parquet file of episodes, or a run directory')
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`; may be repeated',
      collect,
    )
    .option(
      '--out <FILE>',
      'write the episodes with the scores of a single --reward, *.parquet or *.jsonl',
    )
    .option('--seed <N>', 'of the bootstrap (default: 0)', parseWhole(0, 0xffffffff))
    .option(
      '--concurrency <N>',
      'episodes scored at once; helps a reward that waits for a judge (default: 8)',
      parseWhole(1, 1024),
    )
    .action((path: string, flags: ScoreFlags) =>
      act(async () =>
        (await import('../commands/rewards.js')).scoreEpisodes(path, flags, terminal),
      ),
    )
  addPrintFlags(command)
  addExamples(
    command,
    'rewards score runs/demo-20260101-120000 --reward diagnosis-accuracy',
    'rewards score episodes.parquet --reward default --reward ./my-reward.mjs --json',
    'rewards score episodes.parquet --reward safety-first --out scored.parquet',
  )
}

function addSignal(rewards: Command, act: CommandRunner, terminal: Terminal): void {
  const command = rewards
    .command('signal')
    .description(
      'Attributes the advantages of saved groups to the parts of the reward; warns when a small part dominates.',
    )
    .argument('<path>', 'a run directory, or a .jsonl or .parquet file of its episodes')
    .addOption(
      new Option('--advantages <name>', "the estimator (default: the run's)").choices(
        advantageNames,
      ),
    )
    .option('--reward <NAME|FILE>', "whose weights are used (default: the run's)")
    .option('--trust', trustHelp)
    .action((path: string, flags: SignalFlags) =>
      act(async () => (await import('../commands/signal.js')).showSignal(path, flags, terminal)),
    )
  addPrintFlags(command)
  addExamples(command, 'rewards signal runs/demo', 'rewards signal runs/demo --advantages grpo')
}

/** Adds `rewards` and its subcommands. */
export function addRewards(program: Command, act: CommandRunner, terminal: Terminal): void {
  const rewards = program
    .command('rewards')
    .description("Lists, scores and audits rewards; attributes a run's advantages to their parts.")
  addPrintFlags(
    rewards
      .command('list')
      .description('Every reward by name, with its bounds and where it comes from.')
      .action((flags: PrintFlags) =>
        act(async () => (await import('../commands/rewards.js')).listRewards(flags, terminal)),
      ),
  )
  addScore(rewards, act, terminal)
  addSignal(rewards, act, terminal)
  addAudit(rewards, act, terminal)
}

/** Adds `cases` and its subcommands. */
export function addCases(program: Command, act: CommandRunner, terminal: Terminal): void {
  const cases = program
    .command('cases')
    .description('Generates, imports, checks and shows cases; prints their JSON Schema.')
  addGenerate(cases, act, terminal)
  addImport(cases, act, terminal)
  addCheckAndShow(cases, act, terminal)
}
