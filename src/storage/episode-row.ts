/** One saved episode as it is stored: flat columns to look at, and JSON to read back. */

import { Fault } from '../error.js'
import type { Action } from '../turn.js'
import type { SavedEpisode } from './episode-schema.js'

/** Written into every file of saved episodes; it changes when what they hold does. */
export const schemaName = 'bedside-episodes/1'

const versionOf = (schema: string): number => {
  const [format, version] = schema.split('/')
  return format === 'bedside-episodes' ? Number(version) : Number.NaN
}

/** What to do about a file of another schema than this version reads and writes. */
function remedy(found: unknown): string {
  const name = typeof found === 'string' ? found : ''
  const [theirs, ours] = [versionOf(name), versionOf(schemaName)]
  if (theirs < ours)
    return 'an older version of this package wrote it; read it with that one, or play its cases again with `bedside evaluate --out`'
  if (theirs > ours) return 'a newer version of this package wrote it; install that one'
  return 'it holds no saved episodes'
}

/** @throws Fault `bad-input` naming the place, the schema found and expected, and what to do */
export function checkSchema(found: unknown, where: string): void {
  if (found !== schemaName)
    throw new Fault(
      'bad-input',
      `${where}: expected schema ${schemaName}, got ${found ?? 'none'}: ${remedy(found)}`,
    )
}

/** One episode as it is stored. */
export interface Row {
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
  /** JSON of what each turn was paid; null where the reward does not pay by turn. */
  readonly turn_scores: string | null
  readonly group: string | null
  readonly step: number | null
  /** JSON. */
  readonly episode: string
  /** JSON. */
  readonly truth: string
}

/** @throws RangeError for a number JSON cannot hold, naming its key */
function toJson(value: unknown, what: string): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner))
      throw new RangeError(`${what}: expected \`${key}\` to be a finite number, got ${inner}`)
    return inner
  })
}

/** A limit that is none is null in JSON. */
const limit = (value: number): number | null => (value === Number.POSITIVE_INFINITY ? null : value)

/** What the doctor wrote, without its label. */
function words(action: Action): string {
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

/** An episode as it is stored. @throws RangeError for a number that JSON cannot hold */
export function toRow({ episode, truth, score, group, step }: SavedEpisode): Row {
  const { id, caseId, seed, agent, language, stop, end, budget } = episode
  const what = `episode ${id}`
  const limits = { money: limit(budget.money), minutes: limit(budget.minutes) }
  return {
    id,
    case_id: caseId,
    seed,
    agent,
    language,
    stop,
    end,
    turns: episode.turns.map(({ action, outcome }) => ({
      action: action.kind,
      text: words(action),
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

/** A row as a line of JSON, put together from its own. */
export function toLine({ total, parts, turn_scores, group, step, episode, truth }: Row): string {
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
