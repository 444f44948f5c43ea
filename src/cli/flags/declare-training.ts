/** Declares the commands around training: `curves`, `trajectories`, `template`. */
import type { Command } from 'commander'
import { Option } from 'commander'
import { exportFormats } from '../../trainers/trajectories/export-rows.js'
import type { CurvesFlags } from '../commands/curves.js'
import type { TemplateFlags } from '../commands/template.js'
import type { ExportFlags } from '../commands/trajectories.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import type { Act } from './declared.js'
import { examples } from './declared.js'
import { finite, withPrint } from './flags.js'

/** `curves`. */
export function addCurves(program: Command, act: Act, terminal: Terminal): void {
  const command = program
    .command('curves')
    .description('Draws training runs over each other: reward, and held-out accuracy.')
    .argument('<RUN...>', 'directories of finished runs; each is named by its folder')
    .requiredOption('--out <DIR>', 'the folder for curves.png and curves.svg')
    .option('--title <TEXT>', "above the picture (default: the runs' names)")
    .action((folders: readonly string[], flags: CurvesFlags) =>
      act(async () => (await import('../commands/curves.js')).drawRuns(folders, flags, terminal)),
    )
  withPrint(command)
  examples(command, 'curves runs/grpo runs/rloo --out pictures')
}

/** `trajectories` and its subcommands. */
export function addTrajectories(program: Command, act: Act, terminal: Terminal): void {
  const trajectories = program
    .command('trajectories')
    .description('What a training run kept: counted, and as data sets of other trainers.')
  const to = trajectories
    .command('export')
    .description(
      'Writes a data set: sft and prompts for TRL and Hugging Face, verl for RLHFDataset, slime for its loader.',
    )
    .argument('<FILE...>', 'saved episodes or trajectories, or a run directory')
    .addOption(
      new Option('--format <format>', 'what it is for')
        .choices(exportFormats)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <FILE>', 'a .parquet or .jsonl file')
    .option('--min-reward <X>', 'leave out what earned less', finite)
    .option('--best-of-group', 'keep the best of each group alone')
    .option('--agent-name <NAME>', "verl's agent loop, as a column")
    .action((files: readonly string[], flags: ExportFlags) =>
      act(async () =>
        (await import('../commands/trajectories.js')).exportTrajectories(files, flags, terminal),
      ),
    )
  withPrint(to)
  examples(
    to,
    'trajectories export runs/demo --format sft --best-of-group --out sft.parquet',
    'trajectories export runs/demo/trajectories/step-000050.parquet --format slime --out samples.jsonl',
  )
  const info = trajectories
    .command('info')
    .description('Counts the segments and tokens of a file, by the policy version that drew them.')
    .argument('<FILE>', 'a .parquet file of trajectories')
    .action((file: string, flags: PrintFlags) =>
      act(async () =>
        (await import('../commands/trajectories.js')).trajectoriesInfo(file, flags, terminal),
      ),
    )
  withPrint(info)
  examples(info, 'trajectories info runs/demo/trajectories/step-000050.parquet')
}

/** `template` and its subcommand. */
export function addTemplate(program: Command, act: Act, terminal: Terminal): void {
  const check = program
    .command('template')
    .description("A model's chat template.")
    .command('check')
    .description(
      'Holds a tokenizer folder to append-only rendering: what was read and drawn must stay as it was.',
    )
    .argument('<PATH>', 'a folder with tokenizer.json and a chat template')
    .option('--date <YYYY-MM-DD>', 'the day a template is told it is')
    .action((folder: string, flags: TemplateFlags) =>
      act(async () =>
        (await import('../commands/template.js')).checkTemplateFolder(folder, flags, terminal),
      ),
    )
  withPrint(check)
  examples(check, 'template check ./Qwen3-8B', 'template check ./Qwen3-8B --json')
}
