/** The agent: a function from what the doctor may know to what the doctor does. */
import type { Case } from './case.js'
import type { Message } from './chat.js'
import type { Observation } from './env.js'
import type { Sample } from './episode.js'
import type { Action } from './turn.js'

/** What the agent does, and the tokens it drew it as, if any. */
export interface Move {
  readonly action: Action
  /** The reply as written, where there was one. */
  readonly text?: string
  readonly sample?: Sample
}

export interface AgentContext {
  /** Decides the agent's own draws; differs between siblings of a group. */
  readonly seed: number
  readonly signal?: AbortSignal | undefined
}

/** @throws Fault when the model behind it fails */
export type Agent = (observation: Observation, context: AgentContext) => Move | PromiseLike<Move>

/**
 * An agent that is given the case itself, hidden findings included. It is a yardstick (a Bayes bound), never a policy:
 * a policy knows its observations only.
 */
export interface PrivilegedAgent {
  /** The agent that plays one case. */
  readonly forCase: (truth: Case) => Agent
}

/** Who can play a case: an agent, or one that has to be given the case first. */
export type AnyAgent = Agent | PrivilegedAgent

/** The agent as it plays one case. */
export const agentFor = (agent: AnyAgent, truth: Case): Agent =>
  typeof agent === 'function' ? agent : agent.forCase(truth)

/** How actions are written as text: the prompt an observation makes, and the action a reply means. */
export interface Grammar {
  readonly name: string
  render(observation: Observation): readonly Message[]
  /** Never throws: what cannot be read is an `invalid` action whose `why` the doctor is shown. */
  parse(text: string): Action
}
