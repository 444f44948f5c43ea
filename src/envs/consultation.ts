/**
 * The consultation: one doctor, one patient, examinations, a budget, and one diagnosis at the end.
 *
 * Its cases, patient and exam simulators, and optionally a reward and a grammar, are options. It keeps no state between
 * episodes and draws nothing itself but the case.
 */
import type { Grammar } from '../agent.js'
import { type Case, type DoctorView, doctorView } from '../case.js'
import { type Env, type Info, type Observation, transition } from '../env.js'
import { type AnyExamSimulator, combineExamSimulators } from '../exam.js'
import type { TierName } from '../knowledge/tiers.js'
import type { Patient } from '../patient.js'
import type { Reward } from '../reward.js'
import { uniformInt } from '../seed.js'
import type { Action, Language } from '../turn.js'
import { parseAction } from './edge.js'
import { checkOptions, consultationRules, type OptionRules } from './options.js'
import { transactional } from './transaction.js'
import {
  observeVisit,
  restoreVisit,
  saveVisit,
  startVisit,
  type TurnLimit,
  takeTurn,
  type Visit,
  type VisitSettings,
  visitInfo,
} from './visit.js'

/** A list of cases, or a function that makes the n-th one. */
export type CaseSource = readonly Case[] | ((n: number) => Case)

/** Options of `consultation`. */
export interface ConsultationOptions {
  /** `reset` draws from a list by its seed, and asks a function for case number `seed`. */
  readonly cases: CaseSource
  readonly patient: Patient
  /** Exam simulators, asked in order until one has a result. @default none: all orders are unknown */
  readonly exams?: readonly AnyExamSimulator[]
  /** Gives the reward of the last step. @default none: every reward is 0 */
  readonly reward?: Reward
  /** Parses text actions. @default none: only structured actions are accepted */
  readonly grammar?: Grammar
  /** Language of observations and replies. @default 'en' */
  readonly language?: Language
  /** What the doctor knows before the first turn. @default demographics and complaint */
  readonly intake?: (truth: Case) => DoctorView
  /**
   * Actions per episode, including the diagnosis: a number, or the least and the most, between which each episode draws
   * its own by its seed. Siblings have the same seed, and so the same number. @default 10
   */
  readonly maxTurns?: TurnLimit
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
  /**
   * When the reward is paid: with the last step, or with each step what its turn is worth, for a reward that scores
   * turns (`Score.turns`), and the rest with the last one. A reward is then asked after every turn. @default 'end'
   */
  readonly pay?: 'end' | 'turn'
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

/** Complete, by its type. */
const rules: OptionRules<ConsultationOptions> = consultationRules

/** The options with their defaults. */
function readOptions(options: ConsultationOptions): VisitSettings {
  checkOptions('a consultation', options, rules)
  const { patient, exams = [], reward, language = 'en', money = 1000, minutes = 2880 } = options
  const { maxTurns = 10, minutesPerQuestion = 1, unknownOrderMoney = 5, maxInvalid = 2 } = options
  const { pay = 'end', intake = doctorView } = options
  return {
    ...{
      patient,
      reward,
      pay,
      intake,
      language,
      minutesPerQuestion,
      unknownOrderMoney,
      maxInvalid,
    },
    turns: typeof maxTurns === 'number' ? [maxTurns, maxTurns] : maxTurns,
    examine: combineExamSimulators(...exams),
    budget: Object.freeze({ money, minutes }),
  }
}

/**
 * Makes a consultation env; one env plays one episode at a time.
 * @throws TypeError or RangeError, with the value, for an option that does not exist or cannot be
 */
export function consultation(options: ConsultationOptions): Env {
  const settings = readOptions(options)
  const { cases, grammar } = options
  const draw = (seed: number): Case | undefined =>
    typeof cases === 'function' ? cases(seed) : cases[uniformInt(cases.length, seed, 'case')]
  return transactional<Visit, Observation, Action, Info, Action | string>({
    begin(seed, chosen) {
      // `options` is open in the interface; this env reads only `case`.
      const truth = (chosen as ConsultationReset | undefined)?.case ?? draw(seed)
      if (!truth) throw new RangeError(`Expected a case for seed ${seed}, got none`)
      const state = startVisit(truth, seed, settings)
      return { state, observation: observeVisit(settings, state), info: visitInfo(state) }
    },
    save: saveVisit,
    restore(saved) {
      const state = restoreVisit(saved, settings)
      const [observation, info] = [observeVisit(settings, state), visitInfo(state)]
      const action = state.turns.at(-1)?.action
      const last = action && { action, step: transition(observation, info) }
      return { state, steps: state.turns.length, last, observation, info }
    },
    parse(action) {
      if (typeof action !== 'string') return parseAction(action)
      if (grammar) return parseAction(grammar.parse(action))
      throw new TypeError(
        'Expected an action object, got text: this env was made without a `grammar`',
      )
    },
    advance: (visit, action, signal) => takeTurn(settings, visit, action, signal),
  })
}
