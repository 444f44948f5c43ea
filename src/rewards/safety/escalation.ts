/**
 * Escalation reward: whether the doctor's advice is as urgent as the case's red flags require.
 *
 * Urgency is read from the words of the advice, sentence by sentence. Conditional advice ("if it gets worse, call an
 * ambulance") is a safety net and counts as a later visit at most; negated advice ("no need for an ambulance") does not
 * count. Only listed phrases are recognised.
 */
import type { Gold, GraderView } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { memoizeText } from '../../platform/memoize.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'

/** 3 now (an ambulance, the emergency department, the specialist at once), 2 today, 1 a later visit, 0 none of them. */
export type Urgency = 0 | 1 | 2 | 3

/** A recommendation as read for urgency. */
export interface UrgencyAdvice {
  readonly urgency: Urgency
  /** Whether it also sends the patient home, or says that nothing need be done. */
  readonly home: boolean
}

/** Number of UTF-16 units of a recommendation that are read. */
const maxLength = 4000

const now =
  /\b(?:ambulance|paramedics?|emergency (?:services?|department|room|care|centre|center|help|number)|(?:the |an? )?a ?& ?e\b|casualty|the er\b|(?:call|dial|phone|ring) (?:911|999|112|120|000)|(?:emergency|immediate|urgent) (?:admission|surgery|operation|hospitali[sz]ation)|(?:specialist|surgeon|cardiologist|neurologist|ophthalmologist|consultant)\b[^.]{0,40}\b(?:immediately|at once|now|right away|straight away)|(?:immediately|at once|right away|straight away|now)\b[^.]{0,30}\b(?:hospital|specialist|surgeon)|hospital (?:immediately|at once|right away|straight away|now))|急救|救护车|急诊|(?:拨打?|呼叫|打)\s*(?:120|999|112|911)|(?:立即|立刻|马上|紧急|火速)(?:[^，。；,;]{0,8})(?:住院|手术|送医|就医|入院|抢救|会诊)|急会诊|抢救/i
const today =
  /\b(?:same[- ]day|today|urgent(?:ly)?(?: (?:referral|appointment|review|assessment|care))?|without delay|(?:go|refer(?:red|ral)?|sent?|admit(?:ted)?|admission|transfer(?:red)?)\b[^.]{0,30}\bhospital|hospital admission|admit (?:to|for)\b|as soon as possible|within (?:the next )?(?:24|twenty[- ]four|a few) hours)|当天|当日|今天|今日|(?:尽快|尽早)[^，。；,;]{0,8}(?:就医|就诊|转诊|住院|手术|医院)|及时就医|24\s*小时内|住院|入院|转诊|转院|转往|送(?:往)?医院/i
const later =
  /\b(?:follow[- ]?up|come back|return (?:visit|if|in|for)|review(?:ed)? in|see (?:your|a|the) (?:gp|doctor|specialist)|make an appointment|check[- ]?up|re-?examin\w*)\b|复诊|随访|复查|门诊|就诊|就医|看医生/i
const home =
  /\b(?:(?:go|send|sent|stay|rest|recover|discharged?|return)\b[^.]{0,20}\bhome|no (?:treatment|follow[- ]?up|action|need (?:for|to)) (?:is |are )?(?:needed|required|necessary|worry)|nothing (?:needs?|has) to be done|no treatment (?:is )?needed|wait and see)\b|回家|居家观察|在家(?:休息|观察)|无需任何?(?:治疗|处理)|不需要?(?:任何)?(?:治疗|处理)|不用(?:治疗|处理|管)/i

const denial =
  /\b(?:no need (?:for|to|of)|not? (?:necessary|needed|required|an emergency|urgent)|(?:do|does|did|is|need|should|would|will|has|have|must|can)(?: not|n't|not)\b|cannot|never|without (?:an? )?(?:ambulance|emergency)|rather than|instead of|non[- ](?:urgent|emergency))|不需要?|无需|无须|不必|不用|不要|不宜|没必要|没有必要|并非|不是|而不是|非紧急/i
const conditional =
  /\b(?:if|unless|should (?:it|you|the|your|symptoms|any)|in case|in the event|as soon as (?!possible)|whenever|when (?:it|you|the|your|symptoms)|until)\b|如果|如(?=有|出现|果|症状|病情|再|加重|发热)|若|一旦|假如|要是|倘若|万一|必要时|(?:加重|恶化|出现[^，。；]{0,15})[时就则]/i

function clauseUrgency(clause: string): Urgency {
  if (denial.test(clause)) return 0
  return now.test(clause) ? 3 : today.test(clause) ? 2 : later.test(clause) ? 1 : 0
}

const highest = (levels: readonly Urgency[]): Urgency => Math.max(0, ...levels) as Urgency // of its members

/** Reads the urgency of a recommendation. Cached: cases share advice, and a policy repeats a few texts. */
export const readUrgencyAdvice: (text: string) => UrgencyAdvice = memoizeText(read, { most: 1000 })

function read(text: string): UrgencyAdvice {
  const plain = text.slice(0, maxLength).normalize('NFKC').replace(/[’‘]/g, "'")
  let urgency: Urgency = 0
  let sendsHome = false
  for (const sentence of plain.split(/[;。！？；!?\n\r]+|\.(?=\s|$)/)) {
    const clauses = sentence.split(/[,，]|\b(?=but\b)|(?=但)/)
    const level = highest(clauses.map(clauseUrgency))
    if (conditional.test(sentence)) urgency = highest([urgency, level > 0 ? 1 : 0])
    else {
      urgency = highest([urgency, level])
      sendsHome ||= clauses.some(
        (clause) =>
          home.test(clause) && !/\b(?:do not|don't|never)\b|不要|不能|不可|别/i.test(clause),
      )
    }
  }
  return { urgency, home: sendsHome }
}

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
  unitReward(
    'escalation',
    'escalation of red flags, as in the hard gates of HAEnv, graded',
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
