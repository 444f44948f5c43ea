/** Whether the doctor asked for the warning signs that this case must not be sent home with. */
import type { GraderView } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import type { Understanding } from '../../turn.js'
import { defineReward } from '../define.js'
import { mostQuestions } from '../process/questions.js'

/** Taken for one of these, the patient never knew what was asked. */
const lost: ReadonlySet<Understanding> = new Set<Understanding>(['unclear', 'ambiguous', 'refused'])

/** The flags that must be asked for: of this case, and not told with the complaint. */
const mustAsk = ({ gold, complaint }: GraderView): ReadonlySet<string> =>
  new Set(
    gold.redFlags
      .filter(({ mustAsk, finding }) => mustAsk && !complaint.findings.includes(finding))
      .map(({ finding }) => finding),
  )

/** What a turn brought up: asked so that it was understood, or told. */
function broughtUp({ facts }: EpisodeTurn): readonly string[] {
  if ((facts.questions ?? 0) > mostQuestions) return []
  const told = facts.told.flatMap(({ finding, state }) => (state === 'unknown' ? [] : [finding]))
  const heard = facts.understood !== undefined && !lost.has(facts.understood)
  return heard ? [...facts.asked, ...told] : told
}

/**
 * The share of the case's must-ask red flags that were asked for, or told, before the diagnosis. Only the case's own
 * count, so a list of every red flag there is earns no more than its turns allow; what a turn of more than two questions
 * brings up counts for nothing. Not applicable where the case lists none that the patient did not come with.
 */
export const redFlagRecall = (): Reward =>
  defineReward(
    {
      name: 'red-flag-recall',
      bounds: [0, 1],
      source: 'recall of the red flags of a case, as in the safety axes of HAEnv and AMIE',
    },
    ({ turns }, truth) => {
      const flags = mustAsk(truth)
      if (flags.size === 0) return notApplicable
      const found = new Set(turns.flatMap(broughtUp).filter((finding) => flags.has(finding)))
      const missed = [...flags].filter((flag) => !found.has(flag))
      const evidence = `${found.size} of ${flags.size} red flags`
      return ok(
        found.size / flags.size,
        missed.length > 0 ? `${evidence}, not ${missed.join(', ')}` : evidence,
      )
    },
  )
