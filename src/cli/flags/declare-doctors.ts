/** Declares the commands `consult`, `evaluate` and `train`. */
import { type Command, Option } from 'commander'
import type { ConsultFlags } from '../commands/consult.js'
import type { EvaluateFlags } from '../commands/evaluate.js'
import type { TrainFlags } from '../commands/train.js'
import type { Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import {
  addCaseFlags,
  addDoctorFlags,
  addPrintFlags,
  addSeedFlags,
  addSplitFlag,
  collect,
  parseBackend,
  parseWhole,
  trustHelp,
} from './flags.js'

/** Help text of `--agent`. Written out because the agents take long to load; a test compares the names. */
const doctors =
  'random, checklist, prior, complaint-only, random-ask, positive-chaser, ask-all, order-all, oracle, eig-per-cost, voi, dp, full-information, recorded, chat, a module (.mjs) that exports `agent`, or the folder of a run or checkpoint'

/** Declares `bedside consult`. */
export function addConsult(program: Command, act: CommandRunner, terminal: Terminal): void {
  const command = program
    .command('consult')
    .description('One consultation: you type, or an agent plays.')
    .option('--agent <agent>', `${doctors} (default: human, that is you)`)
    .option('--case <ID>', 'the case: tier-split-seed-number, or an id of the --cases file')
    .option('--save <FILE>', 'keep the episode in a .jsonl or .parquet file')
    .action((flags: ConsultFlags) =>
      act(async () => (await import('../commands/consult.js')).consult(flags, terminal)),
    )
  addDoctorFlags(command)
  addCaseFlags(
    addSplitFlag(command, 'heldout'),
    'a case file, or how many generated cases to choose from',
  )
  addPrintFlags(addSeedFlags(command))
  addExamples(
    command,
    'consult --lang zh',
    'consult --agent oracle --case standard-heldout-0-7',
    'consult --agent recorded --cases cases.jsonl --json',
    'consult --agent oracle --patient ./mine.mjs',
    'consult --agent chat --model qwen3-8b --base-url http://localhost:8000/v1',
  )
}

/** Declares `bedside evaluate`. */
export function addEvaluate(program: Command, act: CommandRunner, terminal: Terminal): void {
  const command = program
    .command('evaluate')
    .description('An agent over many cases, between the random doctor and the strongest oracle.')
    .option('--agent <agent>', doctors)
    .addOption(
      new Option('--max-turns <N>', 'actions a doctor has, the diagnosis among them').argParser(
        parseWhole(1, 1000),
      ),
    )
    .option('--questions-only', 'the agent orders no examination; floor and ceiling may')
    .addOption(
      new Option('--concurrency <N>', 'consultations under way at once (default: 8)').argParser(
        parseWhole(1, 1024),
      ),
    )
    .option('--out <DIR>', 'keep every episode here as it ends (default with a chat model: runs/…)')
    .option('--resume <DIR>', 'go on with an evaluation that stopped')
    .action((flags: EvaluateFlags) =>
      act(async () => (await import('../commands/evaluate.js')).evaluate(flags, terminal)),
    )
  addDoctorFlags(command)
  addCaseFlags(
    addSplitFlag(command, 'heldout', ['train', 'heldout', 'all']),
    'a case file, or how many generated cases (default: 400)',
  )
  addPrintFlags(addSeedFlags(command))
  addExamples(
    command,
    'evaluate --agent oracle --tier hard --cases 200',
    'evaluate --agent oracle --cases my-cases.jsonl --split all',
    'evaluate --agent oracle --questions-only --max-turns 11 --tier standard',
    'evaluate --agent runs/demo-20260101-120000 --json',
    'evaluate --agent chat --model qwen3-8b --base-url http://localhost:8000/v1 --cases 50 --out runs/qwen',
    'evaluate --resume runs/qwen',
  )
}

/** Declares `bedside train`. */
export function addTrain(program: Command, act: CommandRunner, terminal: Terminal): void {
  const command = program
    .command('train')
    .description(
      'Trains a doctor by a recipe; flags are laid over it. The default recipe needs no file.',
    )
    .argument('[recipe]', 'a YAML file')
    .addOption(
      new Option(
        '--backend <NAME|MODULE>',
        'what holds the weights: embedded, sidecar, or a module (.mjs) that exports `backend` (default: embedded)',
      ).argParser(parseBackend),
    )
    .addOption(new Option('--steps <N>', 'gradient steps').argParser(parseWhole(1)))
    .option('--set <path=value>', 'lay a value over the recipe; may be repeated', collect)
    .option('--out <DIR>', 'the run directory (default: runs/<recipe>-<time>)')
    .option('--resume <DIR>', 'go on with a run that stopped, to the same weights')
    .option('--trust', trustHelp)
    .option('--print-command', 'print the command and the whole recipe, and start nothing')
    .action((recipe: string | undefined, flags: TrainFlags) =>
      act(async () => (await import('../commands/train.js')).train(recipe, flags, terminal)),
    )
  addCaseFlags(command, 'a case file, or how many held-out cases to generate for the report')
  addPrintFlags(addSeedFlags(command))
  addExamples(
    command,
    'train',
    'train examples/demo/recipe.yaml --seed 1',
    'train --cases cases.jsonl --steps 300 --set training.adam.learningRate=0.02',
    'train --resume runs/demo-20260101-120000',
  )
}
