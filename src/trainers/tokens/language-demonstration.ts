/** Teacher forcing for a language model: another agent's episode as segments the model could have drawn. */
import { isDeepStrictEqual } from 'node:util'
import type { Grammar } from '../../agent.js'
import type { TokenSegment } from '../../batch.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { type Episode, type EpisodeTurn, encodeDraw } from '../../episode.js'
import { episodeSegments } from '../batches/segments.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import { appendDrawn, nextStream, openedThinkTag, type PreviousReply } from './token-stream.js'

/** The model that an episode is encoded for. */
export interface LanguageDemonstrationOptions {
  readonly tokenizer: ChatTokenizer
  /** Renders observations; the reply of a turn is the last assistant message of the rendering after it. */
  readonly grammar: Grammar
  readonly policyVersion: number
  /** Context window of the model, in tokens. */
  readonly contextLength: number
  /** Whether reasoning of earlier turns stays in the prompt. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/** The doctor's observation before each turn, and after the last. */
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
 * The reply as written, if the grammar parses it to the turn's action; else as the grammar renders the action. Where
 * the generation prompt opens a think tag, the reply starts inside the reasoning and must close it.
 */
function replyText(
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

/** Token ids of a reply as a policy draws it: reasoning tags are control tokens, others are spelt as text. */
function replyIds({ marks, encodeMarked, ends }: ChatTokenizer, reply: string): readonly number[] {
  return [...encodeMarked(marks.markReply(0, reply)), ...ends.slice(0, 1)]
}

/** True for replies that are not to be imitated: invalid ones and giving up. */
const isExcluded = ({ action: { kind } }: EpisodeTurn): boolean =>
  kind === 'invalid' || kind === 'give-up'

/**
 * Segments of an episode in which every reply counts as drawn, end of turn included, at temperature 1, with log-probs
 * 0 and advantages 1. Invalid replies and giving up are masked. The episode ends before the first turn that exceeds
 * the context window.
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
  const trained: EpisodeTurn[] = []
  let messages = first
  let before: PreviousReply | undefined
  for (const [t, { draws: _, ...turn }] of episode.turns.entries()) {
    const stream = nextStream(tokenizer, messages, before, { history })
    const after = later[t] ?? []
    const reply = replyText(turn, after, { grammar, opened: openedThinkTag(stream.marked) })
    const tokens = reply === undefined ? [] : replyIds(tokenizer, reply)
    if (stream.prompt.length + tokens.length > contextLength) break
    const made = appendDrawn(stream, {
      tokens,
      logprobs: tokens.map(() => 0),
      policyVersion,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    })
    if (!isExcluded(turn) && tokens.length > 0) {
      const earlier = trained.flatMap(({ draws = [] }) => draws)
      trained.push({
        ...turn,
        draws: [encodeDraw(earlier, 'doctor', made.sample, 'demonstration')],
      })
    }
    before = { turn: made, messages }
    messages = after
  }
  return episodeSegments({ ...episode, turns: trained }, 1, episode.caseId).segments
}
