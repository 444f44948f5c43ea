/** Agent (doctor policy): a function from observation to move. Grammar: the text format of its actions. */
import type { Case } from './case.js'
import type { Message, Tool } from './chat.js'
import type { Observation } from './env.js'
import type { Sample } from './episode.js'
import type { Action } from './turn.js'

/** An agent's action, with the reply text and the sampled tokens where it has them. */
export interface Move {
  readonly action: Action
  /** The raw reply, hidden reasoning included. */
  readonly text?: string
  readonly sample?: Sample
  /** What the agent wants to know at its next move of this episode: plain data, which survives JSON. */
  readonly memory?: unknown
}

/** Per-call context of an agent. */
export interface AgentContext {
  /** Keys the agent's own random draws; differs between siblings of a group. */
  readonly seed: number
  /** The `memory` of this agent's last move in this episode; an agent keeps no other. */
  readonly memory?: unknown
  readonly signal?: AbortSignal | undefined
}

/** A doctor policy. @throws Fault when the model behind it fails */
export type Agent = (observation: Observation, context: AgentContext) => Move | PromiseLike<Move>

/**
 * Agent that is given the case itself, hidden findings included: a reference (Bayes bound), never a policy, which knows
 * its observations only.
 */
export interface PrivilegedAgent {
  /** Makes the agent that plays one case. */
  readonly forCase: (truth: Case) => Agent
}

/** Any agent: an ordinary one, or a privileged one that needs the case first. */
export type AnyAgent = Agent | PrivilegedAgent

/** Returns the agent that plays `truth`: the agent itself, or the one a privileged agent makes for the case. */
export const agentFor = (agent: AnyAgent, truth: Case): Agent =>
  typeof agent === 'function' ? agent : agent.forCase(truth)

/** Text format of actions: renders an observation as a prompt and parses a reply into an action. */
export interface Grammar {
  readonly name: string
  /** Functions through which the doctor acts; a model is told of them beside the prompt. */
  readonly tools?: readonly Tool[]
  /**
   * True where a doctor reads its own earlier replies as it wrote them, without their reasoning; else they are rendered
   * from their actions. @default false
   */
  readonly keepsReplies?: boolean
  /** Renders the prompt: one message of the doctor for each turn. */
  render(observation: Observation): readonly Message[]
  /** Parses a reply. Never throws: an unreadable reply becomes an `invalid` action, whose `why` the doctor is shown. */
  parse(text: string): Action
}
