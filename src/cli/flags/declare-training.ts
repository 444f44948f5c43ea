/** Declares the commands around training: `curves`, `trajectories` and `template`. */
import { type Command, Option } from 'commander'
import { exportFormats } from '../../trainers/trajectories/export-rows.js'
import type { CurvesFlags } from '../commands/curves.js'
import type { TemplateFlags } from '../commands/template.js'
import type { ExportFlags } from '../commands/trajectories.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import { addPrintFlags, parseFinite } from './flags.js'

/** Adds `curves`. */
export function addCurves(program: Command, act: CommandRunner, terminal: Terminal): void {
  const command = program
    .command('curves')
    .description('Draws training runs over each other: reward, and held-out accuracy.')
    .argument('<RUN...>', 'directories of finished runs; each is named by its folder')
    .requiredOption('--out <DIR>', 'the folder for curves.png and curves.svg')
    .option('--title <TEXT>', "above the picture (default: the runs' names)")
    .action((folders: readonly string[], flags: CurvesFlags) =>
      act(async () => (await import('../commands/curves.js')).drawRuns(folders, flags, terminal)),
    )
  addPrintFlags(command)
  addExamples(command, 'curves runs/grpo runs/rloo --out pictures')
}

function addExport(trajectories: Command, act: CommandRunner, terminal: Terminal): void {
  const command = trajectories
    .command('export')
    .description(
      'Writes a data set: sft and prompts for TRL and Hugging Face, verl for RLHFDataset, slime for its loader.',
    )
    .argument('<FILE...>', 'saved episodes or trajectories, or a run directory')
    .addOption(
      new Option('--format <format>', 'of the data set')
        .choices(exportFormats)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <FILE>', 'a .parquet or .jsonl file')
    .option('--min-reward <X>', 'leave out rollouts with a lower reward', parseFinite)
    .option('--best-of-group', 'keep only the best rollout of each group')
    .option('--agent-name <NAME>', "name of verl's agent loop, written as a column")
    .action((files: readonly string[], flags: ExportFlags) =>
      act(async () =>
        (await import('../commands/trajectories.js')).exportTrajectories(files, flags, terminal),
      ),
    )
  addPrintFlags(command)
  addExamples(
    command,
    'trajectories export runs/demo --format sft --best-of-group --out sft.parquet',
    'trajectories export runs/demo/trajectories/step-000050.parquet --format slime --out samples.jsonl',
  )
}

/** Adds `trajectories` and its subcommands. */
export function addTrajectories(program: Command, act: CommandRunner, terminal: Terminal): void {
  const trajectories = program
    .command('trajectories')
    .description('Exports saved episodes as data sets of other trainers; counts saved tokens.')
  addExport(trajectories, act, terminal)
  const info = trajectories
    .command('info')
    .description('Counts the segments and tokens of a file, by the policy version that drew them.')
    .argument('<FILE>', 'a .parquet file of trajectories')
    .action((file: string, flags: PrintFlags) =>
      act(async () =>
        (await import('../commands/trajectories.js')).showTrajectoryInfo(file, flags, terminal),
      ),
    )
  addPrintFlags(info)
  addExamples(info, 'trajectories info runs/demo/trajectories/step-000050.parquet')
}

/** Adds `template` and its subcommand. */
export function addTemplate(program: Command, act: CommandRunner, terminal: Terminal): void {
  const check = program
    .command('template')
    .description("A model's chat template.")
    .command('check')
    .description(
      'Checks that a chat template renders append-only: tokens read or drawn before must not change.',
    )
    .argument('<PATH>', 'a folder with tokenizer.json and a chat template')
    .option('--date <YYYY-MM-DD>', 'the date passed to the template')
    .action((folder: string, flags: TemplateFlags) =>
      act(async () =>
        (await import('../commands/template.js')).checkTemplateFolder(folder, flags, terminal),
      ),
    )
  addPrintFlags(check)
  addExamples(check, 'template check ./Qwen3-8B', 'template check ./Qwen3-8B --json')
}
