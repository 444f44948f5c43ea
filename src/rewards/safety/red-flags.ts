/** Red-flag recall: the share of the case's must-ask warning signs that were elicited. */
import type { GraderView } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import type { Understanding } from '../../turn.js'
import { defineReward } from '../define.js'
import { maxQuestions } from '../process/questions.js'

/** Classes of an utterance that the patient did not understand or refused. */
const notUnderstood = new Set<Understanding>(['unclear', 'ambiguous', 'refused'])

const mustAsk = ({ gold, complaint }: GraderView): ReadonlySet<string> =>
  new Set(
    gold.redFlags
      .filter(({ mustAsk, finding }) => mustAsk && !complaint.findings.includes(finding))
      .map(({ finding }) => finding),
  )

/** The findings that a turn asked about, if it was understood, or elicited. */
function findingsRaised({ facts }: EpisodeTurn): readonly string[] {
  if ((facts.questions ?? 0) > maxQuestions) return []
  const told = facts.told.flatMap(({ finding, state }) => (state === 'unknown' ? [] : [finding]))
  const heard = facts.understood !== undefined && !notUnderstood.has(facts.understood)
  return heard ? [...facts.asked, ...told] : told
}

/**
 * The share of the case's must-ask red flags that were asked for or elicited before the diagnosis. Only the case's own
 * count, so asking for every known red flag earns no more than the turns allow; a turn of more than two questions counts
 * for nothing. Not applicable where the case lists none beside those in the complaint.
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
      const found = new Set(turns.flatMap(findingsRaised).filter((finding) => flags.has(finding)))
      const missed = [...flags].filter((flag) => !found.has(flag))
      const evidence = `${found.size} of ${flags.size} red flags`
      return ok(
        found.size / flags.size,
        missed.length > 0 ? `${evidence}, not ${missed.join(', ')}` : evidence,
      )
    },
  )
