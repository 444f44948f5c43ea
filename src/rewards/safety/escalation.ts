/** Escalation reward: whether the doctor's advice is as urgent as the case's red flags require. */
import type { Gold, GraderView } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { defineReward } from '../define.js'
import { readUrgencyAdvice, type Urgency } from './urgency.js'

/** Urgency of the actions in this package's cases. */
const knownUrgency: ReadonlyMap<string, Urgency> = new Map<string, Urgency>([
  ['call-emergency', 3],
  ['specialist-now', 3],
  ['urgent-referral', 2],
  ['follow-up', 1],
])

/** Urgency of a red flag whose action cannot be read: the same day. */
const defaultUrgency: Urgency = 2

/** How urgent an action is: by its id, by its text in the case, or by the words of its id. */
function actionUrgency(action: string, { actions }: Gold): Urgency {
  const listed = knownUrgency.get(action)
  if (listed !== undefined) return listed
  const text = actions.find(({ id }) => id === action)?.text
  const words = [text?.en, text?.zh, action.replaceAll('-', ' ')].filter((one) => one !== undefined)
  return (Math.max(...words.map((one) => readUrgencyAdvice(one).urgency)) ||
    defaultUrgency) as Urgency // of its members
}

/** The range of urgency a case requires: from that of its present red flags to that of its recommended actions. */
function requiredUrgency({ gold, findings }: GraderView): {
  readonly least: number
  readonly most: number
} {
  // A case has a few flags and some hundred findings: a search for each is quicker than an index of all.
  const flags = gold.redFlags.filter(({ finding }) =>
    findings.some(({ id, state }) => id === finding && state !== 'absent' && state !== 'unknown'),
  )
  const least = Math.max(0, ...flags.map(({ action }) => actionUrgency(action, gold)))
  const advised = gold.actions.filter(({ polarity }) => polarity === 'recommend')
  return { least, most: Math.max(least, ...advised.map(({ id }) => actionUrgency(id, gold)), 1) }
}

const tooMuch = 0.5

/**
 * How near the urgency of the recommendation is to that of the case, from 0 to 1 (as required). A red flag that the
 * patient has requires its action, asked about or not. Below it the value is the share reached (the hospital today where
 * an ambulance is due: ⅔); above it, and above every recommended action, the penalty is half as large, so that an
 * ambulance for every patient does not pay. Urgent advice that also sends the patient home is not urgent; conditional
 * advice ("if it gets worse") counts as a later visit. A consultation without a diagnosis gives 0.
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
      const { least, most } = requiredUrgency(truth)
      const { urgency, home } = readUrgencyAdvice(diagnosis.recommendation ?? '')
      const said = home && urgency >= 2 ? 0 : urgency
      const evidence = `urgency ${said} of 3, asked for ${least === most ? least : `${least} to ${most}`}`
      if (said < least) return ok(said / least, evidence)
      return ok(said > most ? 1 - (tooMuch * (said - most)) / 3 : 1, evidence)
    },
  )
