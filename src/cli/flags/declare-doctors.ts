/** Declares the commands that play and train doctors, and those about their runs. */
import type { Command } from 'commander'
import { exportFormats } from '../../trainers/trajectories/export-rows.js'
import type { Declare } from './declare.js'
import {
  addCaseFlags,
  addDoctorFlags,
  addSeedFlags,
  addSplitFlag,
  choose,
  collect,
  parseBackend,
  parseFinite,
  parseTemperature,
  parseWhole,
  trustHelp,
} from './flags.js'

/** Help text of `--agent`. Written out because the agents take long to load; a test compares the names. */
const doctors =
  'random, checklist, prior, complaint-only, random-ask, positive-chaser, ask-all, order-all, oracle, eig-per-cost, voi, dp, full-information, recorded, chat, a module (.mjs) that exports `agent`, or the folder of a run or checkpoint'

/** Adds `consult`. */
export function addConsult(program: Command, declare: Declare): void {
  const command = declare(program, 'consult', {
    says: 'One consultation: you type, or an agent plays.',
    load: async () => (await import('../commands/consult.js')).consult,
    examples: [
      'consult --lang zh',
      'consult --agent oracle --case standard-heldout-0-7',
      'consult --agent recorded --cases cases.jsonl --json',
      'consult --agent oracle --patient ./mine.mjs',
      'consult --agent chat --model qwen3-8b --base-url http://localhost:8000/v1',
    ],
  })
    .option('--agent <agent>', `${doctors} (default: human, that is you)`)
    .option('--case <ID>', 'the case: tier-split-seed-number, or an id of the --cases file')
    .option('--save <FILE>', 'keep the episode in a .jsonl or .parquet file')
  addSplitFlag(addDoctorFlags(command), 'heldout')
  addSeedFlags(addCaseFlags(command, 'a case file, or how many generated cases to choose from'))
}

/** Adds flags on how often each case is played, and how a trained doctor draws. */
const addDrawFlags = (command: Command): Command =>
  command
    .option(
      '--repeats <K>',
      'consultations of each case, with the same patient and other draws of the agent: pass@1 to pass@K (default: 1)',
      parseWhole(1, 1000),
    )
    .option(
      '--temperature <T>',
      'of what a trained doctor draws (default: 0); a chat model has --set models.doctor.temperature=T',
      parseTemperature,
    )

/** Adds `evaluate`. */
export function addEvaluate(program: Command, declare: Declare): void {
  const command = declare(program, 'evaluate', {
    says: 'An agent over many cases, between the random doctor and the strongest oracle.',
    load: async () => (await import('../commands/evaluate.js')).evaluate,
    examples: [
      'evaluate --agent oracle --tier hard --cases 200',
      'evaluate --agent oracle --cases my-cases.jsonl --split all',
      'evaluate --agent oracle --questions-only --max-turns 11 --tier standard',
      'evaluate --agent runs/demo-20260101-120000 --repeats 8 --temperature 1',
      'evaluate --agent chat --model qwen3-8b --base-url http://localhost:8000/v1 --cases 50 --out runs/qwen',
      'evaluate --resume runs/qwen',
    ],
  })
    .option('--agent <agent>', doctors)
    .option(
      '--max-turns <N>',
      'actions a doctor has, the diagnosis among them',
      parseWhole(1, 1000),
    )
    .option('--questions-only', 'the agent orders no examination; floor and ceiling may')
    .option(
      '--concurrency <N>',
      'consultations under way at once (default: 8)',
      parseWhole(1, 1024),
    )
    .option('--out <DIR>', 'keep every episode here as it ends (default with a chat model: runs/…)')
    .option('--resume <DIR>', 'go on with an evaluation that stopped')
  addSplitFlag(addDoctorFlags(addDrawFlags(command)), 'heldout', ['train', 'heldout', 'all'])
  addSeedFlags(addCaseFlags(command, 'a case file, or how many generated cases (default: 400)'))
}

/** Adds `train`. */
export function addTrain(program: Command, declare: Declare): void {
  const command = declare(program, 'train', {
    says: 'Trains a doctor by a recipe; flags are laid over it. The default recipe needs no file.',
    load: async () => (await import('../commands/train.js')).train,
    examples: [
      'train',
      'train examples/demo/recipe.yaml --seed 1',
      'train --cases cases.jsonl --steps 300 --set training.adam.learningRate=0.02',
      'train --resume runs/demo-20260101-120000',
      'train examples/takes-two/doctor.yaml --backend slime --stand-in',
    ],
  })
    .argument('[recipe]', 'a YAML file')
    .option(
      '--backend <NAME|MODULE>',
      'what holds the weights: embedded, sidecar, slime, verl, or a module (.mjs) that exports `backend` (default: embedded)',
      parseBackend,
    )
    .option('--steps <N>', 'gradient steps', parseWhole(1))
    .option('--set <path=value>', 'lay a value over the recipe; may be repeated', collect)
    .option('--out <DIR>', 'the run directory (default: runs/<recipe>-<time>)')
    .option('--resume <DIR>', 'go on with a run that stopped, to the same weights')
    .option('--accept-changes', 'go on although case, demonstration or module files have changed')
    .option('--trust', trustHelp)
    .option(
      '--stand-in',
      'in place of slime or verl, a stand-in on this CPU: their plugin and losses, without their engines',
    )
    .option(
      '--print-command',
      "print the command, the whole recipe, and of slime and verl the trainer's own; start nothing",
    )
  const meaning = 'a case file, or how many held-out cases to generate for the report'
  addSeedFlags(addCaseFlags(command, meaning))
}

/** Adds `curves`. */
export function addCurves(program: Command, declare: Declare): void {
  declare(program, 'curves', {
    says: 'Draws training runs over each other: reward, and held-out accuracy.',
    load: async () => (await import('../commands/curves.js')).drawRuns,
    examples: ['curves runs/grpo runs/rloo --out pictures'],
  })
    .argument('<RUN...>', 'directories of finished runs; each is named by its folder')
    .requiredOption('--out <DIR>', 'the folder for curves.png and curves.svg')
    .option('--title <TEXT>', "above the picture (default: the runs' names)")
}

/** Adds `trajectories` and its subcommands. */
export function addTrajectories(program: Command, declare: Declare): void {
  const trajectories = program
    .command('trajectories')
    .description('Exports saved episodes as data sets of other trainers; counts saved tokens.')
  declare(trajectories, 'export', {
    says: 'Writes a data set: sft and prompts for TRL and Hugging Face, verl for RLHFDataset, slime for its loader.',
    load: async () => (await import('../commands/trajectories.js')).exportTrajectories,
    examples: [
      'trajectories export runs/demo --format sft --best-of-group --out sft.parquet',
      'trajectories export runs/demo/trajectories/step-000050.parquet --format slime --out samples.jsonl',
    ],
  })
    .argument('<FILE...>', 'saved episodes or trajectories, or a run directory')
    .addOption(choose('--format <format>', 'of the data set', exportFormats).makeOptionMandatory())
    .requiredOption('--out <FILE>', 'a .parquet or .jsonl file')
    .option('--min-reward <X>', 'leave out rollouts with a lower reward', parseFinite)
    .option('--best-of-group', 'keep only the best rollout of each group')
    .option(
      '--agent-name <NAME>',
      "name of the agent loop that plays verl's rows (default: bedside, this package's; single_turn_agent is verl's own)",
    )
  declare(trajectories, 'info', {
    says: 'Counts the segments and tokens of a file, by the policy version that drew them.',
    load: async () => (await import('../commands/trajectories.js')).showTrajectoryInfo,
    examples: ['trajectories info runs/demo/trajectories/step-000050.parquet'],
  }).argument('<FILE>', 'a .parquet file of trajectories')
}
