/** Declares the commands about language models: `template` and `sidecar`. */
import type { Command } from 'commander'
import { engineNames } from '../../trainers/sidecar/environment.js'
import type { Declare } from './declare.js'
import { choose, collect, parseFinite, parseSeed, parseWhole } from './flags.js'

/** Adds `template` and its subcommand. */
export function addTemplate(program: Command, declare: Declare): void {
  const template = program.command('template').description("A model's chat template.")
  declare(template, 'check', {
    says: 'Checks that a chat template renders append-only: tokens read or drawn before must not change.',
    load: async () => (await import('../commands/template.js')).checkTemplateFolder,
    examples: ['template check ./Qwen3-8B', 'template check ./Qwen3-8B --json'],
  })
    .argument('<PATH>', 'a folder with tokenizer.json and a chat template')
    .option('--date <YYYY-MM-DD>', 'the date passed to the template')
}

const engineOption = () =>
  choose(
    '--engine <engine>',
    'peft runs on any machine, unsloth on an NVIDIA GPU (default: peft)',
    engineNames,
  )

const devices = ['auto', 'cpu', 'cuda']
const dtypes = ['auto', 'float32', 'float64', 'bfloat16']
const samplers = ['vllm', 'sglang']

const size = parseWhole(1, 1_000_000)

function addServe(sidecar: Command, declare: Declare): void {
  declare(sidecar, 'serve', {
    says: 'Serves a model over the Tinker wire until Ctrl-C: sampling, gradients, checkpoints. `train` starts one by itself.',
    load: async () => (await import('../commands/sidecar/serve.js')).serveModel,
    examples: [
      'sidecar serve --model ./Qwen3-0.6B',
      'sidecar serve --engine unsloth --model ./Qwen3-4B --port 8123 --state runs/served --json',
    ],
  })
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
    .addOption(choose('--dtype <dtype>', 'of the weights (default: auto, by the device)', dtypes))
    .addOption(choose('--device <device>', '(default: auto, a GPU where there is one)', devices))
    .option('--threads <N>', 'of the CPU', parseWhole(1, 1024))
    .option('--context-length <N>', "most tokens of a sequence (default: the model's)", size)
    .addOption(choose('--sampler <server>', 'a server that draws the tokens', samplers))
    .option('--sampler-url <URL>', 'its address')
    .option('--sampler-folder <DIR>', 'where it reads adapters (default: adapters in --state)')
    .option('--max-models <N>', 'training models at once (default: 8)', size)
    .option('--max-snapshots <N>', 'weights kept for sampling (default: 16)', size)
    .option(
      '--missing-seconds <X>',
      'how long requests wait for an earlier one that does not arrive (default: 60)',
      parseFinite,
    )
    .option('--env <DIR>', 'folder of the Python environment, if not the default one')
    .option('--python <PATH>', 'interpreter with all packages, in place of an environment')
}

const pieces = ['words', 'phrases']

function addTinyModel(sidecar: Command, declare: Declare): void {
  declare(sidecar, 'tiny-model', {
    says: "Makes a small untrained language model: a tokenizer learnt from a recipe's consultations, and random weights of a Qwen3.",
    load: async () => (await import('../commands/sidecar/tiny-model.js')).runTinyModelCommand,
    examples: ['sidecar tiny-model examples/sidecar/grpo.yaml --out models/tiny'],
  })
    .argument('[recipe]', 'whose cases and rules are used (default: the default recipe)')
    .requiredOption('--out <DIR>', 'the model folder, not there yet')
    .option('--set <path=value>', 'lays a value over the recipe', collect)
    .option('--seed <N>', "of the weights (default: the recipe's)", parseSeed)
    .option('--vocab <N>', 'tokens (default: 2048)', size)
    .option('--layers <N>', '(default: 4)', size)
    .option('--width <N>', 'of the hidden states (default: 256)', size)
    .option('--hidden <N>', 'width of the feed-forward layers (default: 3 widths)', size)
    .option('--heads <N>', '(default: 4)', size)
    .option('--kv-heads <N>', '(default: 2)', size)
    .option('--context <N>', 'tokens of a conversation at most (default: 1024)', size)
    .option('--init-range <X>', "the weights' standard deviation; 0.12 for LoRA", parseFinite)
    .option('--untied', 'output layer separate from the embeddings')
    .addOption(choose('--pieces <pieces>', 'units that tokens may span (default: words)', pieces))
    .option('--consultations <N>', 'to learn the tokenizer from (default: 400)', size)
    .option('--episodes <FILE>', 'saved episodes to learn the tokenizer from as well')
    .option('--env <DIR>', 'folder of the Python environment, if not the default one')
    .option('--python <PATH>', 'interpreter with all packages, in place of an environment')
}

function addExport(sidecar: Command, declare: Declare): void {
  declare(sidecar, 'export', {
    says: 'Writes what a run of the sidecar has trained as a plain model folder, for a job, a server or any other program.',
    load: async () => (await import('../commands/sidecar/export-model.js')).exportModelCommand,
    examples: ['sidecar export runs/takes-two-sft --out models/takes-two'],
  })
    .argument('<run>', 'a run directory, or one of its checkpoints')
    .requiredOption('--out <DIR>', 'the model folder, not there yet')
    .option('--adapter', 'the LoRA adapter alone, instead of the model with it merged in')
    .option('--env <DIR>', 'folder of the Python environment, if not the default one')
    .option('--python <PATH>', 'interpreter with all packages, in place of an environment')
}

/** Adds `sidecar` and its subcommands. */
export function addSidecar(program: Command, declare: Declare): void {
  const sidecar = program
    .command('sidecar')
    .description('The Python process that holds a language model: set up, and served.')
  declare(sidecar, 'setup', {
    says: 'Makes the Python environment of an engine, with uv where it is on PATH, else with venv and pip.',
    load: async () => (await import('../commands/sidecar/setup.js')).setUpEnvironment,
    examples: [
      'sidecar setup',
      'sidecar setup --engine unsloth --python /usr/bin/python3.12',
      'sidecar setup --env /data/bedside-python --json',
    ],
  })
    .addOption(engineOption())
    .option('--python <PATH>', 'the interpreter to make it with (default: the first that fits)')
    .option(
      '--env <DIR>',
      'the folder (default: .venvs/sidecar or .venvs/unsloth; $BEDSIDE_VENVS stands for .venvs)',
    )
  addServe(sidecar, declare)
  addTinyModel(sidecar, declare)
  addExport(sidecar, declare)
}
