/** Question efficiency: what an agent learns about the diagnosis, against the ceiling in as many turns. */
import { type GraderView, graderView } from '../case.js'
import type { Episode } from '../episode.js'
import { type Estimate, ratioEstimate } from './bootstrap.js'
import type { PlayedCase } from './play-cases.js'

/** Information gained on the true diagnosis after each turn, in nats; undefined if it cannot be computed. */
export type InformationGain = (episode: Episode, truth: GraderView) => readonly number[] | undefined

/** The ceiling's information gains per turn, by case id, and the function that computes them. */
export interface CeilingInformation {
  readonly ceilingGains: ReadonlyMap<string, readonly number[]>
  readonly gain: InformationGain
}

/** Information gains per turn of one consultation of each case, by case id. */
export function gainsByCase(
  played: readonly PlayedCase[],
  informationGain: InformationGain,
): Map<string, readonly number[]> {
  const byCase = new Map<string, readonly number[]>()
  for (const { truth, episode } of played) {
    const gains = episode && informationGain(episode, graderView(truth))
    if (gains) byCase.set(truth.id, gains)
  }
  return byCase
}

/** Gain after `turns` turns; a consultation that ended earlier keeps its last gain. */
const gainAfter = (gains: readonly number[], turns: number): number =>
  turns === 0 ? 0 : (gains[Math.min(turns, gains.length) - 1] ?? 0)

/** The ratio of an agent's gains to the ceiling's; null where they cannot be computed. */
export function questionEfficiency(
  played: readonly PlayedCase[],
  information: CeilingInformation | undefined,
  seed: number,
): Estimate {
  if (!information) return { mean: null, ci95: null }
  const byCase = new Map<string, readonly [own: number, best: number]>()
  for (const { truth, episode } of played) {
    const own = episode && information.gain(episode, graderView(truth))
    const best = information.ceilingGains.get(truth.id)
    if (!episode || !own || !best) continue
    const turns = episode.turns.filter(({ outcome }) => outcome.kind !== 'closed').length
    const [before, bestBefore] = byCase.get(truth.id) ?? [0, 0]
    byCase.set(truth.id, [before + gainAfter(own, turns), bestBefore + gainAfter(best, turns)])
  }
  return ratioEstimate([...byCase.values()], seed)
}
