/** Conformance checks of an agent (`agent.ts`): a function of the observation and the seed alone. */
import type { Agent, Move } from '../agent.js'
import type { Observation } from '../env.js'
import type { Sample } from '../episode.js'
import { deepFreeze } from '../platform/freeze.js'
import type { Action } from '../turn.js'
import { type Check, type CheckRuns, toChecks } from './check.js'
import { expectAnswer, expectSame, expectThat } from './expect.js'

/** Inputs of {@link agentChecks}. */
export interface AgentMaterial {
  /** Observations of different episodes and turns, as an env gave them. */
  readonly observations: readonly Observation[]
  /** Seeds to call the agent with. @default [0, 1] */
  readonly seeds?: readonly number[]
  /** False leaves out the determinism checks, for an agent with a model behind it. @default true */
  readonly deterministic?: boolean
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isProbability = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= 1
const isLevel = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= 5

/** Validity of each kind of action's fields; a new kind is a compile error here. */
const fields: {
  readonly [K in Action['kind']]: (action: Extract<Action, { kind: K }>) => boolean
} = {
  ask: ({ text }) => isText(text),
  order: ({ exam }) => isText(exam),
  diagnose: ({ diagnosis, recommendation = '', confidence = 0, differential = [], triage = 1 }) =>
    isText(diagnosis) &&
    isText(recommendation) &&
    isProbability(confidence) &&
    differential.every(({ diagnosis: other, p = 0 }) => isText(other) && isProbability(p)) &&
    isLevel(triage),
  'give-up': () => true,
  invalid: ({ text, why }) => isText(text) && isText(why),
}

/** Throws unless the move is a known action with its fields. */
export function expectKnownAction({ action }: Move): void {
  const { kind } = action
  expectThat(Object.hasOwn(fields, kind), `an action of ${Object.keys(fields).join(', ')}`, action)
  // The table has one entry per kind, each for its own kind of action.
  const complete = (fields[kind] as (action: Action) => boolean)(action)
  expectThat(complete, `an action \`${kind}\` with its fields`, action)
}

/** Throws where a sample, or a draw with its stream's `prompt`, cannot be trained on. */
export function expectSample(
  sample: Pick<Sample, 'prompt' | 'tokens' | 'logprobs' | 'temperature'>,
): void {
  const { prompt, tokens, logprobs, temperature } = sample
  const isToken = (id: number) => Number.isInteger(id) && id >= 0
  expectThat(prompt.length > 0, 'a prompt of at least one token', prompt)
  expectThat(tokens.length > 0, 'at least one drawn token', tokens)
  expectThat([...prompt, ...tokens].every(isToken), 'token ids that are integers >= 0', tokens)
  expectThat(
    logprobs.length === tokens.length,
    `${tokens.length} log-probs, one per token`,
    logprobs.length,
  )
  for (const logprob of logprobs)
    expectThat(logprob <= 0 && Number.isFinite(logprob), 'a finite log-prob <= 0', String(logprob))
  expectThat(temperature >= 0, 'a temperature >= 0', temperature)
}

type CallAgent<T> = (observation: Observation, seed: number) => Promise<T>
type EachObservation = (work: CallAgent<unknown>) => () => Promise<void>

const determinism = (
  act: CallAgent<Move>,
  each: EachObservation,
  { observations, seeds }: AgentMaterial,
): CheckRuns => ({
  'the same observation and seed give the same move': each(async (observation, seed) => {
    const first = await act(observation, seed)
    expectSame('the second move', await act(structuredClone(observation), seed), first)
  }),
  'what it saw before does not matter': async () => {
    expectThat(observations.length > 1, 'at least two observations', observations.length)
    const moves = () =>
      observations.map((observation) => () => act(structuredClone(observation), seeds?.[0] ?? 0))
    const forward: Move[] = []
    for (const move of moves()) forward.push(await move())
    const backward: Move[] = []
    for (const move of moves().reverse()) backward.unshift(await move())
    expectSame('the moves in reverse order', backward, forward)
  },
})

/** Lists every promise of the agent contract as a check. */
export function agentChecks(agent: Agent, material: AgentMaterial): readonly Check[] {
  const { observations, seeds = [0, 1], deterministic = true } = material
  const act: CallAgent<Move> = (observation, seed) =>
    expectAnswer(`observation after ${observation.turns.length} turns`, () =>
      agent(observation, { seed }),
    )
  const each: EachObservation = (work) => async () => {
    expectThat(observations.length > 0, 'at least one observation', 'none')
    for (const observation of observations)
      for (const seed of seeds) await work(structuredClone(observation), seed)
  }
  return toChecks({
    'every move is a known action with its fields': each(async (observation, seed) =>
      expectKnownAction(await act(observation, seed)),
    ),
    ...(deterministic ? determinism(act, each, material) : {}),
    'the observation is only read': each((observation, seed) => act(deepFreeze(observation), seed)),
    'it acts on its last turn': each(async (observation, seed) =>
      expectKnownAction(await act({ ...observation, turnsLeft: 1 }, seed)),
    ),
    'a sample it carries can be trained on': each(async (observation, seed) => {
      const { sample } = await act(observation, seed)
      if (sample) expectSample(sample)
    }),
  })
}
