/** Saved episodes and trajectories as files that other trainers load, all of them or the best. */

import { Fault } from '../../error.js'
import type { SavedEpisode } from '../../storage/episode-files.js'
import { readSaved } from '../../storage/episode-files.js'
import { rowFile } from './export-file.js'
import type { ExportContext, ExportFormat } from './export-rows.js'
import { formats } from './export-rows.js'
import { readTrajectories, schemaOfParquet } from './reader.js'
import { slimeSample } from './slime-sample.js'
import type { Trajectory } from './trajectory.js'

export interface ExportOptions extends ExportContext {
  readonly format: ExportFormat
  /** `*.jsonl` and `*.parquet` files: all of saved episodes, or all of trajectories. */
  readonly files: readonly string[]
  /** A `*.jsonl` or `*.parquet` file. */
  readonly out: string
  /** Only rollouts with at least this reward. @default all, without a reward too */
  readonly minReward?: number
  /** Of each group only the rollout with the highest reward, of equals the first. @default false */
  readonly bestOfGroup?: boolean
  readonly signal?: AbortSignal
}

/** Why a row was not written. */
export const omissions = ['unscored', 'below', 'beaten', 'repeated', 'empty'] as const
export type Omission = (typeof omissions)[number]

export interface ExportReport {
  readonly format: ExportFormat
  readonly out: string
  readonly from: 'episodes' | 'trajectories'
  readonly read: number
  readonly written: number
  /**
   * `unscored` without a reward where one is needed, `below` the least reward, `beaten` by a sibling, `repeated`
   * a prompt that is there already, `empty` nothing a policy said.
   */
  readonly leftOut: Readonly<Record<Omission, number>>
}

/** One episode or segment on its way. */
interface Item {
  /** The rollout, unique over all files. */
  readonly rollout: string
  readonly group: string
  readonly total: number | null
  /** Rows with the same key are one. */
  readonly key?: string
  readonly row: (index: number) => object | undefined
}

const keyOf = (...parts: readonly unknown[]): string => JSON.stringify(parts)

function episodeItem(
  saved: SavedEpisode,
  rollout: string,
  { format, ...context }: ExportOptions,
): Item {
  const { episode, group = null, step = null, score } = saved
  const { caseId, seed, language, maxTurns, budget } = episode
  return {
    rollout,
    group: keyOf(group, step, caseId, seed),
    total: score?.total ?? null,
    // Siblings of a group read one prompt.
    ...(format === 'sft' ? {} : { key: keyOf(caseId, seed, language, maxTurns, budget) }),
    row: (index) => formats[format].row(saved, index, context),
  }
}

/** Whole numbers for names, in the order in which they come. */
function numbering(): (name: string) => number {
  const numbers = new Map<string, number>()
  return (name) => {
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    return number
  }
}

function trajectoryItems() {
  const [rollouts, groups] = [numbering(), numbering()]
  return (one: Trajectory, file: number): Item => {
    const { segment, step = null, caseId, seed, score } = one
    const rollout = keyOf(file, segment.rolloutId)
    const group = keyOf(segment.groupId, step, caseId, seed)
    const numbers = () => ({ rollout: rollouts(rollout), group: groups(group) })
    return {
      rollout,
      group,
      total: score?.total ?? null,
      row: (index) => slimeSample(one, { index, ...numbers() }),
    }
  }
}

async function* itemsOf(options: ExportOptions, from: ExportReport['from']): AsyncGenerator<Item> {
  const itemOf = trajectoryItems()
  for (const [f, file] of options.files.entries()) {
    let n = 0
    if (from === 'trajectories')
      for await (const one of readTrajectories(file)) yield itemOf(one, f)
    else for await (const saved of readSaved(file)) yield episodeItem(saved, keyOf(f, n++), options)
  }
}

/** True for the schema of trajectories of any version: the reader says which it can read. */
const holdsTrajectories = async (file: string): Promise<boolean> =>
  file.endsWith('.parquet') &&
  ((await schemaOfParquet(file))?.startsWith('bedside-trajectories/') ?? false)

/** What the files hold. @throws Fault `bad-input` for both kinds at once, or one the format cannot take */
async function kindOf({ files, format, out }: ExportOptions): Promise<ExportReport['from']> {
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

/** The best rollout of each group. */
async function bestOf(options: ExportOptions, from: ExportReport['from']) {
  const best = new Map<string, { readonly rollout: string; readonly total: number }>()
  for await (const { rollout, group, total } of itemsOf(options, from)) {
    options.signal?.throwIfAborted()
    if (total !== null && total > (best.get(group)?.total ?? Number.NEGATIVE_INFINITY))
      best.set(group, { rollout, total })
  }
  return best
}

/** Says of each item why it is left out, if it is. */
async function chooser(options: ExportOptions, from: ExportReport['from']) {
  const { minReward, bestOfGroup = false } = options
  const needed = minReward !== undefined || bestOfGroup || from === 'trajectories'
  const best = bestOfGroup ? await bestOf(options, from) : undefined
  const taken = new Set<string>()
  return ({ rollout, group, total, key }: Item): Omission | undefined => {
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
 * Writes a data set for another trainer from saved episodes, or samples of slime from trajectories. One row is in
 * memory at a time, beside the names of rollouts, groups or prompts; `bestOfGroup` reads the files twice.
 * @throws Fault `bad-input` for files of another kind, or a place that cannot be written
 */
export async function exportTraining(options: ExportOptions): Promise<ExportReport> {
  const { format, out, signal } = options
  const from = await kindOf(options)
  const file = rowFile(out, formats[format].shape(options))
  const counts = { unscored: 0, below: 0, beaten: 0, repeated: 0, empty: 0 }
  let read = 0
  let written = 0
  try {
    const choose = await chooser(options, from)
    for await (const item of itemsOf(options, from)) {
      signal?.throwIfAborted()
      read += 1
      const why = choose(item)
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
