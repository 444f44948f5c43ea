/** `bedside serve`: consultations over HTTP and WebSocket, in the foreground. */
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { Fault } from '../../error.js'
import { suggestNames } from '../../platform/did-you-mean.js'
import { packageVersion } from '../../platform/package-root.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { recipeGrammar } from '../../runs/backends.js'
import { readRecipe } from '../../runs/directory.js'
import { openTrainingModels } from '../../runs/models/training-models.js'
import { openTask } from '../../runs/task-of-recipe.js'
import { dialectNames, type ServerDialect } from '../../server/dialect-names.js'
import { giveBackAtRest } from '../../server/give-back.js'
import { checkHost, type ServerOptions, startServer } from '../../server/server.js'
import { taskConsultations } from '../../server/task-consultations.js'
import { isWorker, type RunningWorkers, serveAsWorker, startWorkers } from '../../server/workers.js'
import { readCases } from '../../storage/case-files.js'
import { openChatTokenizer } from '../../trainers/tokens/chat-tokenizer.js'
import { reportStop } from '../print/failure.js'
import { output, type PrintFlags, type Terminal, table } from '../print/output.js'
import { resolveToken, type TokenForm, type TokenPlace } from './token-file.js'

/** Flags of `serve`. */
export interface ServeFlags extends PrintFlags {
  readonly port?: number
  readonly host?: string
  readonly dialect?: readonly string[]
  readonly cases?: string
  readonly tokenFile?: string
  /** False with `--no-token`. */
  readonly token?: boolean
  readonly maxSessions?: number
  readonly idleSeconds?: number
  readonly waitSeconds?: number
  readonly deadlineSeconds?: number
  readonly workers?: number
  readonly stopWithInput?: boolean
  readonly tokenizer?: string
  readonly recipe?: string
  readonly record?: string
}

const tokenForm: TokenForm = {
  variable: 'BEDSIDE_SERVE_TOKEN',
  pattern: /^[\w~.-]{16,200}$/,
  says: 'has 16 to 200 letters, digits or any of _ ~ . -',
  create: () => randomBytes(24).toString('base64url'),
}

/** Seconds that sessions have to end after the signal to stop. */
const drainSeconds = 10

function checkDialects(names: readonly string[] = dialectNames): readonly ServerDialect[] {
  for (const name of names)
    if (!dialectNames.some((known) => known === name)) {
      const [near] = suggestNames(name, dialectNames, 1)
      const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
      throw new Fault(
        'bad-input',
        `--dialect: expected some of ${dialectNames.join(', ')}, got \`${name}\`${hint}`,
      )
    }
  return names as readonly ServerDialect[] // as just checked
}

/** The cases of a file by their split. @throws Fault `bad-input` for an unreadable or empty file */
async function fileCases(file: string | undefined): Promise<ServerOptions['cases']> {
  if (file === undefined) return undefined
  const cases = await readCases(file)
  const heldout = cases.filter(({ provenance }) => provenance.split === 'heldout')
  return { train: cases.filter((one) => !heldout.includes(one)), heldout }
}

/** The consultations of a recipe's task, with the models that its roles need. */
async function recipeConsultations({ recipe: file, record, cases }: ServeFlags) {
  if (file === undefined) {
    if (record === undefined) return undefined
    throw new Fault('bad-input', '--record: expected a --recipe, whose consultations are recorded')
  }
  if (cases !== undefined)
    throw new Fault('bad-input', '--cases: expected none beside --recipe, which says its cases')
  const recipe = await readRecipe(file)
  const models = await openTrainingModels(recipe, dirname(record ?? file))
  const { task } = await openTask(recipe, models.parts)
  const { seed } = recipe
  return {
    models,
    played: taskConsultations(task, { grammar: recipeGrammar(recipe), seed, record }),
  }
}

const serverText = (
  { address }: RunningWorkers,
  dialects: readonly ServerDialect[],
  place: TokenPlace | undefined,
): string => {
  const token =
    place === undefined
      ? 'none'
      : `${'file' in place ? place.file : `$${place.variable}`}, as Authorization: Bearer, or ${address}/t/TOKEN`
  return table(
    [
      ['address', address],
      ['token', token],
      ['dialects', dialects.join(', ')],
      ['described', `${address}/openapi.json`],
    ],
    { words: 2 },
  )
}

/**
 * Resolves when the server is asked to end: by SIGTERM, which lets sessions end; at once by Ctrl-C, and where
 * `withInput` by the end of the standard input.
 */
const untilStopped = (signal: AbortSignal, withInput = false): Promise<'soon' | 'now'> =>
  new Promise((resolve) => {
    const now = () => resolve('now')
    if (signal.aborted) return now()
    signal.addEventListener('abort', now, { once: true })
    process.once('SIGTERM', () => resolve('soon'))
    if (withInput) process.stdin.once('end', now).once('error', now).resume()
  })

/** What the flags say of a server. */
const serverOptions = async (
  flags: ServeFlags,
  consultations: ServerOptions['consultations'],
): Promise<ServerOptions> => ({
  ...withoutUndefined({
    consultations,
    host: flags.host,
    port: flags.port,
    cases: await fileCases(flags.cases),
    tokenizer: flags.tokenizer === undefined ? undefined : await openChatTokenizer(flags.tokenizer),
    most: flags.maxSessions,
    idleSeconds: flags.idleSeconds,
    waitSeconds: flags.waitSeconds,
    deadlineSeconds: flags.deadlineSeconds,
  }),
})

/** Starts the server in this process, or in several. @throws Fault `bad-input` for a host without a token */
async function startServing(
  flags: ServeFlags,
  options: ServerOptions,
  onError: (error: unknown) => void,
): Promise<RunningWorkers> {
  const { workers = 1 } = flags
  try {
    if (workers === 1) return await startServer({ ...options, onError })
    checkHost(options)
    const { host, port } = options
    return await startWorkers({ count: workers, host, port }, (number) =>
      onError(`Process ${number} of the server died, and is started again; its sessions are gone`),
    )
  } catch (error) {
    if (error instanceof RangeError) throw new Fault('bad-input', `--host: ${error.message}`)
    throw error
  }
}

/** Runs `bedside serve` until Ctrl-C. @returns the exit code */
export async function serve(flags: ServeFlags, terminal: Terminal): Promise<number> {
  const { tokenFile = 'runs/serve/token' } = flags
  const out = output(terminal, flags)
  const onError = (error: unknown) =>
    void out.note(error instanceof Error ? String(error.stack) : String(error))
  const dialects = checkDialects(flags.dialect)
  const known =
    flags.token === false ? undefined : await resolveToken(tokenFile, terminal.env, tokenForm)
  // Of several processes, the first plays nothing.
  const plays = isWorker() || (flags.workers ?? 1) === 1
  const opened = plays ? await recipeConsultations(flags) : undefined
  await using _models = opened?.models
  using _memory = giveBackAtRest()
  const options = {
    ...(await serverOptions(flags, opened?.played)),
    ...{ dialects, ...withoutUndefined({ token: known?.token }) },
  }
  if (isWorker()) {
    await serveAsWorker((place, port) => startServer({ ...options, port, place, onError }))
    return 0
  }
  const server = await startServing(flags, options, onError)
  const { address } = server
  // Before anybody is told that it listens, and may ask it to end.
  const stopped = untilStopped(terminal.signal, flags.stopWithInput)
  if (flags.json)
    await out.document({
      address,
      token: known?.place ?? null,
      dialects,
      version: packageVersion(),
    })
  else await out.say(serverText(server, dialects, known?.place))
  await out.note('Ctrl-C stops it.')
  const when = await stopped
  const graceSeconds = when === 'soon' ? drainSeconds : 0
  if (graceSeconds > 0) await out.note(`Waiting up to ${graceSeconds} s for sessions to end`)
  await server.close({ graceSeconds })
  return terminal.signal.aborted ? reportStop(terminal, 'All sessions are closed.') : 0
}
