/** The program: every command with its flags. A command's own module is loaded when it runs. */
import { Command, CommanderError } from 'commander'
import { addCases, addRewards } from './declare-data.js'
import { addConsult, addEvaluate, addTrain } from './declare-doctors.js'
import { addKnowledge, addPatient } from './declare-knowledge.js'
import { addSidecar } from './declare-sidecar.js'
import { addCurves, addTemplate, addTrajectories } from './declare-training.js'
import type { Act } from './declared.js'
import { examples } from './declared.js'
import { failed } from './failure.js'
import { withPrint } from './flags.js'
import type { PrintFlags, Terminal } from './output.js'
import { version } from './version.js'

function programFor(act: Act, terminal: Terminal): Command {
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
    .option('-V, --version', 'print the version')
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
        act(async () => (await import('./info.js')).info(flags, terminal)),
      ),
  )
  return examples(program, 'consult', 'train', 'evaluate --agent oracle')
}

/** Runs one command line, without the program's name, and gives its exit code; nothing is thrown. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0
  const act: Act = async (work) => {
    code = await work()
  }
  try {
    await programFor(act, terminal).parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return failed(error, terminal)
  }
}
