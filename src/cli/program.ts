/** The program: every command with its flags. A command's own module is loaded when it runs. */
import { Command, CommanderError } from 'commander'
import { failed } from './commands/failure.js'
import { version } from './commands/version.js'
import { addCases, addRewards } from './flags/declare-data.js'
import { addConsult, addEvaluate, addTrain } from './flags/declare-doctors.js'
import { addKnowledge, addPatient } from './flags/declare-knowledge.js'
import { addSidecar } from './flags/declare-sidecar.js'
import { addCurves, addTemplate, addTrajectories } from './flags/declare-training.js'
import type { Act } from './flags/declared.js'
import { examples } from './flags/declared.js'
import { withPrint } from './flags/flags.js'
import type { PrintFlags, Terminal } from './print/output.js'

/** The same terminal; `plain` takes its colours away from then on. */
function colourable(terminal: Terminal) {
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

function programFor(act: Act, terminal: Terminal, plain: () => void): Command {
  const { stdout, stderr } = terminal
  const program = new Command('bedside')
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
  addConsult(program, act, terminal)
  addEvaluate(program, act, terminal)
  addTrain(program, act, terminal)
  addCases(program, act, terminal)
  addKnowledge(program, act, terminal)
  addPatient(program, act, terminal)
  addRewards(program, act, terminal)
  addCurves(program, act, terminal)
  addTrajectories(program, act, terminal)
  addTemplate(program, act, terminal)
  addSidecar(program, act, terminal)
  withPrint(
    program
      .command('info')
      .description('Versions, Python environments, accelerators, and which backends can run here.')
      .action((flags: PrintFlags) =>
        act(async () => (await import('./commands/info.js')).info(flags, terminal)),
      ),
  )
  return examples(program, 'consult', 'train', 'evaluate --agent oracle')
}

/** Runs one command line, without the program's name, and gives its exit code; nothing is thrown. */
export async function run(argv: readonly string[], given: Terminal): Promise<number> {
  const { terminal, plain } = colourable(given)
  let code = 0
  const act: Act = async (work) => {
    code = await work()
  }
  try {
    await programFor(act, terminal, plain).parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return failed(error, terminal)
  }
}
