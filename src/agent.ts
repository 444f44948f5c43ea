/** The agent (doctor policy): a function from observation to move; and the grammar that turns text into actions. */
import type { Case } from './case.js'
import type { Message } from './chat.js'
import type { Observation } from './env.js'
import type { Sample } from './episode.js'
import type { Action } from './turn.js'

/** An agent's action, with the reply text and the sampled tokens where it has them. */
export interface Move {
  readonly action: Action
  /** The raw reply, hidden reasoning included. */
  readonly text?: string
  readonly sample?: Sample
}

/** Per-call context of an agent. */
export interface AgentContext {
  /** Keys the agent's own random draws; differs between siblings of a group. */
  readonly seed: number
  readonly signal?: AbortSignal | undefined
}

/** A doctor policy. @throws Fault when the model behind it fails */
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

/** Text format of actions: renders an observation as a prompt and parses a reply into an action. */
export interface Grammar {
  readonly name: string
  render(observation: Observation): readonly Message[]
  /** Never throws: an unreadable reply becomes an `invalid` action, whose `why` the doctor is shown. */
  parse(text: string): Action
}
