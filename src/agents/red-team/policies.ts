/**
 * The red team: degenerate policies that try to earn reward for nothing. None of them uses the patient's answers,
 * so any score above the random doctor's is a hole in the reward.
 *
 * A policy that guesses makes the random doctor's guess, since knowing which diseases are common would be a gain of
 * its own. The name says what a policy tries.
 */
import { conclusionPolicies, injectionPolicies } from './conclusions.js'
import type { RedTeamPolicy } from './repertoire.js'
import { talkPolicies } from './talk.js'

/** Every red-team policy, in the order in which audits print them. */
export const redTeam: readonly RedTeamPolicy[] = [
  ...talkPolicies,
  ...conclusionPolicies,
  ...injectionPolicies,
]
