/**
 * Token session: a consultation one level down, for a trainer that owns the model. It hands out the ids that the policy
 * reads next and takes the ids that it drew. Its state is plain data, so it can go on in another process.
 */
import type { Grammar } from '../../agent.js'
import { type Env, ended, type Observation, type Step } from '../../env.js'
import { type Draw, type Episode, encodeDraw, type Sample } from '../../episode.js'
import type { Score } from '../../reward.js'
import { assertCounts } from '../counts.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import { type DoctorMemory, recallReply } from './language-doctor.js'
import {
  appendDrawn,
  firstDivergence,
  nextStream,
  openedThinkTag,
  storeReply,
} from './token-stream.js'

/** Options of a token session; those of a restored one must be the same. */
export interface TokenSessionOptions {
  /** The consultation; it can save an episode. Its reward, if it has one, is the session's. */
  readonly env: Env
  readonly tokenizer: ChatTokenizer
  /** Renders observations and parses replies. */
  readonly grammar: Grammar
  /** Most tokens of one reply. */
  readonly maxTokens: number
  /** Context window of the model in tokens, prompt and reply together. */
  readonly contextLength: number
  /** Whether reasoning of earlier turns stays in the prompt. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
  /** Name of the policy. @default 'policy' */
  readonly policy?: string
  /** A draw that read other ids than it was to: begin another stream and count it, or refuse it. @default 'count' */
  readonly forks?: 'count' | 'refuse'
}

/** Ids that the policy is to read, at the start of a turn. */
export interface ToRead {
  readonly done: false
  /** Number of the turn, from 0: the index of the draw that answers it. */
  readonly index: number
  /** All ids, of which the last `heard` are new since its last draw. */
  readonly prompt: readonly number[]
  readonly heard: number
  /** Most tokens that may be drawn, and the ids that end a reply. */
  readonly maxTokens: number
  readonly stop: readonly number[]
}

/** The end of a session. */
export interface SessionEnd {
  readonly done: true
  readonly episode: Episode
  /** Absent where the env has no reward. */
  readonly score?: Score
  /** Token streams that were broken off. */
  readonly forks: number
}

/** What the policy drew. */
export interface DrawnIds extends Partial<Omit<Sample, 'tokens' | 'logprobs' | 'policyVersion'>> {
  readonly index: number
  readonly tokens: readonly number[]
  readonly logprobs: readonly number[]
  readonly policyVersion: Sample['policyVersion']
}

/** A consultation in tokens. One call at a time. */
export interface TokenSession extends AsyncDisposable {
  /** What is to be read now, or the end. */
  readonly next: ToRead | SessionEnd
  /**
   * Takes a draw and plays the turn. The same draw at the same index is answered as before.
   * @throws RangeError for a malformed draw; TypeError for another index or another draw at the last one, a fork where
   *   forks are refused, and a call while one is under way; a Fault where the world fails: nothing has happened then, or
   *   the turn stands and only the doctor's giving up after it failed, so the same draw is to be given again
   */
  drawn(draw: DrawnIds, options?: { readonly signal?: AbortSignal }): Promise<ToRead | SessionEnd>
  /**
   * The session as plain data, for {@link restoreTokenSession}. It holds the case.
   * @throws TypeError after the end, during a call, or where the env cannot save
   */
  save(): unknown
}

/** What a session knows beside its env. */
interface SessionState {
  readonly index: number
  readonly memory?: DoctorMemory
  readonly draws: readonly Draw[]
  readonly texts: readonly string[]
  /** The last draw, to recognise it if it comes again. */
  readonly last?: DrawnIds
}

const schema = 'bedside-token-session/1'

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** @throws RangeError naming what is wrong with a draw */
function assertDrawn({ tokens, logprobs }: DrawnIds, maxTokens: number): void {
  const bad = tokens.findIndex((id) => !Number.isInteger(id) || id < 0)
  if (bad >= 0)
    throw new RangeError(`Expected \`tokens[${bad}]\` to be a token id, got \`${tokens[bad]}\``)
  if (tokens.length === 0 || tokens.length > maxTokens)
    throw new RangeError(`Expected 1 to ${maxTokens} \`tokens\`, got ${tokens.length}`)
  if (logprobs.length !== tokens.length)
    throw new RangeError(
      `Expected ${tokens.length} \`logprobs\`, one for each token, got ${logprobs.length}`,
    )
  const odd = logprobs.findIndex((p) => !(p <= 0 && Number.isFinite(p)))
  if (odd >= 0)
    throw new RangeError(
      `Expected \`logprobs[${odd}]\` to be finite and at most 0, got \`${logprobs[odd]}\``,
    )
}

/** What the policy reads at a turn: the messages and their tokens. */
interface Prompt {
  readonly messages: ReturnType<Grammar['render']>
  readonly stream: ReturnType<typeof nextStream>
}

/** Makes a session of an episode that has begun, from what it knows so far. */
// Long because its methods share the state of the session.
async function openSession(
  options: TokenSessionOptions,
  begun: Observation,
  from: SessionState,
): Promise<TokenSession> {
  const { env, tokenizer, grammar, contextLength, history = 'keep' } = options
  const { policy = 'policy', forks = 'count' } = options
  let state = from
  let busy = false

  const promptOf = (observation: Observation): Prompt => {
    const messages = grammar.render(observation)
    const before = recallReply(tokenizer, state.memory, observation.turns.at(-1))
    return { messages, stream: nextStream(tokenizer, messages, before, { history }) }
  }
  let now = promptOf(begun)
  const toRead = (): ToRead => {
    const { prompt } = now.stream
    const read = encodeDraw(state.draws, 'doctor', { prompt, ...noTokens }, policy)
    return {
      ...{ done: false, index: state.index, prompt, heard: read.heard.length },
      maxTokens: Math.min(options.maxTokens, contextLength - prompt.length),
      stop: tokenizer.ends,
    }
  }
  const finish = ({ info }: Step): SessionEnd => {
    if (!info.episode) throw new TypeError('Expected the last step to carry `info.episode`')
    const turns = info.episode.turns.map((turn, t) => ({
      ...turn,
      ...(state.texts[t] === undefined ? {} : { text: state.texts[t] }),
      ...(state.draws[t] ? { draws: [state.draws[t], ...(turn.draws ?? [])] } : {}),
    }))
    const streams = new Set(state.draws.map(({ stream }) => stream)).size
    return {
      ...{ done: true, episode: { ...info.episode, agent: policy, turns } },
      ...(info.score ? { score: info.score } : {}),
      forks: Math.max(0, streams - 1),
    }
  }
  /** What comes after the turns so far. Without room for one token the doctor cannot speak, and gives up. */
  const advance = async (signal?: AbortSignal): Promise<ToRead | SessionEnd> =>
    now.stream.prompt.length < contextLength
      ? toRead()
      : finish(await env.step({ kind: 'give-up' }, { signal, index: state.index }))
  const take = async (draw: DrawnIds, signal: AbortSignal | undefined) => {
    const { index, tokens, logprobs: given, policyVersion, prompt, ...rest } = draw
    const logprobs = given.map((p) => p + 0) // JSON has one zero
    const expected = now.stream.prompt
    const read = prompt ?? expected
    assertDrawn(draw, toRead().maxTokens)
    const fork = firstDivergence(expected, read) ?? firstDivergence(read, expected)
    if (forks === 'refuse' && fork !== undefined)
      throw new TypeError(
        `Expected a draw that read \`next.prompt\`, got one whose \`prompt[${fork}]\` is \`${read[fork]}\`, not \`${expected[fork]}\``,
      )
    const cut = !tokenizer.ends.includes(tokens.at(-1) as number)
    const how = {
      temperature: 1,
      logprobMode: 'scaled' as const,
      stopReason: cut ? ('length' as const) : ('stop' as const),
      ...rest,
    }
    const reply = appendDrawn(now.stream, { tokens, logprobs, policyVersion, ...how })
    const action = grammar.parse(openedThinkTag(now.stream.marked) + reply.text)
    const made = encodeDraw(state.draws, 'doctor', { ...reply.sample, prompt: read }, policy)
    const { messages } = now
    const step = await env.step(action, { signal, index })
    state = {
      index: index + 1,
      memory: { kind: 'language-doctor', action, messages, reply: storeReply(reply) },
      draws: [...state.draws, made],
      texts: [...state.texts, reply.text],
      last: draw,
    }
    if (ended(step)) return finish(step)
    now = promptOf(step.observation)
    return undefined
  }
  let next = await advance()
  return {
    get next() {
      return next
    },
    async drawn(draw, { signal } = {}) {
      if (busy)
        throw new TypeError('Expected one call at a time, got drawn() while one is under way')
      const again = state.last !== undefined && same(draw, state.last)
      if (again && (next.done || next.index === state.index)) return next
      if (!again && (next.done || draw.index !== state.index))
        throw new TypeError(
          `Expected the draw of turn ${state.index}${next.done ? ', which is over' : ''}, got that of turn ${draw.index}`,
        )
      busy = true
      try {
        const end = again ? undefined : await take(draw, signal)
        next = end ?? (await advance(signal))
        return next
      } finally {
        busy = false
      }
    },
    save() {
      const trouble = next.done
        ? 'after the end'
        : busy
          ? 'during a call of drawn()'
          : 'of an env that cannot save'
      if (next.done || busy || !env.save)
        throw new TypeError(`Expected save() between two turns, got it ${trouble}`)
      return { schema, env: env.save(), state: structuredClone(state) }
    },
    [Symbol.asyncDispose]: () => env.close(),
  }
}

/** A sample of nothing, to see which ids of a prompt are new. */
const noTokens = {
  tokens: [],
  logprobs: [],
  policyVersion: 0,
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
} as const

/**
 * Resets the env and opens a session on its episode. A first prompt that fills the context ends it at once.
 * @throws RangeError for counts that are none
 */
export async function openTokenSession(
  options: TokenSessionOptions,
  start: Parameters<Env['reset']>[0] = {},
): Promise<TokenSession> {
  const { maxTokens, contextLength } = options
  assertCounts({ maxTokens, contextLength })
  const { observation } = await options.env.reset(start)
  return openSession(options, observation, { index: 0, draws: [], texts: [] })
}

/** Goes on with a saved session. @throws TypeError for what is none, or an env that cannot restore */
export async function restoreTokenSession(
  options: TokenSessionOptions,
  saved: unknown,
): Promise<TokenSession> {
  const own = Object(saved) as { schema?: unknown; env?: unknown; state: SessionState }
  if (own.schema !== schema || !options.env.restore)
    throw new TypeError(`Expected a saved session (${schema}), got \`${own.schema}\``)
  const { observation } = await options.env.restore(own.env)
  return openSession(options, observation, own.state)
}
