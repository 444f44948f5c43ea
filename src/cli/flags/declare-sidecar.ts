/** Declares the commands of the process that holds a language model: `sidecar`. */
import type { Command } from 'commander'
import { Option } from 'commander'
import { engineNames } from '../../trainers/sidecar/environment.js'
import type { ServeFlags } from '../commands/sidecar-serve.js'
import type { SetupFlags } from '../commands/sidecar-setup.js'
import type { TinyModelFlags } from '../commands/sidecar-tiny-model.js'
import type { Terminal } from '../print/output.js'
import type { Act } from './declared.js'
import { examples } from './declared.js'
import { finite, repeated, whole, withPrint } from './flags.js'

const engineOption = () =>
  new Option(
    '--engine <engine>',
    'peft runs on any machine, unsloth on an NVIDIA GPU (default: peft)',
  ).choices(engineNames)

function addSetup(sidecar: Command, act: Act, terminal: Terminal): void {
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
      act(async () => (await import('../commands/sidecar-setup.js')).setUp(flags, terminal)),
    )
  withPrint(command)
  examples(
    command,
    'sidecar setup',
    'sidecar setup --engine unsloth --python /usr/bin/python3.12',
    'sidecar setup --env /data/bedside-python --json',
  )
}

function addServe(sidecar: Command, act: Act, terminal: Terminal): void {
  const command = sidecar
    .command('serve')
    .description(
      'Serves a model over the Tinker wire until Ctrl-C: sampling, gradients, checkpoints. `train` starts one by itself.',
    )
    .requiredOption('--model <PATH>', 'a Hugging Face model folder')
    .addOption(engineOption())
    .addOption(
      new Option('--port <N>', 'where it listens (default: any free one)').argParser(
        whole(0, 65535),
      ),
    )
    .option('--host <ADDRESS>', 'of this machine (default: 127.0.0.1)')
    .option('--allow-remote', 'let --host be an address that other machines reach')
    .option('--state <DIR>', 'checkpoints and exports (default: runs/sidecar)')
    .option(
      '--token-file <FILE>',
      'what clients must send, made where it is missing (default: token in --state); $BEDSIDE_SIDECAR_TOKEN takes its place',
    )
    .option('--name <NAME>', 'what clients call the model (default: its folder)')
    .addOption(
      new Option('--dtype <dtype>', 'of the weights (default: auto, by the device)').choices([
        'auto',
        'float32',
        'float64',
        'bfloat16',
      ]),
    )
    .addOption(
      new Option('--device <device>', '(default: auto, a GPU where there is one)').choices([
        'auto',
        'cpu',
        'cuda',
      ]),
    )
    .addOption(new Option('--threads <N>', 'of the CPU').argParser(whole(1, 1024)))
    .option('--env <DIR>', 'the folder of the Python environment, where it is another')
    .option('--python <PATH>', 'an interpreter that has everything, instead of an environment')
    .action((flags: ServeFlags) =>
      act(async () => (await import('../commands/sidecar-serve.js')).serve(flags, terminal)),
    )
  withPrint(command)
  examples(
    command,
    'sidecar serve --model ./Qwen3-0.6B',
    'sidecar serve --engine unsloth --model ./Qwen3-4B --port 8123 --state runs/served --json',
  )
}

const sized = (flag: string, what: string, least = 1) =>
  new Option(flag, what).argParser(whole(least, 1_000_000))

function addTinyModel(sidecar: Command, act: Act, terminal: Terminal): void {
  const command = sidecar
    .command('tiny-model')
    .description(
      "Makes a small language model from nothing: a tokenizer learnt from a recipe's world, and random weights of a Qwen3.",
    )
    .argument('[recipe]', 'whose world the words are taken from (default: the default recipe)')
    .requiredOption('--out <DIR>', 'the model folder, not there yet')
    .addOption(new Option('--set <path=value>', 'lays a value over the recipe').argParser(repeated))
    .addOption(sized('--seed <N>', "of the weights (default: the recipe's)", 0))
    .addOption(sized('--vocab <N>', 'tokens (default: 2048)'))
    .addOption(sized('--layers <N>', '(default: 4)'))
    .addOption(sized('--width <N>', 'of the hidden states (default: 256)'))
    .addOption(sized('--hidden <N>', 'width of the feed-forward layers (default: 3 widths)'))
    .addOption(sized('--heads <N>', '(default: 4)'))
    .addOption(sized('--kv-heads <N>', '(default: 2)'))
    .addOption(sized('--context <N>', 'tokens of a conversation at most (default: 1024)'))
    .addOption(
      new Option('--init-range <X>', "the weights' standard deviation; 0.12 for LoRA").argParser(
        finite,
      ),
    )
    .option('--untied', 'an output layer of its own')
    .addOption(
      new Option('--pieces <pieces>', 'how far merges of letters reach (default: words)').choices([
        'words',
        'phrases',
      ]),
    )
    .addOption(sized('--consultations <N>', 'that words are taken from (default: 400)'))
    .option('--episodes <FILE>', 'saved episodes whose replies the tokenizer is to know too')
    .action((file: string | undefined, flags: TinyModelFlags) =>
      act(async () =>
        (await import('../commands/sidecar-tiny-model.js')).tinyModel(file, flags, terminal),
      ),
    )
  withPrint(command)
  examples(command, 'sidecar tiny-model examples/sidecar/grpo.yaml --out models/tiny')
}

/** `sidecar` and its subcommands. */
export function addSidecar(program: Command, act: Act, terminal: Terminal): void {
  const sidecar = program
    .command('sidecar')
    .description('The Python process that holds a language model: set up, and served.')
  addSetup(sidecar, act, terminal)
  addServe(sidecar, act, terminal)
  addTinyModel(sidecar, act, terminal)
}
