/**
 * A session: one consultation of one client. Its steps are numbered; a step that is sent again is answered as before.
 * What it is can be said by its options and actions, so a client goes on with it at another server.
 */
import { type Env, ended, type Step } from '../env.js'
import { errorMessage, Fault } from '../error.js'
import type { Action } from '../turn.js'
import { toAction, type WireAction } from './action.js'
import type { Consultations } from './consultations.js'
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
export interface ServerSession {
  readonly options: SessionOptions
  /** Actions taken, in order: with the options, all that the session is. */
  readonly actions: readonly WireAction[]
  /** What the doctor was told before the first action. */
  readonly first: WireObservation
  /** The reply to the last call. */
  readonly last: SessionReply
  /** Takes one action. Calls wait for one another. @throws Refusal */
  step(action: WireAction, options: SessionStep): Promise<SessionReply>
  /** Frees what can be made again; the next step makes it. */
  sleep(): Promise<void>
  close(): Promise<void>
}

/** Turns what an env throws into what a client is told. */
export function refusalOf(error: unknown, signal: AbortSignal): Refusal {
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

/** How a session begins. */
export interface SessionBeginning {
  readonly options: SessionOptions
  /** Actions of an earlier session, taken again. */
  readonly actions: readonly WireAction[]
  readonly signal: AbortSignal
}

/** Milliseconds that a new session keeps its case for a first step. */
const firstStepMs = 1000

/** Starts a session. */
// Long because its methods share the session's state.
export async function startSession(
  consultations: Consultations,
  { options, actions: earlier, signal: begins }: SessionBeginning,
): Promise<ServerSession> {
  const actions: WireAction[] = []
  let env: Env | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const open = async (): Promise<SessionReply> => {
    const { env: opened, truth, seed } = await consultations.open(options)
    const { observation } = await opened.reset({ seed, options: { case: truth } })
    env = opened
    return { index: 0, observation: firstObservation(observation), reward: null }
  }

  const stepEnv = async (sent: WireAction, index: number, signal: AbortSignal): Promise<Step> => {
    if (!env) throw new TypeError('Expected an open env')
    const action: Action | string = toAction(sent)
    try {
      return await env.step(action, { index, signal })
    } catch (error) {
      throw refusalOf(error, signal)
    }
  }

  /** A case is large: the env of a sleeping session is made again of its options and actions. */
  const wake = async (signal: AbortSignal): Promise<void> => {
    await open()
    for (const [index, action] of actions.entries()) await stepEnv(action, index, signal)
  }

  let last = await open()
  const first = last.observation
  const take = async (sent: WireAction, { index, signal }: SessionStep) => {
    clearTimeout(unused)
    if (!env) await wake(signal)
    const at = index ?? actions.length
    if (at === actions.length && last.observation.done)
      throw new Refusal('conflict', 'This consultation is over: open another, or reset')
    const step = await stepEnv(sent, at, signal)
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
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }
  const drop = async (): Promise<void> => {
    clearTimeout(unused)
    const awake = env
    env = undefined
    await awake?.close()
  }

  // Many are opened long before their first step, and a case is large.
  const unused = setTimeout(() => void next(drop), firstStepMs).unref()
  for (const action of earlier) await take(action, { signal: begins })
  return {
    ...{ options, actions, first },
    get last() {
      return last
    },
    step: (action, given) => next(() => take(action, given)),
    sleep: () => next(drop),
    close: drop,
  }
}
