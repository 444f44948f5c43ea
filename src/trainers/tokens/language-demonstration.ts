/** Somebody else's episode as a language model would have drawn it: teacher forcing. */
import { isDeepStrictEqual } from 'node:util'
import type { Grammar } from '../../agent.js'
import type { TokenSegment } from '../../batch.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { episodeSegments } from '../batches/segments.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import type { Reply } from './consultation-stream.js'
import { streamOf } from './consultation-stream.js'
import { drawn, openedIn } from './token-stream.js'

export interface LanguageDemonstrationOptions {
  readonly tokenizer: ChatTokenizer
  /** Renders what the doctor knew; the reply to a turn is the assistant's last message after it. */
  readonly grammar: Grammar
  readonly policyVersion: number
  /** Ids the model can hold. */
  readonly contextLength: number
  /** Whether reasoning of earlier turns stays in what the policy reads. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/** What the doctor knew before each turn, and after the last. */
function* observations(episode: Episode): Generator<Observation, void, undefined> {
  const { intake, budget, language, maxTurns } = episode
  const turns = episode.turns.map(({ action, outcome }) => ({ action, outcome }))
  let spent = { money: 0, minutes: 0 }
  for (let t = 0; t <= turns.length; t++) {
    yield { intake, turns: turns.slice(0, t), turnsLeft: maxTurns - t, spent, budget, language }
    const { money = 0, minutes = 0 } = episode.turns[t]?.facts ?? {}
    spent = { money: spent.money + money, minutes: spent.minutes + minutes }
  }
}

/**
 * The reply as it was written, if this grammar reads the turn's action in it, else as the grammar writes it; where
 * the generation prompt has opened a thought, the reply goes on inside it and so must close it.
 */
function replyTo(
  { action, text }: EpisodeTurn,
  after: readonly Message[],
  { grammar, opened }: { readonly grammar: Grammar; readonly opened: string },
): string | undefined {
  const written = opened === '' ? text : text?.replace(/^\s*<think>\n?/, '')
  if (written !== undefined && isDeepStrictEqual(grammar.parse(opened + written), action))
    return written
  const rendered = after.findLast(({ role }) => role === 'assistant')?.content
  return opened === '' || rendered === undefined ? rendered : `\n</think>\n\n${rendered}`
}

/** Ids of a reply as a policy draws it: its reasoning tags are tokens, other control tokens are only spelt. */
function tokensOf({ marks, encodeMarked, ends }: ChatTokenizer, reply: string): readonly number[] {
  return [...encodeMarked(marks.reply(0, reply)), ...ends.slice(0, 1)]
}

/** A reply that nobody should imitate. */
const isPoor = ({ action: { kind } }: EpisodeTurn): boolean =>
  kind === 'invalid' || kind === 'give-up'

/**
 * The segments of an episode whose every reply was drawn, its end of turn too; at temperature 1, log-probs 0,
 * advantages 1. Replies that could not be read or gave up are read and not drawn. The episode ends before the first
 * turn that the context does not hold.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function languageDemonstration(
  episode: Episode,
  {
    tokenizer,
    grammar,
    policyVersion,
    contextLength,
    history = 'keep',
  }: LanguageDemonstrationOptions,
): readonly TokenSegment[] {
  const [first = [], ...later] = Array.from(observations(episode), (seen) => grammar.render(seen))
  const taught: EpisodeTurn[] = []
  let messages = first
  let before: Reply | undefined
  for (const [t, { sample: _, ...turn }] of episode.turns.entries()) {
    const stream = streamOf(tokenizer, messages, before, { history })
    const after = later[t] ?? []
    const reply = replyTo(turn, after, { grammar, opened: openedIn(stream.marked) })
    const tokens = reply === undefined ? [] : tokensOf(tokenizer, reply)
    if (stream.prompt.length + tokens.length > contextLength) break
    const made = drawn(stream, {
      tokens,
      logprobs: tokens.map(() => 0),
      policyVersion,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    })
    if (!isPoor(turn) && tokens.length > 0) taught.push({ ...turn, sample: made.sample })
    before = { turn: made, messages }
    messages = after
  }
  return episodeSegments({ ...episode, turns: taught }, 1, episode.caseId).segments
}
