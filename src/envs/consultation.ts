/**
 * The consultation: one doctor, one patient, examinations, a budget, and one diagnosis at the end.
 *
 * Its cases, patient and exam simulators, and optionally a reward and a grammar, are options. It keeps no state between
 * episodes and draws nothing itself but the case.
 */
import type { Grammar } from '../agent.js'
import type { Case, ExaminerView, PatientView } from '../case.js'
import { doctorView, examinerView, graderView, patientView } from '../case.js'
import type { Env, Info, Observation, ResetOptions, Step } from '../env.js'
import { termination, transition, truncation } from '../env.js'
import { type EpisodeTurn, finishedEpisode } from '../episode.js'
import { rethrowAsFault } from '../error.js'
import { combineExamSimulators, type ExamSimulator, type PastReport } from '../exam.js'
import type { TierName } from '../knowledge/tiers.js'
import type { Exchange, Patient } from '../patient.js'
import type { Reward } from '../reward.js'
import { uniformInt } from '../seed.js'
import type { Action, Language, OrderStatus, Outcome, Stop, Turn, TurnFacts } from '../turn.js'
import { noFacts } from '../turn.js'
import { checkOptions, consultationRules, type OptionRules } from './options.js'

/** A list of cases, or a function that makes the n-th one. */
export type CaseSource = readonly Case[] | ((n: number) => Case)

/** Options of `consultation`. */
export interface ConsultationOptions {
  /** `reset` draws from a list by its seed, and asks a function for case number `seed`. */
  readonly cases: CaseSource
  readonly patient: Patient
  /** Exam simulators, tried in order; the first that knows an order carries it out. @default none: all are unknown */
  readonly exams?: readonly ExamSimulator[]
  /** Gives the reward of the last step. @default none: every reward is 0 */
  readonly reward?: Reward
  /** Parses text actions. @default none: only structured actions are accepted */
  readonly grammar?: Grammar
  /** Language of observations and replies. @default 'en' */
  readonly language?: Language
  /** Actions per episode, including the diagnosis. @default 10 */
  readonly maxTurns?: number
  /** Money units for examinations. @default 1000 */
  readonly money?: number
  /** Minutes the whole consultation may take. @default 2880 */
  readonly minutes?: number
  /** Minutes one question takes. @default 1 */
  readonly minutesPerQuestion?: number
  /** Money for an order that no simulator knows; at most what is left. @default 5 */
  readonly unknownOrderMoney?: number
  /** Unreadable replies in a row that end the episode. @default 2 */
  readonly maxInvalid?: number
}

/** Options of `make('consultation', …)`; every one has a default. */
export interface MakeConsultationOptions extends Partial<ConsultationOptions> {
  /** Difficulty of the generated cases, with its turn limit and budget. @default 'easy' */
  readonly tier?: TierName
  /** Disease groups the knowledge base is reduced to. @default all */
  readonly clinic?: readonly string[]
  /** @default 'train' */
  readonly split?: 'train' | 'heldout'
  /** Seeds the case generator; `reset`'s seed chooses the case. @default 0 */
  readonly caseSeed?: number
}

/** What `reset` accepts as `options`: the case to play, instead of drawing one. */
export interface ConsultationReset {
  readonly case?: Case
}

type TurnResult = { readonly outcome: Outcome; readonly facts: TurnFacts }

const words = {
  unknownExam: {
    en: (order: string) => `There is no examination called "${order}" here.`,
    zh: (order: string) => `这里没有“${order}”这项检查。`,
  },
  tooExpensive: {
    en: (left: number) => `That costs more than the ${left} left in the budget.`,
    zh: (left: number) => `费用超出剩余预算（${left}）。`,
  },
  tooLong: {
    en: (left: number) => `That takes longer than the ${left} minutes left.`,
    zh: (left: number) => `所需时间超出剩余的${left}分钟。`,
  },
} as const

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** State of one running episode. */
interface Visit {
  readonly truth: Case
  readonly seed: number
  readonly patient: PatientView
  readonly examiner: ExaminerView
  readonly dialogue: Exchange[]
  readonly reports: PastReport[]
  turns: readonly Turn[]
  readonly recorded: EpisodeTurn[]
  money: number
  minutes: number
  invalid: number
  over: boolean
}

/** Complete, by its type. */
const rules: OptionRules<ConsultationOptions> = consultationRules

/**
 * Makes a consultation env; one env plays one episode at a time.
 * @throws TypeError or RangeError, with the value, for an option that does not exist or cannot be
 */
// Long because the steps of an episode share the env's options and state.
export function consultation(options: ConsultationOptions): Env {
  checkOptions('a consultation', options, rules)
  const { cases, patient, reward, grammar, language = 'en' } = options
  const examine = combineExamSimulators(...(options.exams ?? []))
  const { maxTurns = 10, money = 1000, minutes = 2880, maxInvalid = 2 } = options
  const { minutesPerQuestion = 1, unknownOrderMoney = 5 } = options
  const budget = { money, minutes }
  let visit: Visit | undefined

  const observe = (v: Visit): Observation => ({
    intake: doctorView(v.truth),
    turns: v.turns,
    turnsLeft: maxTurns - v.turns.length,
    spent: { money: v.money, minutes: v.minutes },
    budget,
    language,
  })

  const ask = async (v: Visit, text: string, signal?: AbortSignal): Promise<TurnResult> => {
    const context = { view: v.patient, dialogue: v.dialogue, seed: v.seed, language, signal }
    const reply = await rethrowAsFault('component-failed', 'patient', () => patient(text, context))
    v.dialogue.push({ utterance: text, reply })
    return {
      outcome: { kind: 'answered', text: reply.text },
      facts: {
        understood: reply.understood,
        questions: reply.questions,
        asked: reply.asked,
        told: reply.told,
        exams: [],
        money: 0,
        minutes: minutesPerQuestion,
      },
    }
  }

  const order = async (v: Visit, exam: string, signal?: AbortSignal): Promise<TurnResult> => {
    const left = { money: budget.money - v.money, minutes: budget.minutes - v.minutes }
    const context = {
      view: v.examiner,
      done: v.reports,
      now: v.minutes,
      seed: v.seed,
      language,
      signal,
    }
    const report = await rethrowAsFault('component-failed', 'exam simulator', () =>
      examine(exam, context),
    )
    const refuse = (ordered: OrderStatus, text: string, money = 0): TurnResult => ({
      outcome: { kind: 'rejected', text },
      facts: { ...noFacts, ordered, money, minutes: minutesPerQuestion },
    })
    if (!report)
      return refuse(
        'unknown',
        words.unknownExam[language](cut(exam)),
        Math.min(unknownOrderMoney, left.money),
      )
    if (report.money > left.money)
      return refuse('refused', words.tooExpensive[language](left.money))
    if (report.minutes > left.minutes)
      return refuse('refused', words.tooLong[language](left.minutes))
    const { status, exams, told, money, minutes, invasiveness = 0 } = report
    v.reports.push({ ...report, at: v.minutes + minutes })
    return {
      outcome: { kind: 'examined', text: report.text },
      facts: { asked: [], told, ordered: status, exams, invasiveness, money, minutes },
    }
  }

  const carryOut = (
    v: Visit,
    action: Action,
    signal?: AbortSignal,
  ): TurnResult | Promise<TurnResult> => {
    switch (action.kind) {
      case 'ask':
        return ask(v, action.text, signal)
      case 'order':
        return order(v, action.exam, signal)
      case 'invalid':
        return {
          outcome: { kind: 'rejected', text: action.why },
          facts: { ...noFacts, minutes: minutesPerQuestion },
        }
      case 'diagnose':
      case 'give-up':
        return { outcome: { kind: 'closed' }, facts: noFacts }
    }
  }

  const stopAfter = (v: Visit, action: Action): Stop | undefined => {
    if (action.kind === 'diagnose') return 'diagnosed'
    if (action.kind === 'give-up') return 'gave-up'
    if (v.invalid >= maxInvalid) return 'invalid-action'
    if (v.turns.length >= maxTurns) return 'max-turns'
    if (v.minutes >= budget.minutes) return 'budget'
    return undefined
  }

  const close = async (v: Visit, stop: Stop, info: Info, signal?: AbortSignal): Promise<Step> => {
    v.over = true
    const episode = finishedEpisode({
      caseId: v.truth.id,
      seed: v.seed,
      language,
      intake: doctorView(v.truth),
      turns: v.recorded,
      stop,
      maxTurns,
      spent: { money: v.money, minutes: v.minutes },
      budget,
    })
    const score = reward && (await reward(episode, graderView(v.truth), { signal }))
    const last = { ...info, stop, episode, ...(score ? { score } : {}) }
    // Without a total the number is 0 by necessity; `info.score` says that it is not a score.
    return (episode.end === 'truncated' ? truncation : termination)(
      observe(v),
      last,
      score?.total ?? 0,
    )
  }

  return {
    async reset({ seed = 0, options: chosen }: ResetOptions = {}) {
      if (!Number.isInteger(seed) || seed < 0)
        throw new RangeError(`Expected \`seed\` to be a non-negative integer, got \`${seed}\``)
      // `options` is open in the interface; this env reads only `case`.
      const given = (chosen as ConsultationReset | undefined)?.case
      const truth =
        given ??
        (typeof cases === 'function' ? cases(seed) : cases[uniformInt(cases.length, seed, 'case')])
      if (!truth) throw new RangeError(`Expected a case for seed ${seed}, got none`)
      visit = {
        truth,
        seed,
        patient: patientView(truth),
        examiner: examinerView(truth),
        dialogue: [],
        reports: [],
        turns: [],
        recorded: [],
        money: 0,
        minutes: 0,
        invalid: 0,
        over: false,
      }
      return { observation: observe(visit), info: { caseId: truth.id, seed } }
    },

    async step(given, { signal } = {}) {
      const v = visit
      if (!v) throw new TypeError('Expected reset() before step(), got step() first')
      if (v.over) throw new TypeError('Expected reset() after the end of an episode, got step()')
      signal?.throwIfAborted()
      if (typeof given === 'string' && !grammar)
        throw new TypeError(
          'Expected an action object, got text: this env was made without a `grammar`',
        )
      const action = typeof given === 'string' ? (grammar as Grammar).parse(given) : given
      const { outcome, facts } = await carryOut(v, action, signal)
      signal?.throwIfAborted()
      const turn = { action, outcome }
      v.turns = [...v.turns, turn]
      v.recorded.push({ ...turn, facts })
      v.money += facts.money
      v.minutes += facts.minutes
      v.invalid = action.kind === 'invalid' ? v.invalid + 1 : 0
      const stop = stopAfter(v, action)
      const info: Info = { caseId: v.truth.id, seed: v.seed, facts }
      return stop ? close(v, stop, info, signal) : transition(observe(v), info)
    },

    async close() {
      visit = undefined
    },

    [Symbol.asyncDispose]() {
      return this.close()
    },
  }
}
