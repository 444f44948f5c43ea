/** A consultation in tokens: a client that owns the model is told the ids to read, and says the ids it drew. */
import { spoken } from '../agents/grammars/spoken.js'
import type { ChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
import {
  type DrawnIds,
  openTokenSession,
  type SessionEnd,
  type TokenSessionOptions,
  type ToRead,
} from '../trainers/tokens/token-session.js'
import type { Consultations } from './consultations.js'
import type { SessionOptions } from './options.js'
import { Refusal } from './refusal.js'
import { refusalOf } from './session.js'

/** What a client chooses of the tokens. */
export type TokenLimits = Pick<TokenSessionOptions, 'maxTokens' | 'contextLength' | 'history'>

/** A consultation in tokens. */
export interface TokenPlay {
  readonly options: SessionOptions
  /** What is to be read now, or the end. */
  readonly next: ToRead | SessionEnd
  /** Takes a draw. Calls wait for one another; the last one is answered again. @throws Refusal */
  draw(drawn: DrawnIds, signal: AbortSignal): Promise<ToRead | SessionEnd>
  sleep(): Promise<void>
  close(): Promise<void>
}

/** How it begins. */
interface TokenBeginning {
  readonly options: SessionOptions
  readonly limits: TokenLimits
  /** Draws of an earlier session, taken again. */
  readonly draws: readonly DrawnIds[]
  readonly signal: AbortSignal
}

const noTokenizer = () =>
  new Refusal('not-found', 'Expected a server with a tokenizer: start it with --tokenizer FOLDER')

/** Passes on what comes next; an end is told once. */
function tellingEnd(onEnd: ((end: SessionEnd) => Promise<void>) | undefined) {
  let told = false
  return async (next: ToRead | SessionEnd) => {
    if (next.done && onEnd && !told) await onEnd(next)
    told = next.done
    return next
  }
}

/** Starts a consultation in tokens. @throws Refusal `not-found` where the server has no tokenizer */
export async function startTokenPlay(
  consultations: Consultations,
  tokenizer: ChatTokenizer | undefined,
  { options, limits, draws, signal }: TokenBeginning,
): Promise<TokenPlay> {
  if (!tokenizer) throw noTokenizer()
  const { env, truth, seed, ...own } = await consultations.open(options)
  const { grammar = spoken(), onEnd } = own
  const how = { env, tokenizer, grammar, ...limits }
  const session = await openTokenSession(how, { seed, options: { case: truth } })
  let turn: Promise<unknown> = Promise.resolve()
  const tell = tellingEnd(onEnd)
  await tell(session.next)
  const take = async (drawn: DrawnIds, given: AbortSignal) => {
    try {
      return await tell(await session.drawn(drawn, { signal: given }))
    } catch (error) {
      // What is wrong with the ids themselves; another index or another draw is a conflict.
      if (error instanceof RangeError) throw new Refusal('bad-request', error.message)
      throw refusalOf(error, given)
    }
  }
  for (const drawn of draws) await take(drawn, signal)
  return {
    options,
    get next() {
      return session.next
    },
    draw(drawn, given) {
      const done = turn.then(() => take(drawn, given))
      turn = done.catch(() => undefined)
      return done
    },
    // Its ids are worth more than the memory of its case.
    sleep: async () => {},
    close: () => env.close(),
  }
}
