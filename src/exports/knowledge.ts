/** `bedside/knowledge`: the disease knowledge base, its tiers, its action space, and its exact posterior. */
export type { Belief } from '../inference/belief.js'
export { beliefTrace, logProbabilityGains } from '../inference/belief-trace.js'
export type { PredictedOutcome } from '../inference/lookahead.js'
export type { Posterior, PosteriorOptions } from '../inference/posterior.js'
export { buildPosterior, fullInformationBelief, getPosterior } from '../inference/posterior.js'
export { type Utility, utilityTable } from '../inference/utility.js'
export {
  type ActionSpace,
  actionSpace,
  knowledgeActionSpace,
  replySpace,
} from '../knowledge/action-space.js'
export type {
  Disease,
  ExamDefinition,
  FindingDefinition,
  Knowledge,
} from '../knowledge/knowledge.js'
export { clinic } from '../knowledge/knowledge.js'
export { loadKnowledge } from '../knowledge/load.js'
export { type Tier, type TierName, tiers } from '../knowledge/tiers.js'
