/**
 * The worlds a setting can be put in: consultations of the knowledge base, consultations of a case file, questions
 * of a case file. With `setting.ts` one of the composition roots.
 */
import type { Budget } from '../agents/bayesian.js'
import { huatuo } from '../agents/grammars/huatuo.js'
import { labelled } from '../agents/grammars/labelled.js'
import { recordedDoctor } from '../agents/recorded.js'
import type { Case } from '../case.js'
import { primaryDiagnosis, textInLanguage } from '../case.js'
import { caseSource } from '../cases/generator/generate.js'
import { mineActionSpace } from '../cases/importers/mine-action-space.js'
import { splitCases } from '../cases/split.js'
import type { Env } from '../env.js'
import { consultation } from '../envs/consultation.js'
import { recordExams } from '../envs/exams/record.js'
import { recordPatient } from '../envs/patients/recorded/record.js'
import { rulePatient } from '../envs/patients/rule.js'
import { question } from '../envs/question.js'
import { Fault } from '../error.js'
import type { Yardstick } from '../evaluation/report.js'
import { logProbabilityGains } from '../inference/belief-trace.js'
import type { PosteriorOptions } from '../inference/posterior.js'
import { getPosterior } from '../inference/posterior.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import { actionSpace as actionSpaceOf, knowledgeActionSpace } from '../knowledge/action-space.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Tier, TierName } from '../knowledge/tiers.js'
import { tiers } from '../knowledge/tiers.js'
import type { Reward } from '../reward.js'
import { diagnosisAccuracy } from '../rewards/outcome/diagnosis-accuracy.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { verifiedAnswer } from '../rewards/outcome/verified-answer.js'
import type { Action, Language } from '../turn.js'
import type { MakeDoctor } from './agents.js'
import { doctorsOf, plainDoctors } from './agents.js'
import type { NamedRoles, Roles } from './parts.js'

/** Where cases come from. */
export interface CaseOptions {
  /** A case file instead of the generator. */
  readonly file?: string
  readonly seed?: number
  /** @default 400 */
  readonly heldOut?: number
  /** Share of a file's cases that are held out. @default 0.2 */
  readonly heldOutShare?: number
  /** Takes every case of a file for both splits: for a doctor that learned from none of them. @default false */
  readonly whole?: boolean
}

/** What depends on where the cases come from and what is done with them. */
export interface TaskKind {
  readonly actionSpace: ActionSpace
  /** The n-th training case. */
  readonly caseAt: (n: number) => Case
  readonly heldOut: readonly Case[]
  /** Training cases, for generated settings drawn afresh. */
  readonly train: (count: number) => readonly Case[]
  /** Every doctor that can be had here, by name. */
  readonly agents: Readonly<Record<string, MakeDoctor>>
  /** What a knowledge base behind the cases can tell of them; absent where there is none. */
  readonly yardstick?: Yardstick
  /** Actions a doctor has in it. */
  readonly maxTurns: number
  /** The name of the strongest of `agents`. */
  readonly ceiling: string
  /** Whether a doctor is right. */
  readonly accuracy: Reward
  /** Who can be met here, by name; absent where the doctor meets nobody (questions). */
  readonly roles?: NamedRoles
  readonly envOf: (reward: Reward, roles?: Partial<Roles>) => Env
}

/** What every world is made with. */
export interface TaskInputs {
  readonly knowledge: Knowledge
  readonly language: Language
  readonly budget: Budget
}

type Cases = Pick<TaskKind, 'caseAt' | 'heldOut' | 'train'>

const counted = (count: number, make: (n: number) => Case): readonly Case[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** A consultation within the grounds' budget. */
function consulting(
  { language, budget: { turns: maxTurns, money, minutes } }: TaskInputs,
  { heldOut }: Cases,
  { usual, roles }: { readonly usual: Roles; readonly roles: NamedRoles },
): Pick<TaskKind, 'maxTurns' | 'accuracy' | 'envOf' | 'roles'> {
  return {
    maxTurns,
    accuracy: diagnosisAccuracy(),
    roles,
    envOf: (reward, { patient = usual.patient, exams = usual.exams } = {}) =>
      consultation({
        cases: heldOut,
        ...{ patient, exams, reward, language, maxTurns, money, minutes },
        grammar: labelled(),
      }),
  }
}

/** Consultations of cases that the knowledge base generated, with all the doctors who know it. */
function known(grounds: TaskInputs, knobs: PosteriorOptions, cases: Cases): TaskKind {
  const { knowledge, language, budget } = grounds
  const actionSpace = knowledgeActionSpace(knowledge, language)
  const agents = doctorsOf({ knowledge, knobs, actionSpace, budget })
  const [patient, exams] = [rulePatient({ knowledge }), recordExams({ knowledge })]
  return {
    ...{ ...cases, actionSpace, agents, ceiling: 'oracle' },
    ...consulting(grounds, cases, {
      usual: { patient, exams: [exams] },
      roles: { patient: { rule: patient }, exams: { record: exams } },
    }),
    yardstick: {
      bound: () => agents['full-information']({}),
      gained: (episode, truth) =>
        logProbabilityGains(knowledge, getPosterior(knowledge, knobs), episode, truth),
    },
  }
}

/** Consultations of generated cases, held out and for training. */
export function generatedTask(
  grounds: TaskInputs,
  tier: TierName,
  { seed = 0, heldOut = 400 }: CaseOptions,
): TaskKind {
  const of = (split: 'train' | 'heldout') => caseSource(grounds.knowledge, { tier, split, seed })
  const caseAt = of('train')
  const train = (wanted: number) => counted(wanted, caseAt)
  return known(grounds, tiers[tier], { caseAt, train, heldOut: counted(heldOut, of('heldout')) })
}

/** The tier a file's cases were generated at, as the oracle must know; `standard` where they do not say. */
export function tierOf(cases: readonly Case[]): Tier {
  const named = cases[0]?.difficulty?.tier
  return Object.entries(tiers).find(([name]) => name === named)?.[1] ?? tiers.standard
}

/** A file's cases by split. @throws Fault `bad-input` where a split would be empty */
function splitOf(
  cases: readonly Case[],
  { file, seed = 0, heldOutShare = 0.2, heldOut: most, whole = false }: CaseOptions,
): Cases & { readonly all: readonly Case[] } {
  const split = whole
    ? { train: cases, heldout: cases }
    : splitCases(cases, { seed, heldout: heldOutShare })
  const heldOut = most === undefined ? split.heldout : split.heldout.slice(0, most)
  const { train: all } = split
  if (all.length === 0 || heldOut.length === 0)
    throw new Fault(
      'bad-input',
      `${file}: expected enough cases for a training and a held-out split, got ${all.length} and ${heldOut.length}`,
    )
  return {
    ...{ all, heldOut },
    caseAt: (n) => all[n % all.length] as Case, // not empty, checked above
    train: (count) => all.slice(0, count),
  }
}

/**
 * Consultations of a file's cases, recorded or generated.
 * @throws Fault `bad-input` for too few cases
 */
export function fileTask(
  cases: readonly Case[],
  grounds: TaskInputs,
  options: CaseOptions,
): TaskKind {
  const { all, ...split } = splitOf(cases, options)
  if (!cases.some((truth) => truth.findings.some((finding) => finding.question)))
    return known(grounds, tierOf(cases), split)
  const actionSpace = mineActionSpace(all, { language: grounds.language })
  const patient = recordPatient()
  return {
    ...{ ...split, actionSpace, ceiling: 'recorded' },
    agents: { ...plainDoctors(actionSpace), recorded: () => recordedDoctor(cases) },
    ...consulting(grounds, split, {
      usual: { patient, exams: [] },
      roles: { patient: { record: patient }, exams: {} },
    }),
  }
}

/**
 * Questions of a file's cases. Its random doctor gives one of the training answers, all equally likely; its
 * `reference` gives the reference answer, so that what the ceiling earns is what the verifier makes of that.
 * @throws Fault `bad-input` for too few cases
 */
export function questionTask(
  cases: readonly Case[],
  { knowledge, language }: Pick<TaskInputs, 'knowledge' | 'language'>,
  options: CaseOptions,
): TaskKind {
  const { all, ...split } = splitOf(cases, options)
  const answers = new Set(
    all.map(({ gold }) => textInLanguage(primaryDiagnosis(gold).name, language)),
  )
  const actionSpace = actionSpaceOf(
    language,
    [...answers].map((diagnosis): Action => ({ kind: 'diagnose', diagnosis })),
  )
  return {
    ...{ ...split, actionSpace, maxTurns: 1, ceiling: 'reference' },
    agents: { random: plainDoctors(actionSpace).random, reference: () => recordedDoctor(cases) },
    accuracy: verifiedAnswer({ formulary: formularyOf(knowledge) }),
    envOf: (reward) => question({ cases: split.heldOut, reward, language, grammar: huatuo() }),
  }
}
