/** Teacher forcing for the embedded policy: another agent's episode as segments this policy could have drawn. */
import type { TokenSegment } from '../../batch.js'
import { type Draw, type Episode, encodeDraw } from '../../episode.js'
import { episodeSegments } from '../batches/segments.js'
import type { FeatureExtractor } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/**
 * Segments of an episode in which every action the policy could have taken there counts as drawn, at temperature 1,
 * with log-probs 0 and advantages 1. A repeated action, or one other than the diagnosis on the last turn, has
 * probability 0: it is masked. An action outside the action space has no token; only the reply to it is read.
 */
export function demonstrationSegments(
  episode: Episode,
  {
    tokenizer,
    extractor,
    policyVersion,
  }: {
    readonly tokenizer: Tokenizer
    readonly extractor: FeatureExtractor
    readonly policyVersion: number
  },
): readonly TokenSegment[] {
  const { intake, spent, budget, language, maxTurns } = episode
  const state = extractor.initialState()
  const actionMask = new Uint8Array(extractor.actions)
  let read = 0
  const draws: Draw[] = []
  const turns = episode.turns.map(({ draws: _, ...turn }, t) => {
    const seen = episode.turns.slice(0, t)
    const rest = { turns: seen, turnsLeft: maxTurns - t, spent, budget, language }
    const prompt = tokenizer.encode({ intake, ...rest })
    for (; read < prompt.length; read++) extractor.read(state, prompt[read]!)
    extractor.writeActionMask(state, actionMask)
    const token = tokenizer.actionId(turn.action)
    if (token === undefined || actionMask[token] !== 1) return turn
    const sample = {
      prompt,
      tokens: [token],
      logprobs: [0],
      policyVersion,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    } as const
    const draw = encodeDraw(draws, 'doctor', sample, 'embedded')
    draws.push(draw)
    return { ...turn, draws: [draw] }
  })
  return episodeSegments({ ...episode, turns }, 1, episode.caseId).segments
}
