/**
 * A setting: cases, patient, examinations, reward and reference doctors that belong together.
 *
 * Folders never import each other; here their pieces are put together for training, evaluation and the
 * command line alike: from the knowledge base, or from a case file.
 */
import type { Agent } from './agent.js'
import { checklist } from './agents/checklist.js'
import { labelled } from './agents/grammars/labelled.js'
import { oracle } from './agents/oracle.js'
import { random } from './agents/random.js'
import { recordedDoctor } from './agents/recorded.js'
import type { Case } from './case.js'
import { readCases } from './cases/files.js'
import { caseSource } from './cases/generate.js'
import { mineVocabulary } from './cases/mine.js'
import { splitCases } from './cases/split.js'
import type { Env } from './env.js'
import type { ConsultationOptions } from './envs/consultation.js'
import { consultation } from './envs/consultation.js'
import { recordExams } from './envs/exams/record.js'
import { recordPatient } from './envs/patients/record.js'
import { rulePatient } from './envs/patients/rule.js'
import { Fault } from './error.js'
import type { Measures } from './evaluate.js'
import type { Knowledge } from './knowledge.js'
import { clinic as clinicOf } from './knowledge.js'
import { loadKnowledge } from './knowledge-folder.js'
import type { Patient } from './patient.js'
import type { Recipe } from './recipe.js'
import { resolveReward } from './registry.js'
import type { Reward } from './reward.js'
import { diagnosisAccuracy } from './rewards/diagnosis-accuracy.js'
import { examF1 } from './rewards/exam-f1.js'
import type { Formulary } from './rewards/formulary.js'
import { formularyOf } from './rewards/formulary.js'
import { partialCredit } from './rewards/partial-credit.js'
import type { Tier, TierName } from './tiers.js'
import { tiers } from './tiers.js'
import type { Language } from './turn.js'
import type { Vocabulary } from './vocabulary.js'
import { knowledgeVocabulary } from './vocabulary.js'

export interface SettingOptions {
  readonly language?: Language
  readonly tier?: TierName
  /** Disease groups to keep. @default all */
  readonly clinic?: readonly string[]
  /** A case file instead of the generator. */
  readonly file?: string
  /** The cases of `file`, where they have been read already. */
  readonly cases?: readonly Case[]
  readonly seed?: number
  /** @default 400 */
  readonly heldOut?: number
  /** Share of a file's cases that are held out. @default 0.2 */
  readonly heldOutShare?: number
  /** Takes every case of a file for both splits: for a doctor that learned from none of them. @default false */
  readonly whole?: boolean
  readonly maxTurns?: number
  readonly money?: number
  readonly minutes?: number
  /** A reward, its name, or a module file. @default 'default' */
  readonly reward?: string | Reward
  readonly patient?: Patient
}

/** Cases, world and measures that belong together: what a run or an evaluation happens in. */
export interface Setting {
  readonly language: Language
  readonly tier: TierName | 'imported'
  readonly vocabulary: Vocabulary
  /** The n-th training case. */
  readonly caseAt: (n: number) => Case
  readonly heldOut: readonly Case[]
  /** Training cases, for generated settings drawn afresh. */
  readonly train: (count: number) => readonly Case[]
  readonly makeEnv: () => Env
  /** Actions a doctor has in it. */
  readonly maxTurns: number
  readonly reward: Reward
  readonly measures: Measures
  /** The random doctor. */
  readonly floor: Agent
  /** The strongest doctor known for these cases, with its name. */
  readonly ceiling: { readonly name: string; readonly agent: Agent }
  readonly agents: Readonly<Record<string, () => Agent>>
}

/** What depends on where the cases come from: the knowledge base, or a file. */
interface World extends Pick<Setting, 'vocabulary' | 'caseAt' | 'heldOut' | 'train' | 'agents'> {
  readonly patient: Patient
  readonly exams: NonNullable<ConsultationOptions['exams']>
  readonly formulary: Formulary
  /** The name of the strongest of `agents`. */
  readonly ceiling: string
}

const counted = (count: number, make: (n: number) => Case): readonly Case[] =>
  Array.from({ length: count }, (_, n) => make(n))

function generated(
  knowledge: Knowledge,
  language: Language,
  tier: TierName,
  { seed = 0, heldOut = 400 }: SettingOptions,
): World {
  const vocabulary = knowledgeVocabulary(knowledge, language)
  const train = caseSource(knowledge, { tier, split: 'train', seed })
  const held = caseSource(knowledge, { tier, split: 'heldout', seed })
  const { atypicality, noise } = tiers[tier]
  return {
    vocabulary,
    caseAt: train,
    train: (count) => counted(count, train),
    heldOut: counted(heldOut, held),
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    formulary: formularyOf(knowledge),
    ceiling: 'oracle',
    agents: {
      random: () => random({ vocabulary }),
      checklist: () => checklist({ vocabulary }),
      oracle: () => oracle({ knowledge, atypicality, noise }),
    },
  }
}

/** The tier a file's cases were generated at, as the oracle must know; `standard` where they do not say. */
function tierOf(cases: readonly Case[]): Tier {
  const named = cases[0]?.difficulty?.tier
  return Object.entries(tiers).find(([name]) => name === named)?.[1] ?? tiers.standard
}

function fromFile(
  cases: readonly Case[],
  knowledge: Knowledge,
  language: Language,
  { file, seed = 0, heldOutShare = 0.2, heldOut, whole = false }: SettingOptions,
): World {
  const split = whole
    ? { train: cases, heldout: cases }
    : splitCases(cases, { seed, heldout: heldOutShare })
  const held = heldOut === undefined ? split.heldout : split.heldout.slice(0, heldOut)
  const { train } = split
  if (train.length === 0 || held.length === 0)
    throw new Fault(
      'bad-input',
      `${file}: expected enough cases for a training and a held-out split, got ${train.length} and ${held.length}`,
    )
  const recorded = cases.some((truth) => truth.findings.some((finding) => finding.question))
  const vocabulary = recorded
    ? mineVocabulary(train, { language })
    : knowledgeVocabulary(knowledge, language)
  return {
    vocabulary,
    caseAt: (n) => train[n % train.length] as Case, // not empty, checked above
    train: (count) => train.slice(0, count),
    heldOut: held,
    patient: recorded ? recordPatient() : rulePatient({ knowledge }),
    exams: recorded ? [] : [recordExams({ knowledge })],
    formulary: formularyOf(knowledge),
    ceiling: recorded ? 'recorded' : 'oracle',
    agents: {
      random: () => random({ vocabulary }),
      checklist: () => checklist({ vocabulary }),
      ...(recorded
        ? { recorded: () => recordedDoctor(cases) }
        : { oracle: () => oracle({ knowledge, ...tierOf(cases) }) }),
    },
  }
}

/** Puts a setting together. @throws Fault `bad-input`; RangeError for a group that does not exist */
export async function setting(options: SettingOptions = {}): Promise<Setting> {
  const { language = 'en', tier = 'easy', clinic, file } = options
  const all = loadKnowledge()
  const knowledge = clinic ? clinicOf(all, clinic) : all
  const world = file
    ? fromFile(options.cases ?? (await readCases(file)), knowledge, language, options)
    : generated(knowledge, language, tier, options)
  const reward =
    typeof options.reward === 'function'
      ? options.reward
      : await resolveReward(options.reward ?? 'default', world.formulary)
  const budget = file ? tiers.standard : tiers[tier]
  const patient = options.patient ?? world.patient
  const maxTurns = options.maxTurns ?? budget.maxTurns
  const makeEnv = () =>
    consultation({
      cases: world.heldOut,
      patient,
      exams: world.exams,
      reward,
      grammar: labelled(),
      language,
      maxTurns,
      money: options.money ?? budget.money,
      minutes: options.minutes ?? budget.minutes,
    })
  const named = (name: string): Agent => (world.agents[name] as () => Agent)() // a name of this world's own
  return {
    language,
    tier: file ? 'imported' : tier,
    vocabulary: world.vocabulary,
    caseAt: world.caseAt,
    train: world.train,
    heldOut: world.heldOut,
    agents: world.agents,
    makeEnv,
    maxTurns,
    reward,
    measures: {
      reward,
      accuracy: diagnosisAccuracy(),
      partialCredit: partialCredit({ formulary: world.formulary }),
      examF1: examF1(),
    },
    floor: named('random'),
    ceiling: { name: world.ceiling, agent: named(world.ceiling) },
  }
}

/** The setting a recipe describes, with what a recipe cannot hold beside it. */
export const settingOf = (
  recipe: Recipe,
  beside: Pick<SettingOptions, 'patient' | 'whole' | 'cases'> = {},
): Promise<Setting> => {
  const { file, tier, clinic, heldOut, heldOutShare } = recipe.cases
  const { maxTurns, money, minutes } = recipe.env
  return setting({
    language: recipe.language,
    tier,
    seed: recipe.seed,
    heldOut,
    heldOutShare,
    reward: recipe.reward,
    ...(file === undefined ? {} : { file }),
    ...(clinic === undefined ? {} : { clinic }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(money === undefined ? {} : { money }),
    ...(minutes === undefined ? {} : { minutes }),
    ...beside,
  })
}
