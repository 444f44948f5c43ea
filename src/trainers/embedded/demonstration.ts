/** Somebody else's episode as this policy would have drawn it: teacher forcing. */
import type { TokenSegment } from '../../batch.js'
import type { Episode } from '../../episode.js'
import { episodeSegments } from '../batches/segments.js'
import type { Reader } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/**
 * The segments of an episode whose every move was drawn if the policy could have drawn it there; at temperature 1,
 * log-probs 0, advantages 1. A move made already, or one but the diagnosis on the last turn, has probability 0: it
 * is read. A move outside the vocabulary leaves no token but those of the reply to it.
 */
export function demonstration(
  episode: Episode,
  {
    tokenizer,
    reader,
    policyVersion,
  }: {
    readonly tokenizer: Tokenizer
    readonly reader: Reader
    readonly policyVersion: number
  },
): readonly TokenSegment[] {
  const { intake, spent, budget, language, maxTurns } = episode
  const state = reader.start()
  const open = new Uint8Array(reader.actions)
  let read = 0
  const turns = episode.turns.map(({ sample: _, ...turn }, t) => {
    const seen = episode.turns.slice(0, t)
    const rest = { turns: seen, turnsLeft: maxTurns - t, spent, budget, language }
    const prompt = tokenizer.encode({ intake, ...rest })
    for (; read < prompt.length; read++) reader.read(state, prompt[read]!)
    reader.writeOpen(state, open)
    const token = tokenizer.move(turn.action)
    if (token === undefined || open[token] !== 1) return turn
    const sample = {
      prompt,
      tokens: [token],
      logprobs: [0],
      policyVersion,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    } as const
    return { ...turn, sample }
  })
  return episodeSegments({ ...episode, turns }, 1, episode.caseId).segments
}
