/** `bedside sidecar serve`: serves a model over the Tinker wire protocol, in the foreground. */
import { join } from 'node:path'
import { Fault } from '../../../error.js'
import { withoutUndefined } from '../../../platform/without-undefined.js'
import type { EngineName } from '../../../trainers/sidecar/environment.js'
import {
  createToken,
  type SidecarProcess,
  startSidecar,
} from '../../../trainers/sidecar/process.js'
import type { ReadyLine } from '../../../trainers/sidecar/supervision.js'
import { reportStop } from '../../print/failure.js'
import { type Output, output, type PrintFlags, type Terminal, table } from '../../print/output.js'
import { resolveToken, type TokenForm, type TokenPlace } from '../token-file.js'
import { findInterpreter } from './make-tiny-model.js'

interface SidecarFlags extends PrintFlags {
  readonly model: string
  readonly engine?: EngineName
  readonly port?: number
  readonly host?: string
  readonly allowRemote?: boolean
  readonly state?: string
  readonly tokenFile?: string
  readonly name?: string
  readonly dtype?: string
  readonly device?: string
  readonly threads?: number
  readonly contextLength?: number
  readonly sampler?: string
  readonly samplerUrl?: string
  readonly samplerFolder?: string
  readonly maxModels?: number
  readonly maxSnapshots?: number
  readonly missingSeconds?: number
  readonly env?: string
  readonly python?: string
}

const tokenForm: TokenForm = {
  variable: 'BEDSIDE_SIDECAR_TOKEN',
  pattern: /^tml-[\x21-\x7e]{12,}$/,
  says: 'begins with `tml-` and has 16 characters or more, without blanks',
  create: createToken,
}

function serverFlags(flags: SidecarFlags): string[] {
  const given = {
    host: flags.host,
    name: flags.name,
    'context-length': flags.contextLength,
    sampler: flags.sampler,
    'sampler-url': flags.samplerUrl,
    'sampler-folder': flags.samplerFolder,
    'max-models': flags.maxModels,
    'max-snapshots': flags.maxSnapshots,
    'missing-seconds': flags.missingSeconds,
  }
  return [
    ...(flags.allowRemote ? ['--allow-remote'] : []),
    ...Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, String(value)],
    ),
  ]
}

function serverText(
  { address, ...can }: ReadyLine,
  { place, state }: { readonly place: TokenPlace; readonly state: string },
): string {
  const { model } = can
  const versions = Object.entries(can.versions).map((pair) => pair.join(' '))
  return table(
    [
      ['address', address],
      ['token', 'file' in place ? `${place.file}, as header X-API-Key` : `$${place.variable}`],
      ['engine', `${can.engine} on ${can.device}, ${can.dtype}`],
      [
        'model',
        `${model.name}: ${model.arch}, ${model.parameters.toLocaleString('en')} parameters, ${model.contextLength} tokens of context`,
      ],
      ['versions', versions.join(', ')],
      ['modes', can.modes.join(', ')],
      ['heads', can.heads.join(', ')],
      ['exports', can.exports.join(', ')],
      ['losses', can.losses.join(', ')],
      ['state', state],
      ...(can.notes ?? []).map((note) => ['note', note] as const),
    ],
    { words: 2 },
  )
}

/** Prints the server's address and waits for its end. @throws Fault `model-unavailable` when it was not stopped */
async function waitForServer(
  server: SidecarProcess,
  at: { readonly place: TokenPlace; readonly state: string },
  { out, json = false, terminal }: { out: Output; json?: boolean; terminal: Terminal },
): Promise<number> {
  const { ready } = server
  if (json) await out.document({ ...ready, token: at.place })
  else await out.say(serverText(ready, at))
  await out.note('Ctrl-C stops it.')
  const exit = await server.exited
  if (terminal.signal.aborted) return reportStop(terminal, `Its checkpoints are in ${at.state}.`)
  throw new Fault('model-unavailable', `the sidecar is gone: ${exit.why}`)
}

/** Serves a model until Ctrl-C, then returns exit code 130. */
export async function serveModel(flags: SidecarFlags, terminal: Terminal): Promise<number> {
  const { model, engine = 'peft', state = 'runs/sidecar', dtype, device, threads, port } = flags
  const { env, signal } = terminal
  const out = output(terminal, flags)
  const python =
    flags.python ??
    (await findInterpreter(engine, { env, ...withoutUndefined({ folder: flags.env }) }))
  const { token, place } = await resolveToken(
    flags.tokenFile ?? join(state, 'token'),
    env,
    tokenForm,
  )
  await out.note(`Starting the ${engine} engine with ${model}`)
  try {
    await using server = await startSidecar({
      ...{ model, engine, state, python, token, dtype, device, threads, env, signal },
      ...withoutUndefined({ port }),
      flags: serverFlags(flags),
      // A line with this prefix gives the reason why the server ends; it comes back as the error.
      onLine: (line) => void (line.startsWith('bedside sidecar: ') || out.note(line)),
    })
    return await waitForServer(server, { place, state }, { ...flags, out, terminal })
  } catch (error) {
    if (!signal.aborted) throw error
    return reportStop(terminal, `Its checkpoints are in ${state}.`)
  }
}
