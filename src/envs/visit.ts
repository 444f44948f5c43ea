/** A consultation under way, as a value: what the patient, the examiner and the doctor have heard, and how a turn goes. */
import type { Case, DoctorView, ExaminerView, PatientView } from '../case.js'
import { examinerView, graderView, patientView } from '../case.js'
import type { Info, Observation, Step } from '../env.js'
import { termination, transition, truncation } from '../env.js'
import type { Draw, Episode, EpisodeTurn } from '../episode.js'
import { encodeDraw, finishedEpisode } from '../episode.js'
import { rethrowAsFault } from '../error.js'
import type { AnyExamSimulator, PastReport } from '../exam.js'
import type { Exchange, Patient } from '../patient.js'
import { copyPlain } from '../platform/copy-plain.js'
import { deepFreeze } from '../platform/freeze.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import type { Reward } from '../reward.js'
import { uniformInt } from '../seed.js'
import type { Action, Language, Stop, Turn } from '../turn.js'
import { noFacts } from '../turn.js'
import { parseReply } from './edge.js'
import { placeOrder, type TurnResult } from './order.js'

/** Most actions of an episode: a number, or the least and the most of those that episodes draw. */
export type TurnLimit = number | readonly [least: number, most: number]

/** What is the same in all visits of an env. */
export interface VisitSettings {
  readonly patient: Patient
  readonly examine: AnyExamSimulator
  readonly reward?: Reward | undefined
  readonly pay: 'end' | 'turn'
  readonly language: Language
  readonly intake: (truth: Case) => DoctorView
  /** The least and the most actions that a visit may draw as its limit. */
  readonly turns: readonly [least: number, most: number]
  readonly budget: Observation['budget']
  readonly minutesPerQuestion: number
  readonly unknownOrderMoney: number
  /** Unreadable replies in a row that end the episode. */
  readonly maxInvalid: number
}

/** State of an episode; a turn makes a new one and never changes it. */
export interface Visit {
  readonly truth: Case
  readonly seed: number
  readonly maxTurns: number
  /** What the steps so far were paid. */
  readonly paid: number
  readonly intake: DoctorView
  readonly patient: PatientView
  readonly examiner: ExaminerView
  readonly dialogue: readonly Exchange[]
  readonly reports: readonly PastReport[]
  readonly turns: readonly Turn[]
  readonly recorded: readonly EpisodeTurn[]
  readonly spent: { readonly money: number; readonly minutes: number }
  /** Unreadable replies in a row. */
  readonly invalid: number
}

/** What the doctor sees. */
export const observeVisit = ({ language, budget }: VisitSettings, visit: Visit): Observation => ({
  intake: visit.intake,
  turns: visit.turns,
  turnsLeft: visit.maxTurns - visit.turns.length,
  spent: visit.spent,
  budget,
  language,
})

async function ask(
  { patient, language, minutesPerQuestion }: VisitSettings,
  { patient: view, dialogue, seed }: Visit,
  utterance: string,
  signal: AbortSignal | undefined,
): Promise<TurnResult> {
  const context = { view, dialogue, seed, language, signal }
  const given = await rethrowAsFault('component-failed', 'patient', () =>
    patient(utterance, context),
  )
  const reply = parseReply(given)
  const { understood, questions, asked, told, unread, wording, flags } = reply
  const cost = { money: 0, minutes: minutesPerQuestion }
  const model = withoutUndefined({ unread, wording, flags })
  return {
    outcome: { kind: 'answered', text: reply.text },
    facts: { understood, questions, asked, told, exams: [], ...cost, ...model },
    exchange: { utterance, reply },
    ...(reply.sample ? { drawn: [{ role: 'patient', sample: reply.sample }] } : {}),
  }
}

function carryOut(
  settings: VisitSettings,
  visit: Visit,
  action: Action,
  signal: AbortSignal | undefined,
): TurnResult | Promise<TurnResult> {
  switch (action.kind) {
    case 'ask':
      return ask(settings, visit, action.text, signal)
    case 'order':
      return placeOrder(settings, visit, action.exam, signal)
    case 'invalid': {
      const facts = { ...noFacts, minutes: settings.minutesPerQuestion }
      return { outcome: { kind: 'rejected', text: action.why }, facts }
    }
    case 'diagnose':
    case 'give-up':
      return { outcome: { kind: 'closed' }, facts: noFacts }
  }
}

/** The draws of a turn, each in the token stream of its role. */
function encodeDraws(visit: Visit, drawn: TurnResult['drawn']): readonly Draw[] {
  if (!drawn) return []
  const before = visit.recorded.flatMap(({ draws }) => draws ?? [])
  const draws: Draw[] = []
  for (const { role, sample } of drawn)
    draws.push(encodeDraw([...before, ...draws], role, sample, role))
  return draws
}

/** The visit after one more turn. Written out, since copying members by spreading took a tenth of a turn's time. */
function addTurn(visit: Visit, action: Action, result: TurnResult): Visit {
  const { outcome, facts, exchange, reports = [], drawn } = result
  const { truth, seed, maxTurns, paid, intake, patient, examiner, spent } = visit
  const draws = encodeDraws(visit, drawn)
  const recorded = draws.length > 0 ? { action, outcome, facts, draws } : { action, outcome, facts }
  // Frozen here, so that to freeze an observation is not to go through all its turns again.
  const turn = deepFreeze({ action, outcome })
  return {
    ...{ truth, seed, maxTurns, paid, intake, patient, examiner },
    dialogue: exchange ? [...visit.dialogue, exchange] : visit.dialogue,
    reports: reports.length > 0 ? [...visit.reports, ...reports] : visit.reports,
    turns: Object.freeze([...visit.turns, turn]),
    recorded: [...visit.recorded, recorded],
    spent: { money: spent.money + facts.money, minutes: spent.minutes + facts.minutes },
    invalid: action.kind === 'invalid' ? visit.invalid + 1 : 0,
  }
}

function stopAfter(settings: VisitSettings, visit: Visit, { kind }: Action): Stop | undefined {
  if (kind === 'diagnose') return 'diagnosed'
  if (kind === 'give-up') return 'gave-up'
  if (visit.invalid >= settings.maxInvalid) return 'invalid-action'
  if (visit.turns.length >= visit.maxTurns) return 'max-turns'
  if (visit.spent.minutes >= settings.budget.minutes) return 'budget'
  return undefined
}

/** The episode that a visit is when it ends here. */
function episodeOf({ language, budget }: VisitSettings, visit: Visit, stop: Stop): Episode {
  const { truth, seed, maxTurns, intake, recorded: turns, spent } = visit
  const ended = { caseId: truth.id, seed, language, intake, turns, stop, maxTurns, spent, budget }
  return deepFreeze(finishedEpisode(ended))
}

/** What the last turn of a visit that goes on is worth, in an env that pays by turn. */
async function turnWorth(
  settings: VisitSettings,
  visit: Visit,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { pay, reward } = settings
  if (pay === 'end' || !reward) return 0
  // As if it ended here without a diagnosis: what a turn is worth depends on it and those before it.
  const episode = episodeOf(settings, visit, 'max-turns')
  const { turns } = await reward(episode, graderView(visit.truth), { signal })
  return turns?.at(-1) ?? 0
}

/** The last step, with the finished episode and, in an env with a reward, its score. */
async function lastStep(
  settings: VisitSettings,
  visit: Visit,
  stop: Stop,
  info: Info,
  signal: AbortSignal | undefined,
): Promise<Step> {
  const { reward } = settings
  const episode = episodeOf(settings, visit, stop)
  const score = reward && (await reward(episode, graderView(visit.truth), { signal }))
  const last = { ...info, stop, episode, ...(score ? { score } : {}) }
  const end = episode.end === 'truncated' ? truncation : termination
  // Without a total the number is 0 by necessity; `info.score` says that it is not a score.
  const due = typeof score?.total === 'number' ? score.total - visit.paid : 0
  return end(observeVisit(settings, visit), last, due)
}

/** Starts the visit of one patient. */
export const startVisit = (
  truth: Case,
  seed: number,
  { intake, turns: [least, most] }: Pick<VisitSettings, 'intake' | 'turns'>,
): Visit => ({
  truth,
  seed,
  maxTurns: least + (most > least ? uniformInt(most - least + 1, seed, 'turns') : 0),
  paid: 0,
  intake: copyPlain(intake(truth)),
  patient: patientView(truth),
  examiner: examinerView(truth),
  dialogue: [],
  reports: [],
  turns: [],
  recorded: [],
  spent: { money: 0, minutes: 0 },
  invalid: 0,
})

/** The schema of a saved visit. */
const savedVisit = 'bedside-visit/1'

/** A visit as plain data. The views are left out: they are made of the case. */
export const saveVisit = ({ patient: _, examiner: __, ...state }: Visit): unknown =>
  structuredClone({ schema: savedVisit, ...state })

/** The visit of {@link saveVisit}, which may have been through JSON. @throws TypeError for anything else */
export function restoreVisit(
  saved: unknown,
  settings: Pick<VisitSettings, 'intake' | 'turns'>,
): Visit {
  const { schema, ...state } = Object(saved) as Visit & { readonly schema?: unknown }
  if (schema !== savedVisit)
    throw new TypeError(`Expected a saved visit (${savedVisit}), got \`${schema}\``)
  const own = structuredClone(state)
  return { ...startVisit(own.truth, own.seed, settings), ...deepFreeze(own) }
}

/** The info after the visit's last turn. */
export const visitInfo = ({ truth, seed, recorded }: Visit): Info => {
  const last = recorded.at(-1)
  return { caseId: truth.id, seed, ...(last ? { facts: last.facts } : {}) }
}

/** Takes one action. @throws Fault where the patient, the examination or the reward fails */
export async function takeTurn(
  settings: VisitSettings,
  before: Visit,
  action: Action,
  signal: AbortSignal | undefined,
): Promise<{ readonly state: Visit; readonly step: Step }> {
  const result = await carryOut(settings, before, action, signal)
  const after = addTurn(before, action, result)
  const info = visitInfo(after)
  const stop = stopAfter(settings, after, action)
  if (stop) return { state: after, step: await lastStep(settings, after, stop, info, signal) }
  const worth = await turnWorth(settings, after, signal)
  const step = transition(observeVisit(settings, after), info, worth)
  return { state: worth === 0 ? after : { ...after, paid: after.paid + worth }, step }
}
