/** Builds the `bedside` command line: every command with its flags. A command's module is loaded when it runs. */
import { Command, CommanderError } from 'commander'
import { version } from './commands/version.js'
import { addExamples, type CommandRunner } from './flags/declare.js'
import { addCases, addRewards } from './flags/declare-data.js'
import { addConsult, addEvaluate, addTrain } from './flags/declare-doctors.js'
import { addKnowledge, addPatient } from './flags/declare-knowledge.js'
import { addSidecar } from './flags/declare-sidecar.js'
import { addCurves, addTemplate, addTrajectories } from './flags/declare-training.js'
import { addPrintFlags } from './flags/flags.js'
import { reportFailure } from './print/failure.js'
import type { PrintFlags, Terminal } from './print/output.js'

/** Copies a terminal so that calling `plain` turns its colours off. */
function withSwitchableColours(terminal: Terminal) {
  let { env } = terminal
  return {
    terminal: {
      ...terminal,
      get env() {
        return env
      },
    },
    plain() {
      env = { ...env, NO_COLOR: '1' }
    },
  }
}

/** Program without commands: global options, and output to the terminal's streams. */
function createProgram({ stdout, stderr }: Terminal, plain: () => void): Command {
  return new Command('bedside')
    .description(
      'A gym for medical consultations: cases, patients, rewards, and a doctor that learns.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('(--help shows every flag)')
    .option('--no-color', 'no colours, on a terminal either')
    .option('-V, --version', 'print the version')
    .on('option:no-color', plain)
    .on('option:version', () => {
      stdout.write(`${version()}\n`)
      throw new CommanderError(0, 'commander.version', 'version')
    })
}

/** Commands in the order of the help text. */
const commands = [
  ...[addConsult, addEvaluate, addTrain, addCases, addKnowledge, addPatient, addRewards],
  ...[addCurves, addTrajectories, addTemplate, addSidecar],
]

function addCommands(program: Command, act: CommandRunner, terminal: Terminal): Command {
  for (const add of commands) add(program, act, terminal)
  addPrintFlags(
    program
      .command('info')
      .description('Versions, Python environments, accelerators, and which backends can run here.')
      .action((flags: PrintFlags) =>
        act(async () => (await import('./commands/info.js')).showInfo(flags, terminal)),
      ),
  )
  return addExamples(program, 'consult', 'train', 'evaluate --agent oracle')
}

/** Runs one command line, without the program's name, and returns its exit code; never throws. */
export async function runCommandLine(argv: readonly string[], given: Terminal): Promise<number> {
  const { terminal, plain } = withSwitchableColours(given)
  let code = 0
  const act: CommandRunner = async (work) => {
    code = await work()
  }
  try {
    const program = addCommands(createProgram(terminal, plain), act, terminal)
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return reportFailure(error, terminal)
  }
}
