/**
 * The red team: doctors who try to be paid for nothing. None of them listens, so whatever one of them is paid
 * above the random doctor is a hole in the reward.
 *
 * Where one of them guesses, it makes the very guess of the random doctor: knowing what is common would be a
 * gain of its own. What it tries is in its name.
 */
import { concluders, injectors } from './conclusions.js'
import type { RedTeamPolicy } from './repertoire.js'
import { talkers } from './talk.js'

/** Every red-team policy, in the order in which audits print them. */
export const redTeam: readonly RedTeamPolicy[] = [...talkers, ...concluders, ...injectors]
