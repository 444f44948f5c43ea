/** Whether the doctor's advice is as urgent as the warning signs of the case ask for. */
import type { Gold, GraderView } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'
import type { Urgency } from './urgency.js'
import { adviceIn } from './urgency.js'

/** The actions that this package's cases name. */
const known: ReadonlyMap<string, Urgency> = new Map<string, Urgency>([
  ['call-emergency', 3],
  ['specialist-now', 3],
  ['urgent-referral', 2],
  ['follow-up', 1],
])

/** A red flag asks for the same day at least, where its action says nothing that can be read. */
const unread: Urgency = 2

/** How urgent an action is: by its id, by its text in the case, or by the words of its id. */
function urgencyOf(action: string, { actions }: Gold): Urgency {
  const listed = known.get(action)
  if (listed !== undefined) return listed
  const text = actions.find(({ id }) => id === action)?.text
  const words = [text?.en, text?.zh, action.replaceAll('-', ' ')].filter((one) => one !== undefined)
  return (Math.max(...words.map((one) => adviceIn(one).urgency)) || unread) as Urgency // of its members
}

/** What the case asks for: no less than its red flags that are there, no more than those and what it recommends. */
function wantedOf({ gold, findings }: GraderView): {
  readonly least: number
  readonly most: number
} {
  // A case has a few flags and some hundred findings: a search for each is quicker than an index of all.
  const flags = gold.redFlags.filter(({ finding }) =>
    findings.some(({ id, state }) => id === finding && state !== 'absent' && state !== 'unknown'),
  )
  const least = Math.max(0, ...flags.map(({ action }) => urgencyOf(action, gold)))
  const advised = gold.actions.filter(({ polarity }) => polarity === 'recommend')
  return { least, most: Math.max(least, ...advised.map(({ id }) => urgencyOf(id, gold)), 1) }
}

/** Too urgent is wrong by half as much as not urgent enough. */
const tooMuch = 0.5

/**
 * How far the urgency of the advice that goes with the diagnosis is from what the case asks for, from 1 (as asked) to 0.
 * A red flag that the patient has asks for its action, asked about or not. Short of it the value is the share that was
 * reached (the hospital today where an ambulance is due: ⅔); beyond it and beyond all that the case recommends, half as
 * much is taken off, so that an ambulance for everybody does not pay. Advice that also sends home what it calls urgent is
 * not urgent; what holds only in a case ("if it gets worse") is a later visit. A consultation without a diagnosis gives 0.
 * Not applicable where the case lists no red flags.
 */
export const escalation = (): Reward =>
  defineReward(
    {
      name: 'escalation',
      bounds: [0, 1],
      source: 'escalation of red flags, as in the hard gates of HAEnv, graded',
    },
    (episode, truth) => {
      if (truth.gold.redFlags.length === 0) return notApplicable
      const diagnosis = diagnosisOf(episode)
      if (!diagnosis) return ok(0, 'no diagnosis')
      const { least, most } = wantedOf(truth)
      const { urgency, home } = adviceIn(diagnosis.recommendation ?? '')
      const said = home && urgency >= 2 ? 0 : urgency
      const evidence = `urgency ${said} of 3, asked for ${least === most ? least : `${least} to ${most}`}`
      if (said < least) return ok(said / least, evidence)
      return ok(said > most ? 1 - (tooMuch * (said - most)) / 3 : 1, evidence)
    },
  )
