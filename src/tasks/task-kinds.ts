/** The kinds of task: consultations of generated cases, consultations of a case file, questions of a case file. */
import type { Budget } from '../agents/bayesian.js'
import { chartReader } from '../agents/chart-reader.js'
import { firstDiagnosis } from '../agents/checklist.js'
import { huatuo } from '../agents/grammars/huatuo.js'
import { labelled } from '../agents/grammars/labelled.js'
import { namedGrammar } from '../agents/grammars/named.js'
import { recordedDoctor } from '../agents/recorded.js'
import { type Case, primaryDiagnosis, textInLanguage } from '../case.js'
import { mineActionSpace } from '../cases/importers/mine-action-space.js'
import type { Env } from '../env.js'
import { consultation } from '../envs/consultation.js'
import { knowledgeExams, recordExams } from '../envs/exams/record.js'
import { intakeWithHistory } from '../envs/history-notes.js'
import { recordPatient } from '../envs/patients/recorded/record.js'
import { rulePatient } from '../envs/patients/rule.js'
import { question } from '../envs/question.js'
import type { TurnLimit } from '../envs/visit.js'
import type { Yardstick } from '../evaluation/evaluate.js'
import { logProbabilityGains } from '../inference/belief-trace.js'
import { getPosterior, type PosteriorOptions } from '../inference/posterior.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import { actionSpace as actionSpaceOf, knowledgeActionSpace } from '../knowledge/action-space.js'
import { clinic, type Knowledge } from '../knowledge/knowledge.js'
import { loadKnowledge } from '../knowledge/load.js'
import { type Tier, type TierName, tiers } from '../knowledge/tiers.js'
import type { Reward } from '../reward.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { diagnosisAccuracy } from '../rewards/outcome/partial-credit.js'
import { verifiedAnswer } from '../rewards/outcome/verified-answer.js'
import type { Action, Language } from '../turn.js'
import { knowledgeDoctors, type MakeDoctor, plainDoctors } from './agents.js'
import {
  type CaseOptions,
  type CaseSplits,
  generatedSplits,
  splitFileCases,
} from './case-splits.js'
import type { NamedRoles, Roles } from './parts.js'
import type { PublishedEnv } from './published.js'

/** Parts of a task that depend on its kind: cases, actions, agents, env and accuracy. */
export interface TaskKind extends CaseSplits {
  readonly actionSpace: ActionSpace
  /** Every doctor that can play this task, by name. */
  readonly agents: Readonly<Record<string, MakeDoctor>>
  /** Full-information bound and information gain, from the knowledge base; absent for recorded cases. */
  readonly yardstick?: Yardstick
  /** Most actions of an episode. */
  readonly maxTurns: number
  /** The name of the strongest of `agents`. */
  readonly ceiling: string
  /** Scores whether the final diagnosis or answer is correct. */
  readonly accuracy: Reward
  /** Patients and exam simulators by name; absent for questions, which have neither. */
  readonly roles?: NamedRoles
  /** Opens an env; roles left out are the kind's own. */
  readonly createEnv: (roles?: Partial<Roles>) => Env
}

/** Inputs shared by every kind of task. */
export interface TaskInputs {
  readonly knowledge: Knowledge
  readonly language: Language
  readonly budget: Budget
  /** Most actions of an episode, or the range that each draws from. */
  readonly maxTurns: TurnLimit
  /** The published environment to play in. */
  readonly published?: PublishedEnv
}

/** The package's knowledge base, or the part of it that a clinic sees. @throws RangeError for an unknown group */
export function clinicKnowledge(groups: readonly string[] | undefined): Knowledge {
  const all = loadKnowledge()
  return groups ? clinic(all, groups) : all
}

/** The parts of a consultation task: env within the budget, accuracy, roles. */
function consultationParts(
  { knowledge, language, budget: { turns, money, minutes }, maxTurns, published }: TaskInputs,
  { heldOut }: CaseSplits,
  { usual, roles }: { readonly usual: Roles; readonly roles: NamedRoles },
): Pick<TaskKind, 'maxTurns' | 'accuracy' | 'createEnv' | 'roles'> {
  const more = published && {
    maxInvalid: published.maxInvalid,
    ...(published.history === 'given' ? { intake: intakeWithHistory(knowledge) } : {}),
  }
  return {
    maxTurns: turns,
    accuracy: diagnosisAccuracy(),
    roles,
    createEnv: ({ patient = usual.patient, exams = usual.exams } = {}) =>
      consultation({
        cases: heldOut,
        ...{ patient, exams, language, maxTurns, money, minutes },
        grammar: published ? namedGrammar(published.grammar) : labelled(),
        ...more,
      }),
  }
}

/** The moves of a task: all, but questions where the doctor asks nobody, and orders where nothing is examined. */
function movesOf(all: ActionSpace, published: PublishedEnv | undefined): ActionSpace {
  if (!published) return all
  const { history, exams } = published
  const none = [...(history === 'given' ? ['ask'] : []), ...(exams.length > 0 ? [] : ['order'])]
  return actionSpaceOf(
    all.language,
    all.actions.filter(({ kind }) => !none.includes(kind)),
  )
}

/** Doctors who order nothing. */
const talkers = <T extends Readonly<Record<string, MakeDoctor>>>(doctors: T): T =>
  // The same names with the same kind of factory.
  Object.fromEntries(
    Object.entries(doctors).map(([name, make]): [string, MakeDoctor] => [
      name,
      (options) => make({ ...options, questionsOnly: true }),
    ]),
  ) as T

function knowledgeTask(inputs: TaskInputs, knobs: PosteriorOptions, cases: CaseSplits): TaskKind {
  const { knowledge, language, budget, published } = inputs
  const actionSpace = movesOf(knowledgeActionSpace(knowledge, language), published)
  const doctors = knowledgeDoctors({ knowledge, knobs, actionSpace, budget })
  const agents = published?.exams.length === 0 ? talkers(doctors) : doctors
  const [patient, exams] = [rulePatient({ knowledge }), recordExams({ knowledge })]
  return {
    ...{ ...cases, actionSpace, agents },
    ceiling: 'oracle',
    ...consultationParts(inputs, cases, {
      usual: { patient, exams: published?.exams.length === 0 ? [] : [exams] },
      roles: {
        patient: { rule: patient },
        exams: { record: exams, knowledge: knowledgeExams({ knowledge }) },
      },
    }),
    yardstick: {
      bound: () => agents['full-information']({}),
      informationGain: (episode, truth) =>
        logProbabilityGains(knowledge, getPosterior(knowledge, knobs), episode, truth),
    },
  }
}

/** Task of consultations of generated cases; training cases are generated on demand. */
export function generatedTask(inputs: TaskInputs, tier: TierName, options: CaseOptions): TaskKind {
  return knowledgeTask(inputs, tiers[tier], generatedSplits(inputs.knowledge, tier, options))
}

/** Tier at which a file's cases were generated, needed by the oracle; `standard` where they do not say. */
export function casesTier(cases: readonly Case[]): Tier {
  const named = cases[0]?.difficulty?.tier
  return Object.entries(tiers).find(([name]) => name === named)?.[1] ?? tiers.standard
}

/** Task of consultations of a file's cases, recorded or generated. @throws Fault `bad-input` for too few cases */
export function fileTask(
  cases: readonly Case[],
  inputs: TaskInputs,
  options: CaseOptions,
): TaskKind {
  const { all, ...split } = splitFileCases(cases, options)
  if (!cases.some((truth) => truth.findings.some((finding) => finding.question)))
    return knowledgeTask(inputs, casesTier(cases), split)
  const actionSpace = mineActionSpace(all, { language: inputs.language })
  const patient = recordPatient()
  return {
    ...{ ...split, actionSpace, ceiling: 'recorded' },
    agents: {
      ...plainDoctors(actionSpace),
      prior: () => firstDiagnosis({ actionSpace }),
      'chart-reader': () => chartReader({ actionSpace, patient }),
      recorded: () => recordedDoctor(cases),
    },
    ...consultationParts(inputs, split, {
      usual: { patient, exams: [] },
      roles: {
        patient: { record: patient },
        exams: { knowledge: knowledgeExams({ knowledge: inputs.knowledge }) },
      },
    }),
  }
}

/**
 * Task of questions of a file's cases. Its `random` doctor draws uniformly from the training answers; its `reference`
 * doctor gives the reference answer, so the ceiling's reward is the verifier's score of that answer.
 * @throws Fault `bad-input` for too few cases
 */
export function questionTask(
  cases: readonly Case[],
  { knowledge, language }: Pick<TaskInputs, 'knowledge' | 'language'>,
  options: CaseOptions,
): TaskKind {
  const { all, ...split } = splitFileCases(cases, options)
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
    createEnv: () => question({ cases: split.heldOut, language, grammar: huatuo() }),
  }
}
