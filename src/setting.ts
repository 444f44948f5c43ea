/**
 * A setting: cases, patient, examinations, reward and reference doctors that belong together.
 *
 * Folders never import each other; here their pieces are put together for training, evaluation and the
 * command line alike: from the knowledge base, or from a case file.
 */
import type { Agent } from './agent.js'
import type { Means } from './agents/bayesian.js'
import { labelled } from './agents/grammars/labelled.js'
import { recordedDoctor } from './agents/recorded.js'
import type { Case } from './case.js'
import { readCases } from './cases/files.js'
import { caseSource } from './cases/generate.js'
import { mineVocabulary } from './cases/mine.js'
import { splitCases } from './cases/split.js'
import type { MakeDoctor } from './doctors.js'
import { doctorsOf, plainDoctors } from './doctors.js'
import type { Env } from './env.js'
import type { ConsultationOptions } from './envs/consultation.js'
import { consultation } from './envs/consultation.js'
import { recordExams } from './envs/exams/record.js'
import { recordPatient } from './envs/patients/record.js'
import { rulePatient } from './envs/patients/rule.js'
import { Fault } from './error.js'
import type { Measures } from './evaluate.js'
import type { Yardstick } from './evaluation.js'
import type { Knowledge } from './knowledge.js'
import { clinic as clinicOf } from './knowledge.js'
import { loadKnowledge } from './knowledge-folder.js'
import type { Patient } from './patient.js'
import type { PosteriorOptions } from './posterior.js'
import { posteriorOf } from './posterior.js'
import type { Recipe } from './recipe.js'
import { resolveReward } from './registry.js'
import type { Reward } from './reward.js'
import { diagnosisAccuracy } from './rewards/diagnosis-accuracy.js'
import { examF1 } from './rewards/exam-f1.js'
import { formularyOf } from './rewards/formulary.js'
import { partialCredit } from './rewards/partial-credit.js'
import type { Tier, TierName } from './tiers.js'
import { tiers } from './tiers.js'
import { gainedOf } from './track.js'
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
  /** Every doctor that can be had here, by name. */
  readonly agents: Readonly<Record<string, MakeDoctor>>
  /** What a knowledge base behind the cases can tell of them; absent where there is none. */
  readonly yardstick?: Yardstick
}

/** What depends on where the cases come from: the knowledge base, or a file. */
interface World
  extends Pick<Setting, 'vocabulary' | 'caseAt' | 'heldOut' | 'train' | 'agents' | 'yardstick'> {
  readonly patient: Patient
  readonly exams: NonNullable<ConsultationOptions['exams']>
  /** The name of the strongest of `agents`. */
  readonly ceiling: string
}

/** What every world is made with. */
interface Grounds {
  readonly knowledge: Knowledge
  readonly language: Language
  readonly budget: Means
}

const counted = (count: number, make: (n: number) => Case): readonly Case[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** The doctors and measures of cases that the knowledge base generated. */
function known(
  { knowledge, budget }: Grounds,
  knobs: PosteriorOptions,
  { vocabulary, heldOut }: Pick<World, 'vocabulary' | 'heldOut'>,
): Pick<World, 'patient' | 'exams' | 'ceiling' | 'agents' | 'yardstick'> {
  const agents = doctorsOf({ knowledge, knobs, vocabulary, heldOut, budget })
  return {
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    ceiling: 'oracle',
    agents,
    yardstick: {
      bound: (cases) => agents['full-information']({ cases }),
      gained: (episode, truth) =>
        gainedOf(knowledge, posteriorOf(knowledge, knobs), episode, truth),
    },
  }
}

function generated(
  grounds: Grounds,
  tier: TierName,
  { seed = 0, heldOut: count = 400 }: SettingOptions,
): World {
  const { knowledge, language } = grounds
  const vocabulary = knowledgeVocabulary(knowledge, language)
  const train = caseSource(knowledge, { tier, split: 'train', seed })
  const heldOut = counted(count, caseSource(knowledge, { tier, split: 'heldout', seed }))
  return {
    ...{ vocabulary, heldOut },
    caseAt: train,
    train: (wanted) => counted(wanted, train),
    ...known(grounds, tiers[tier], { vocabulary, heldOut }),
  }
}

/** The tier a file's cases were generated at, as the oracle must know; `standard` where they do not say. */
function tierOf(cases: readonly Case[]): Tier {
  const named = cases[0]?.difficulty?.tier
  return Object.entries(tiers).find(([name]) => name === named)?.[1] ?? tiers.standard
}

function fromFile(
  cases: readonly Case[],
  grounds: Grounds,
  { file, seed = 0, heldOutShare = 0.2, heldOut: most, whole = false }: SettingOptions,
): World {
  const { knowledge, language } = grounds
  const split = whole
    ? { train: cases, heldout: cases }
    : splitCases(cases, { seed, heldout: heldOutShare })
  const heldOut = most === undefined ? split.heldout : split.heldout.slice(0, most)
  const { train } = split
  if (train.length === 0 || heldOut.length === 0)
    throw new Fault(
      'bad-input',
      `${file}: expected enough cases for a training and a held-out split, got ${train.length} and ${heldOut.length}`,
    )
  const recorded = cases.some((truth) => truth.findings.some((finding) => finding.question))
  const vocabulary = recorded
    ? mineVocabulary(train, { language })
    : knowledgeVocabulary(knowledge, language)
  return {
    ...{ vocabulary, heldOut },
    caseAt: (n) => train[n % train.length] as Case, // not empty, checked above
    train: (count) => train.slice(0, count),
    ...(recorded
      ? {
          patient: recordPatient(),
          exams: [],
          ceiling: 'recorded',
          agents: { ...plainDoctors(vocabulary), recorded: () => recordedDoctor(cases) },
        }
      : known(grounds, tierOf(cases), { vocabulary, heldOut })),
  }
}

/** Puts a setting together. @throws Fault `bad-input`; RangeError for a group that does not exist */
export async function setting(options: SettingOptions = {}): Promise<Setting> {
  const { language = 'en', tier = 'easy', clinic, file } = options
  const all = loadKnowledge()
  const knowledge = clinic ? clinicOf(all, clinic) : all
  const usual = file ? tiers.standard : tiers[tier]
  const { maxTurns = usual.maxTurns, money = usual.money, minutes = usual.minutes } = options
  const grounds = { knowledge, language, budget: { turns: maxTurns, money, minutes } }
  const cases = file ? (options.cases ?? (await readCases(file))) : []
  const {
    patient: own,
    exams,
    ceiling,
    ...world
  } = file ? fromFile(cases, grounds, options) : generated(grounds, tier, options)
  const formulary = formularyOf(knowledge)
  const knobs = file ? tierOf(cases) : tiers[tier]
  const reward =
    typeof options.reward === 'function'
      ? options.reward
      : await resolveReward(options.reward ?? 'default', { formulary, knowledge, tier: knobs })
  const patient = options.patient ?? own
  const makeEnv = () =>
    consultation({
      cases: world.heldOut,
      ...{ patient, exams, reward, language, maxTurns, money, minutes },
      grammar: labelled(),
    })
  const named = (name: string): Agent => (world.agents[name] as MakeDoctor)() // a name of this world's own
  return {
    ...world,
    language,
    tier: file ? 'imported' : tier,
    makeEnv,
    maxTurns,
    reward,
    measures: {
      reward,
      accuracy: diagnosisAccuracy(),
      partialCredit: partialCredit({ formulary }),
      examF1: examF1(),
    },
    floor: named('random'),
    ceiling: { name: ceiling, agent: named(ceiling) },
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
