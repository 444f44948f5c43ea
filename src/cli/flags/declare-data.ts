/** Declares the commands about cases and saved episodes: `cases`, `rewards`. */
import type { Command } from 'commander'
import { Option } from 'commander'
import { advantageNames } from '../../group.js'
import type { GenerateFlags, ShowFlags } from '../commands/cases.js'
import type { ImportFlags } from '../commands/cases-import.js'
import type { ScoreFlags } from '../commands/rewards.js'
import type { SignalFlags } from '../commands/signal.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { addAudit } from './declare-audit.js'
import type { Act } from './declared.js'
import { examples } from './declared.js'
import type { WorldFlags } from './flags.js'
import { repeated, trust, whole, withCases, withPrint, withSeed, withSplit } from './flags.js'

function addMaking(cases: Command, act: Act, terminal: Terminal): void {
  const generate = cases
    .command('generate')
    .description('Generated cases as JSONL, on stdout or in a file.')
    .option('--out <FILE>', 'write here, whole or not at all')
    .action((flags: GenerateFlags) =>
      act(async () => (await import('../commands/cases.js')).generateCases(flags, terminal)),
    )
  withCases(withSplit(generate, 'train'), 'how many (default: 10)')
  withPrint(withSeed(generate))
  examples(generate, 'cases generate --tier hard --cases 100 --seed 3 --out hard.jsonl')
  const importing = cases
    .command('import')
    .description(
      "Somebody else's file as a case file, or as episodes to imitate (huatuo-sft), with a report of what was left out and why.",
    )
    .argument('<file>', 'the file to read')
    .requiredOption('--format <NAME>', 'mtmeddialog, huatuo-rl or huatuo-sft')
    .requiredOption('--out <FILE>', 'the file to write, whole or not at all')
    .action((file: string, flags: ImportFlags) =>
      act(async () =>
        (await import('../commands/cases-import.js')).importCases(file, flags, terminal),
      ),
    )
  withPrint(importing)
  examples(
    importing,
    'cases import --format mtmeddialog sft_val.parquet --out cases.jsonl',
    'cases import --format huatuo-sft sft.json --out demonstrations.jsonl',
  )
}

function addLooking(cases: Command, act: Act, terminal: Terminal): void {
  const check = cases
    .command('check')
    .description(
      'Schema and leaks of a case file, or of generated cases; exit code 1 when something is wrong.',
    )
    .action((flags: WorldFlags) =>
      act(async () => (await import('../commands/cases.js')).checkCases(flags, terminal)),
    )
  withCases(withSplit(check, 'train'), 'a case file, or how many generated cases (default: 200)')
  withPrint(withSeed(check))
  examples(check, 'cases check --cases cases.jsonl', 'cases check --cases 2000 --split heldout')
  const schema = cases
    .command('schema')
    .description('The JSON Schema of a case, for editors and other programs.')
    .action((flags: PrintFlags) =>
      act(async () => (await import('../commands/cases.js')).showSchema(flags, terminal)),
    )
  withPrint(schema)
  examples(schema, 'cases schema > case.schema.json')
  const show = cases
    .command('show')
    .description('One case, as one of its readers sees it.')
    .argument('[ID]', 'tier-split-seed-number, or an id of the --cases file (default: the first)')
    .addOption(
      new Option('--view <view>', 'whose view (default: doctor)').choices([
        'doctor',
        'patient',
        'examiner',
        'grader',
      ]),
    )
    .action((id: string | undefined, flags: ShowFlags) =>
      act(async () => (await import('../commands/cases.js')).showCase(id, flags, terminal)),
    )
  withCases(show, 'a case file')
  withPrint(withSeed(show))
  examples(show, 'cases show easy-heldout-0-7 --view grader --lang zh')
}

/** `rewards` and its subcommands. */
export function addRewards(program: Command, act: Act, terminal: Terminal): void {
  const rewards = program
    .command('rewards')
    .description('Lists rewards, scores saved episodes again, and says what a run learned from.')
  withPrint(
    rewards
      .command('list')
      .description('Every reward by name, with its bounds and where it comes from.')
      .action((flags: PrintFlags) =>
        act(async () => (await import('../commands/rewards.js')).listRewards(flags, terminal)),
      ),
  )
  const score = rewards
    .command('score')
    .description(
      'Scores saved episodes with other rewards, in one pass; nothing is played and no model is called.',
    )
    .argument('<path>', 'a .jsonl or .parquet file of episodes, or a run directory')
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`; may be repeated',
      repeated,
    )
    .option(
      '--out <FILE>',
      'write the episodes with the scores of the one reward, *.parquet or *.jsonl',
    )
    .addOption(
      new Option('--seed <N>', 'of the bootstrap (default: 0)').argParser(whole(0, 0xffffffff)),
    )
    .addOption(
      new Option(
        '--concurrency <N>',
        'episodes being scored at once, where a reward waits for a judge (default: 8)',
      ).argParser(whole(1, 1024)),
    )
    .action((path: string, flags: ScoreFlags) =>
      act(async () =>
        (await import('../commands/rewards.js')).scoreEpisodes(path, flags, terminal),
      ),
    )
  withPrint(score)
  examples(
    score,
    'rewards score runs/demo-20260101-120000 --reward diagnosis-accuracy',
    'rewards score episodes.parquet --reward default --reward ./my-reward.mjs --json',
    'rewards score episodes.parquet --reward safety-first --out scored.parquet',
  )
  const signal = rewards
    .command('signal')
    .description(
      'Which part of a reward the advantages of saved groups came from; warns where a small one was most of it.',
    )
    .argument('<path>', 'a run directory, or a .jsonl or .parquet file of its episodes')
    .addOption(
      new Option('--advantages <name>', "another estimator than the run's").choices(advantageNames),
    )
    .option('--reward <NAME|FILE>', "whose weights count (default: the run's)")
    .option('--trust', trust)
    .action((path: string, flags: SignalFlags) =>
      act(async () => (await import('../commands/signal.js')).signalOf(path, flags, terminal)),
    )
  withPrint(signal)
  examples(signal, 'rewards signal runs/demo', 'rewards signal runs/demo --advantages grpo')
  addAudit(rewards, act, terminal)
}

/** `cases` and its subcommands. */
export function addCases(program: Command, act: Act, terminal: Terminal): void {
  const cases = program
    .command('cases')
    .description('Generates, imports, checks and shows cases; prints their JSON Schema.')
  addMaking(cases, act, terminal)
  addLooking(cases, act, terminal)
}
