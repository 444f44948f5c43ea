/** Row format of a saved episode: flat columns to look at, and JSON to read back. */
import { type Draw, type EpisodeTurn, encodeDraw, type Sample } from '../episode.js'
import { Fault } from '../error.js'
import type { Action } from '../turn.js'
import type { SavedEpisode } from './episode-schema.js'

/** Schema name in every file of saved episodes that is written; it changes with the format. */
export const schemaName = 'bedside-episodes/2'

/** The first version: the doctor's tokens alone, each turn with its whole prompt as `sample`. */
const firstSchema = 'bedside-episodes/1'

const schemaVersion = (schema: string): number => {
  const [format, version] = schema.split('/')
  return format === 'bedside-episodes' ? Number(version) : Number.NaN
}

/** Advice for a file of a schema other than this version's. */
function remedy(found: unknown): string {
  const name = typeof found === 'string' ? found : ''
  const [theirs, ours] = [schemaVersion(name), schemaVersion(schemaName)]
  if (theirs < ours)
    return 'an older version of this package wrote it; read it with that one, or play its cases again with `bedside evaluate --out`'
  if (theirs > ours) return 'a newer version of this package wrote it; install that one'
  return 'it holds no saved episodes'
}

/** Returns a file's schema if it can be read. @throws Fault `bad-input` naming location, schemas, and what to do */
export function checkSchema(found: unknown, where: string): string {
  if (found === schemaName || found === firstSchema) return found
  throw new Fault(
    'bad-input',
    `${where}: expected schema ${schemaName}, got ${found ?? 'none'}: ${remedy(found)}`,
  )
}

/** What is read of an episode of the first version; the schema of the current one checks all of it later. */
interface FirstEpisode {
  readonly agent: string
  readonly turns: readonly (Omit<EpisodeTurn, 'draws'> & { readonly sample?: Sample })[]
}

/** Turns the samples of the first version into draws, in place. What is not of its shape is left to the schema. */
export function upgradeSaved(saved: object, schema: string): object {
  const { episode }: { readonly episode?: FirstEpisode } = saved
  if (schema !== firstSchema || !Array.isArray(episode?.turns)) return saved
  const draws: Draw[] = []
  const turns = episode.turns.map(({ sample, ...turn }) => {
    if (!Array.isArray(sample?.prompt) || !Array.isArray(sample.tokens)) return turn
    const draw = encodeDraw(draws, 'doctor', sample, String(episode.agent))
    draws.push(draw)
    return { ...turn, draws: [draw] }
  })
  return { ...saved, episode: { ...episode, turns } }
}

/** Columns of one saved episode. */
export interface EpisodeRow {
  readonly id: string
  readonly case_id: string
  readonly seed: number
  readonly agent: string
  readonly language: string
  readonly stop: string
  readonly end: string
  readonly turns: readonly {
    readonly action: string
    readonly text: string
    readonly outcome: string
    readonly reply: string
  }[]
  readonly total: number | null
  /** JSON of the score's parts; null where there is no score. */
  readonly parts: string | null
  /** JSON of the reward of each turn; null where the reward does not pay by turn. */
  readonly turn_scores: string | null
  readonly group: string | null
  readonly step: number | null
  /** JSON of the episode. */
  readonly episode: string
  /** JSON of the grader's view. */
  readonly truth: string
}

/** Serialises a value. @throws RangeError for a number JSON cannot hold, naming its key */
function toJson(value: unknown, what: string): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner))
      throw new RangeError(`${what}: expected \`${key}\` to be a finite number, got ${inner}`)
    return inner
  })
}

/** An infinite limit is null in JSON. */
const limit = (value: number): number | null => (value === Number.POSITIVE_INFINITY ? null : value)

/** The doctor's text, without its label. */
function actionText(action: Action): string {
  switch (action.kind) {
    case 'order':
      return action.exam
    case 'diagnose':
      return [action.diagnosis, action.recommendation].filter(Boolean).join('\n')
    case 'give-up':
      return ''
    default:
      return action.text
  }
}

/** Converts a saved episode to its row. @throws RangeError for a number that JSON cannot hold */
export function toEpisodeRow({ episode, truth, score, group, step }: SavedEpisode): EpisodeRow {
  const { id, caseId, seed, agent, language, stop, end, budget } = episode
  const what = `episode ${id}`
  const limits = { money: limit(budget.money), minutes: limit(budget.minutes) }
  return {
    ...{ id, case_id: caseId, seed, agent, language, stop, end },
    turns: episode.turns.map(({ action, outcome }) => ({
      action: action.kind,
      text: actionText(action),
      outcome: outcome.kind,
      reply: outcome.kind === 'closed' ? '' : outcome.text,
    })),
    total: score?.total ?? null,
    parts: score ? toJson(score.parts, what) : null,
    turn_scores: score?.turns ? toJson(score.turns, what) : null,
    group: group ?? null,
    step: step ?? null,
    episode: toJson({ ...episode, budget: limits }, what),
    truth: toJson(truth, what),
  }
}

/** Formats a row as a line of JSON, from the JSON of its columns. */
export function toLine(row: EpisodeRow): string {
  const { total, parts, turn_scores, group, step, episode, truth } = row
  const turns = turn_scores === null ? '' : `,"turns":${turn_scores}`
  const fields = [
    `"schema":"${schemaName}"`,
    ...(group === null ? [] : [`"group":${JSON.stringify(group)}`]),
    ...(step === null ? [] : [`"step":${step}`]),
    ...(parts === null ? [] : [`"score":{"total":${total},"parts":${parts}${turns}}`]),
    `"episode":${episode}`,
    `"truth":${truth}`,
  ]
  return `{${fields.join(',')}}\n`
}
