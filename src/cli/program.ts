/** Builds the `bedside` command line: every command with its flags. A command's module is loaded when it runs. */
import { Command, CommanderError } from 'commander'
import { packageVersion } from '../platform/package-root.js'
import { addExamples, type Declare } from './flags/declare.js'
import { addCases, addKnowledge, addPatient, addRewards } from './flags/declare-data.js'
import {
  addConsult,
  addCurves,
  addEvaluate,
  addTrain,
  addTrajectories,
} from './flags/declare-doctors.js'
import { addSidecar, addTemplate } from './flags/declare-models.js'
import { addServe } from './flags/declare-server.js'
import { addPrintFlags } from './flags/flags.js'
import { reportFailure } from './print/failure.js'
import type { Terminal } from './print/output.js'

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
      stdout.write(`${packageVersion()}\n`)
      throw new CommanderError(0, 'commander.version', 'version')
    })
}

/** Commands in the order of the help text. */
const commands = [
  ...[addConsult, addEvaluate, addTrain, addCases, addKnowledge, addPatient, addRewards],
  ...[addCurves, addTrajectories, addTemplate, addSidecar, addServe],
]

function addCommands(program: Command, declare: Declare): void {
  for (const add of commands) add(program, declare)
  declare(program, 'info', {
    says: 'Versions, Python environments, accelerators, and which backends can run here.',
    load: async () => (await import('./commands/info.js')).showInfo,
  })
  addExamples(program, ['consult', 'train', 'evaluate --agent oracle'])
  for (const one of program.commands)
    for (const command of one.commands.length > 0 ? one.commands : [one]) addPrintFlags(command)
}

/** Runs one command line, without the program's name, and returns its exit code; never throws. */
export async function runCommandLine(argv: readonly string[], given: Terminal): Promise<number> {
  const { terminal, plain } = withSwitchableColours(given)
  let code = 0
  const declare: Declare = (parent, name, { says, load, examples = [] }) => {
    const command = parent.command(name).description(says)
    if (examples.length > 0) addExamples(command, examples)
    // Commander passes the arguments and the flags, then the command itself.
    return command.action(async (...passed: unknown[]) => {
      const run = (await load()) as (...given: unknown[]) => Promise<number>
      code = await run(...passed.slice(0, -1), terminal)
    })
  }
  try {
    const program = createProgram(terminal, plain)
    addCommands(program, declare)
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return reportFailure(error, terminal)
  }
}
