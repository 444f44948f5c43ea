/**
 * A session: one consultation of one client. Its steps are numbered; a step that is sent again is answered as before.
 * What it is can be said by its options and actions, so a client goes on with it at another server.
 */
import { ended, type Step } from '../env.js'
import { errorMessage, Fault } from '../error.js'
import type { Action } from '../turn.js'
import { toAction, type WireAction } from './action.js'
import type { Consultation } from './consultations.js'
import {
  firstObservation,
  nextObservation,
  type WireObservation,
  wireReward,
} from './observation.js'
import type { SessionOptions } from './options.js'
import { Refusal } from './refusal.js'

/** What a step is answered with. */
export interface SessionReply {
  /** Steps taken so far: the index of the next one. */
  readonly index: number
  readonly observation: WireObservation
  /** Null before the end, and where the score is not known. */
  readonly reward: number | null
}

/** Options of a step. */
export interface SessionStep {
  /** Number of steps before this one. @default the next */
  readonly index?: number | undefined
  readonly signal: AbortSignal
}

/** One consultation of one client. */
export interface Session {
  readonly options: SessionOptions
  /** Actions taken, in order: with the options, all that the session is. */
  readonly actions: readonly WireAction[]
  /** The reply to the last call. */
  readonly last: SessionReply
  /** Takes one action. Calls wait for one another. @throws Refusal */
  step(action: WireAction, options: SessionStep): Promise<SessionReply>
  close(): Promise<void>
}

/** Turns what an env throws into what a client is told. */
function refusalOf(error: unknown, signal: AbortSignal): Refusal {
  if (error instanceof Refusal) return error
  if (signal.aborted)
    return new Refusal('deadline', 'The step took too long and was taken back: send it again')
  if (Fault.is(error))
    return new Refusal(
      'unavailable',
      `${error.code}: ${error.message}. Nothing happened: send it again`,
    )
  return new Refusal('conflict', errorMessage(error))
}

/** Starts a session, and takes the actions of an earlier one again. */
export async function startSession(
  { env, truth, seed }: Consultation,
  options: SessionOptions,
  {
    actions: earlier,
    signal,
  }: { readonly actions: readonly WireAction[]; readonly signal: AbortSignal },
): Promise<Session> {
  const actions: WireAction[] = []
  const { observation } = await env.reset({ seed, options: { case: truth } })
  let last: SessionReply = { index: 0, observation: firstObservation(observation), reward: null }
  let turn: Promise<unknown> = Promise.resolve()

  const take = async (sent: WireAction, { index, signal: until }: SessionStep) => {
    const action: Action | string = toAction(sent)
    const at = index ?? actions.length
    let step: Step
    try {
      step = await env.step(action, { index: at, signal: until })
    } catch (error) {
      throw refusalOf(error, until)
    }
    const reply = {
      index: at + 1,
      observation: nextObservation(step),
      reward: ended(step) ? wireReward(step) : null,
    }
    if (at < actions.length) return reply
    actions.push(sent)
    last = reply
    return reply
  }

  for (const action of earlier) await take(action, { signal })
  return {
    options,
    actions,
    get last() {
      return last
    },
    step(action, given) {
      const done = turn.then(() => take(action, given))
      turn = done.catch(() => undefined)
      return done
    },
    close: () => env.close(),
  }
}
