/** Declares `sidecar`: the commands of the Python process that holds a language model. */
import { type Command, Option } from 'commander'
import { engineNames } from '../../trainers/sidecar/environment.js'
import type { ServeFlags } from '../commands/sidecar-serve.js'
import type { SetupFlags } from '../commands/sidecar-setup.js'
import type { TinyModelFlags } from '../commands/sidecar-tiny-model.js'
import type { Terminal } from '../print/output.js'
import { addExamples, type CommandRunner } from './declare.js'
import { addPrintFlags, collect, parseFinite, parseWhole } from './flags.js'

const engineOption = () =>
  new Option(
    '--engine <engine>',
    'peft runs on any machine, unsloth on an NVIDIA GPU (default: peft)',
  ).choices(engineNames)

function addSetup(sidecar: Command, act: CommandRunner, terminal: Terminal): void {
  const command = sidecar
    .command('setup')
    .description(
      'Makes the Python environment of an engine, with uv where it is on PATH, else with venv and pip.',
    )
    .addOption(engineOption())
    .option('--python <PATH>', 'the interpreter to make it with (default: the first that fits)')
    .option(
      '--env <DIR>',
      'the folder (default: .venvs/sidecar or .venvs/unsloth; $BEDSIDE_VENVS stands for .venvs)',
    )
    .action((flags: SetupFlags) =>
      act(async () =>
        (await import('../commands/sidecar-setup.js')).setUpEnvironment(flags, terminal),
      ),
    )
  addPrintFlags(command)
  addExamples(
    command,
    'sidecar setup',
    'sidecar setup --engine unsloth --python /usr/bin/python3.12',
    'sidecar setup --env /data/bedside-python --json',
  )
}

const dtypes = ['auto', 'float32', 'float64', 'bfloat16']
const devices = ['auto', 'cpu', 'cuda']

/** Adds the flags of `serve` that say how and by which Python the weights are held. */
const addEngineFlags = (command: Command): Command =>
  command
    .addOption(
      new Option('--dtype <dtype>', 'of the weights (default: auto, by the device)').choices(
        dtypes,
      ),
    )
    .addOption(
      new Option('--device <device>', '(default: auto, a GPU where there is one)').choices(devices),
    )
    .option('--threads <N>', 'of the CPU', parseWhole(1, 1024))
    .option('--env <DIR>', 'folder of the Python environment, if not the default one')
    .option('--python <PATH>', 'interpreter with all packages, in place of an environment')

function addServe(sidecar: Command, act: CommandRunner, terminal: Terminal): void {
  const command = sidecar
    .command('serve')
    .description(
      'Serves a model over the Tinker wire until Ctrl-C: sampling, gradients, checkpoints. `train` starts one by itself.',
    )
    .requiredOption('--model <PATH>', 'a Hugging Face model folder')
    .addOption(engineOption())
    .option('--port <N>', 'where it listens (default: any free one)', parseWhole(0, 65535))
    .option('--host <ADDRESS>', 'address to listen on (default: 127.0.0.1)')
    .option('--allow-remote', 'allow a --host that other machines can reach')
    .option('--state <DIR>', 'folder of checkpoints and exports (default: runs/sidecar)')
    .option(
      '--token-file <FILE>',
      'holds the token of clients, created if missing (default: token in --state); $BEDSIDE_SIDECAR_TOKEN overrides it',
    )
    .option('--name <NAME>', 'name of the model for clients (default: its folder)')
    .action((flags: ServeFlags) =>
      act(async () => (await import('../commands/sidecar-serve.js')).serveModel(flags, terminal)),
    )
  addPrintFlags(addEngineFlags(command))
  addExamples(
    command,
    'sidecar serve --model ./Qwen3-0.6B',
    'sidecar serve --engine unsloth --model ./Qwen3-4B --port 8123 --state runs/served --json',
  )
}

const size = parseWhole(1, 1_000_000)

function addTinyModel(sidecar: Command, act: CommandRunner, terminal: Terminal): void {
  const command = sidecar
    .command('tiny-model')
    .description(
      "Makes a small untrained language model: a tokenizer learnt from a recipe's consultations, and random weights of a Qwen3.",
    )
    .argument('[recipe]', 'whose cases and rules are used (default: the default recipe)')
    .requiredOption('--out <DIR>', 'the model folder, not there yet')
    .option('--set <path=value>', 'lays a value over the recipe', collect)
    .option('--seed <N>', "of the weights (default: the recipe's)", parseWhole(0, 1_000_000))
    .option('--vocab <N>', 'tokens (default: 2048)', size)
    .option('--layers <N>', '(default: 4)', size)
    .option('--width <N>', 'of the hidden states (default: 256)', size)
    .option('--hidden <N>', 'width of the feed-forward layers (default: 3 widths)', size)
    .option('--heads <N>', '(default: 4)', size)
    .option('--kv-heads <N>', '(default: 2)', size)
    .option('--context <N>', 'tokens of a conversation at most (default: 1024)', size)
    .option('--init-range <X>', "the weights' standard deviation; 0.12 for LoRA", parseFinite)
    .option('--untied', 'output layer separate from the embeddings')
    .addOption(
      new Option('--pieces <pieces>', 'units that tokens may span (default: words)').choices([
        'words',
        'phrases',
      ]),
    )
    .option('--consultations <N>', 'to learn the tokenizer from (default: 400)', size)
    .option('--episodes <FILE>', 'saved episodes to learn the tokenizer from as well')
    .action((file: string | undefined, flags: TinyModelFlags) =>
      act(async () =>
        (await import('../commands/sidecar-tiny-model.js')).runTinyModelCommand(
          file,
          flags,
          terminal,
        ),
      ),
    )
  addPrintFlags(command)
  addExamples(command, 'sidecar tiny-model examples/sidecar/grpo.yaml --out models/tiny')
}

/** Adds `sidecar` and its subcommands. */
export function addSidecar(program: Command, act: CommandRunner, terminal: Terminal): void {
  const sidecar = program
    .command('sidecar')
    .description('The Python process that holds a language model: set up, and served.')
  addSetup(sidecar, act, terminal)
  addServe(sidecar, act, terminal)
  addTinyModel(sidecar, act, terminal)
}
