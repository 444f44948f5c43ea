/** Guards facts of an episode that are not known, so that no reward takes what stands in their place for a fact. */
import type { Episode, EpisodeTurn } from '../episode.js'
import { Fault } from '../error.js'
import { memoizeByIdentity } from '../platform/memoize.js'
import type { TurnFacts } from '../turn.js'

/** The same members, of which some throw when they are read. */
function guardMembers<T extends object>(
  value: T,
  names: readonly (keyof T & string)[],
  what: (name: string) => string,
): T {
  const copy = { ...value }
  for (const name of names)
    Object.defineProperty(copy, name, {
      enumerable: true,
      get: () => {
        throw new Fault('component-failed', what(name))
      },
    })
  return copy
}

/** What a turn told of the patient's own findings: of a report that nobody read for findings, nothing. */
export const toldByPatient = ({ action, facts }: EpisodeTurn): TurnFacts['told'] =>
  action.kind === 'order' && facts.unread?.includes('told') ? [] : facts.told

const isUnread = ({ facts }: EpisodeTurn): boolean => (facts.unread?.length ?? 0) > 0

/** Episodes that are guarded already; to copy one would read what throws. */
const guarded = new WeakSet<Episode>()

const guard = memoizeByIdentity((episode: Episode): Episode => {
  const turns = episode.turns.map((turn, n): EpisodeTurn => {
    const { unread = [] } = turn.facts
    const what = (name: string): string =>
      `\`${name}\` of turn ${n + 1} of episode ${episode.id} is not known: nobody wrote it down, or it could not be read from the patient's words`
    return isUnread(turn) ? { ...turn, facts: guardMembers(turn.facts, unread, what) } : turn
  })
  const sums = (['money', 'minutes'] as const).filter((name) =>
    episode.turns.some(({ facts }) => facts.unread?.includes(name)),
  )
  const spent = guardMembers(
    episode.spent,
    sums,
    (name) => `the ${name} that episode ${episode.id} spent are not known: it was logged without`,
  )
  const copy = { ...episode, turns, spent }
  guarded.add(copy)
  return copy
})

/**
 * The episode as a reward may read it: a fact that is not known throws a Fault `component-failed`, which makes the part
 * that reads it unavailable. An episode whose facts are all known is returned as it is.
 */
export const guardUnread = (episode: Episode): Episode =>
  guarded.has(episode) || !episode.turns.some(isUnread) ? episode : guard(episode)
