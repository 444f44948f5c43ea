/** `bedside trajectories`: exports saved episodes to data sets of other trainers; counts saved trajectories. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { labelled } from '../../agents/grammars/labelled.js'
import { Fault } from '../../error.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { exportTraining, omissions } from '../../trainers/trajectories/export.js'
import { type ExportFormat, verlAgent } from '../../trainers/trajectories/export-rows.js'
import { trajectoryInfo } from '../../trainers/trajectories/reader.js'
import { numberText, output, type PrintFlags, type Terminal, table } from '../print/output.js'
import { isFolder, isSamePlace } from './run-folder.js'

/** Flags of `trajectories export`. */
export interface ExportFlags extends PrintFlags {
  readonly format: ExportFormat
  readonly out: string
  readonly minReward?: number
  readonly bestOfGroup?: boolean
  readonly agentName?: string
}

/** Training episodes of a run directory, never the held-out ones; any other path itself. */
function trainingEpisodes(path: string): readonly string[] {
  const folder = join(path, 'episodes')
  if (!isFolder(path) || !isFolder(folder)) return [path]
  const names = readdirSync(folder).filter((name) => !name.startsWith('held-out.'))
  if (names.length === 0)
    throw new Fault('bad-input', `${folder}: expected training episodes, found none`)
  return names.sort().map((name) => join(folder, name))
}

const omissionTexts = {
  unscored: 'without a reward',
  below: 'below the minimum reward',
  beaten: 'beaten by a sibling',
  repeated: 'duplicate prompts',
  empty: 'without a reply of the doctor',
} as const

/**
 * Writes the data set of another trainer from saved episodes or trajectories.
 * @throws Fault `bad-input` for input that cannot be read or exported, and for an output that is also an input
 */
export async function exportTrajectories(
  files: readonly string[],
  { format, out: path, minReward, bestOfGroup = false, agentName, ...print }: ExportFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, { ...print, out: path })
  if (files.some((file) => isSamePlace(file, path)))
    throw new Fault('bad-input', `--out ${path}: expected another file than those that are read`)
  const report = await exportTraining({
    format,
    files: files.flatMap(trainingEpisodes),
    out: path,
    bestOfGroup,
    grammar: labelled(),
    signal: terminal.signal,
    ...withoutUndefined({ minReward, agentName }),
  })
  const omitted = omissions.filter((omission) => report.leftOut[omission] > 0)
  const text = table([
    [`${report.from} read`, String(report.read)],
    ...omitted.map((one) => [`  ${omissionTexts[one]}`, String(report.leftOut[one])]),
    ['rows written', String(report.written)],
    ...(format === 'verl' ? [['played by the agent loop', agentName ?? verlAgent]] : []),
  ])
  return out.show(text, report)
}

/** Counts segments and tokens of a trajectory file, by the policy version that drew them. */
export async function showTrajectoryInfo(
  path: string,
  flags: PrintFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const info = await trajectoryInfo(path)
  const whole = table([
    ['schema', info.schema],
    ['rows', `${info.rows} in ${info.rowGroups} row groups`],
    ['rollouts', String(info.rollouts)],
    ['tokens', `${info.tokens}, ${info.drawn} of them drawn`],
    ['mean reward', numberText(info.meanReward)],
    ...(info.mixed > 0 ? [['segments of several versions', String(info.mixed)]] : []),
  ])
  const versions = table([
    ['policy version', 'segments', 'tokens', 'drawn'],
    ...info.byPolicyVersion.map(({ policyVersion, segments, tokens, drawn }) =>
      [policyVersion < 0 ? 'none' : policyVersion, segments, tokens, drawn].map(String),
    ),
  ])
  return out.show(`${whole}\n\n${versions}`, info)
}
