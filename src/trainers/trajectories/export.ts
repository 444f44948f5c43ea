/** Exports saved episodes or trajectories to files that other trainers load, all of them or the best. */
import { Fault } from '../../error.js'
import { readSavedEpisodes, type SavedEpisode } from '../../storage/episode-files.js'
import { openRowFile } from './export-file.js'
import { type ExportContext, type ExportFormat, rowFormats, slimeSample } from './export-rows.js'
import { readSchemaName, readTrajectories } from './reader.js'
import type { Trajectory } from './trajectory.js'

/** Which files to export, in which format, and which rollouts of them. */
export interface ExportOptions extends ExportContext {
  readonly format: ExportFormat
  /** `*.jsonl` and `*.parquet` files: saved episodes in all of them, or trajectories in all. */
  readonly files: readonly string[]
  /** The `*.jsonl` or `*.parquet` file to write. */
  readonly out: string
  /** Least reward of an exported rollout. @default all rollouts, also those without a reward */
  readonly minReward?: number
  /** Exports only the rollout with the highest reward of each group; of equals, the first. @default false */
  readonly bestOfGroup?: boolean
  readonly signal?: AbortSignal
}

/** Reasons why a row was not written; {@link ExportReport.leftOut} explains each. */
export const omissions = ['unscored', 'below', 'beaten', 'repeated', 'empty'] as const
/** One of {@link omissions}. */
export type Omission = (typeof omissions)[number]

/** Result of an export: counts of rows read, written and left out. */
export interface ExportReport {
  readonly format: ExportFormat
  readonly out: string
  readonly from: 'episodes' | 'trajectories'
  /** Episodes or segments read. */
  readonly read: number
  /** Rows written. */
  readonly written: number
  /**
   * Rows left out by reason. `unscored`: no reward where one is needed; `below`: less than `minReward`; `beaten`: a
   * sibling scored higher; `repeated`: the prompt is there already; `empty`: the policy said nothing.
   */
  readonly leftOut: Readonly<Record<Omission, number>>
}

/** One episode or segment that may be exported. */
interface ExportItem {
  /** Key of the rollout, unique over all files. */
  readonly rollout: string
  readonly group: string
  readonly total: number | null
  /** Of rows with the same key only the first is written. */
  readonly key?: string
  readonly row: (index: number) => object | undefined
}

const jsonKey = (...parts: readonly unknown[]): string => JSON.stringify(parts)

function episodeItem(
  saved: SavedEpisode,
  rollout: string,
  { format, ...context }: ExportOptions,
): ExportItem {
  const { episode, group = null, step = null, score } = saved
  const { caseId, seed, language, maxTurns, budget } = episode
  return {
    rollout,
    group: jsonKey(group, step, caseId, seed),
    total: score?.total ?? null,
    // All siblings of a group read the same prompt.
    ...(format === 'sft' ? {} : { key: jsonKey(caseId, seed, language, maxTurns, budget) }),
    row: (index) => rowFormats[format].row(saved, index, context),
  }
}

/** Numbers names from 0 in the order of their first appearance. */
function createNumbering(): (name: string) => number {
  const numbers = new Map<string, number>()
  return (name) => {
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    return number
  }
}

/** Converts trajectories to items, numbering their rollouts and groups. */
function trajectoryConverter() {
  const [rollouts, groups] = [createNumbering(), createNumbering()]
  return (one: Trajectory, file: number): ExportItem => {
    const { segment, step = null, caseId, seed, score } = one
    const rollout = jsonKey(file, segment.rolloutId)
    const group = jsonKey(segment.groupId, step, caseId, seed)
    const numbers = () => ({ rollout: rollouts(rollout), group: groups(group) })
    return {
      rollout,
      group,
      total: score?.total ?? null,
      row: (index) => slimeSample(one, { index, ...numbers() }),
    }
  }
}

async function* readItems(
  options: ExportOptions,
  from: ExportReport['from'],
): AsyncGenerator<ExportItem> {
  const trajectoryItem = trajectoryConverter()
  for (const [f, file] of options.files.entries()) {
    let n = 0
    if (from === 'trajectories')
      for await (const one of readTrajectories(file)) yield trajectoryItem(one, f)
    else
      for await (const saved of readSavedEpisodes(file))
        yield episodeItem(saved, jsonKey(f, n++), options)
  }
}

/** True for a trajectory schema of any version; the reader rejects versions it cannot read. */
const holdsTrajectories = async (file: string): Promise<boolean> =>
  file.endsWith('.parquet') &&
  ((await readSchemaName(file))?.startsWith('bedside-trajectories/') ?? false)

/** Detects what the files hold. @throws Fault `bad-input` for a mixture, or a kind the format cannot take */
async function detectSource({ files, format, out }: ExportOptions): Promise<ExportReport['from']> {
  const held = await Promise.all(files.map(holdsTrajectories))
  const at = held.indexOf(true)
  if (at < 0) return 'episodes'
  const other = held.indexOf(false)
  if (other >= 0)
    throw new Fault(
      'bad-input',
      `Expected files of one kind, got saved episodes in ${files[other]} and trajectories in ${files[at]}`,
    )
  if (format !== 'slime')
    throw new Fault(
      'bad-input',
      `${files[at]}: expected saved episodes for the format ${format}, got trajectories, which have token ids and no text`,
    )
  if (!out.endsWith('.jsonl'))
    throw new Fault('bad-input', `Expected a *.jsonl file for samples of slime, got \`${out}\``)
  return 'trajectories'
}

/** Finds the rollout with the highest reward of each group. */
async function findBest(options: ExportOptions, from: ExportReport['from']) {
  const best = new Map<string, { readonly rollout: string; readonly total: number }>()
  for await (const { rollout, group, total } of readItems(options, from)) {
    options.signal?.throwIfAborted()
    if (total !== null && total > (best.get(group)?.total ?? Number.NEGATIVE_INFINITY))
      best.set(group, { rollout, total })
  }
  return best
}

/** Makes the filter that gives the reason for leaving an item out, or undefined to export it. */
async function createFilter(options: ExportOptions, from: ExportReport['from']) {
  const { minReward, bestOfGroup = false } = options
  const needed = minReward !== undefined || bestOfGroup || from === 'trajectories'
  const best = bestOfGroup ? await findBest(options, from) : undefined
  const taken = new Set<string>()
  return ({ rollout, group, total, key }: ExportItem): Omission | undefined => {
    if (needed && total === null) return 'unscored'
    if (minReward !== undefined && total !== null && total < minReward) return 'below'
    if (best && best.get(group)?.rollout !== rollout) return 'beaten'
    if (key === undefined) return undefined
    if (taken.has(key)) return 'repeated'
    taken.add(key)
    return undefined
  }
}

/**
 * Writes a data set for another trainer from saved episodes, or slime samples from trajectories. Memory holds one
 * batch of rows and the keys of rollouts, groups or prompts; `bestOfGroup` reads the files twice.
 * @throws Fault `bad-input` for files of another kind, or a path that cannot be written
 */
export async function exportTraining(options: ExportOptions): Promise<ExportReport> {
  const { format, out, signal } = options
  const from = await detectSource(options)
  const file = openRowFile(out, rowFormats[format].shape(options))
  const counts = { unscored: 0, below: 0, beaten: 0, repeated: 0, empty: 0 }
  let read = 0
  let written = 0
  try {
    const reasonToOmit = await createFilter(options, from)
    for await (const item of readItems(options, from)) {
      signal?.throwIfAborted()
      read += 1
      const why = reasonToOmit(item)
      const row = why ? undefined : item.row(written)
      if (row) {
        await file.write(row)
        written += 1
      } else counts[why ?? 'empty'] += 1
    }
    await file.close()
  } catch (error) {
    await file.abort()
    throw error
  }
  return { format, out, from, read, written, leftOut: counts }
}
