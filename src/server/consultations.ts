/** The consultations of a server: cases by split and number, and the env that a client's options describe. */
import type { Grammar } from '../agent.js'
import { spoken } from '../agents/grammars/spoken.js'
import type { Case } from '../case.js'
import { parseCaseId } from '../cases/generator/case-id.js'
import { caseSource } from '../cases/generator/generate.js'
import type { Env } from '../env.js'
import { consultation } from '../envs/consultation.js'
import { recordExams } from '../envs/exams/record.js'
import { recordPatient } from '../envs/patients/recorded/record.js'
import { rulePatient } from '../envs/patients/rule.js'
import { errorMessage } from '../error.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import { tiers } from '../knowledge/tiers.js'
import { parsePersona } from '../persona.js'
import { suggestNames } from '../platform/did-you-mean.js'
import { memoizeByIdentity, memoizeText } from '../platform/memoize.js'
import type { Reward } from '../reward.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { isModule } from '../tasks/modules.js'
import { knownRewardNames, resolveReward } from '../tasks/reward-modules.js'
import { clinicKnowledge } from '../tasks/task-kinds.js'
import type { SessionEnd } from '../trainers/tokens/token-session.js'
import type { SessionOptions } from './options.js'
import { Refusal } from './refusal.js'

/** Cases of a file, by split. */
export interface FileCases {
  readonly train: readonly Case[]
  readonly heldout: readonly Case[]
}

/** What is played. */
export interface OpenConsultation {
  readonly env: Env
  readonly truth: Case
  readonly seed: number
  /** Of sessions in tokens. @default spoken */
  readonly grammar?: Grammar
  /** Hears the end of a session in tokens, once. */
  readonly onEnd?: (end: SessionEnd) => Promise<void>
}

/** Opens consultations. */
export interface Consultations {
  /** @throws Refusal for a reward, persona, group or case that does not exist */
  open(options: SessionOptions): Promise<OpenConsultation>
  /** Number of cases of a split. */
  count(split: 'train' | 'heldout'): number
}

/** Generated cases that are offered by number; there could be more. */
const offered = 1_000_000
/** Clinics, rewards and personas whose parts are kept: clients may name any. */
const kept = { most: 32 }
/** Generated cases that are kept: siblings of a group meet the same. One takes milliseconds and 90 kB. */
const keptCases = { most: 128 }

/** Runs a reading of a client's value; what it throws is the client's mistake. */
async function reading<T>(name: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw new Refusal('bad-request', `${name}: ${errorMessage(error)}`)
  }
}

const unknownCase = (expected: string, id: string): Refusal =>
  new Refusal('bad-request', `Expected \`case_id\` to be ${expected}, got \`${id}\``)

/** The options that the id of a generated case says, over those given. @throws Refusal for another id */
function withNamedCase(options: SessionOptions): SessionOptions {
  const { case_id: id, clinic: _, ...rest } = options
  if (id === undefined) return options
  const said = parseCaseId(id)
  if (!said || said.change)
    throw unknownCase(
      'the id of a generated case, as `easy-train-0-7` is, or of the server’s file',
      id,
    )
  const { tier, split, seed: case_seed, n: index, clinic } = said
  return { ...rest, tier, split, case_seed, index, ...(clinic && { clinic: [...clinic] }) }
}

const byIdOf = memoizeByIdentity(
  ({ train, heldout }: FileCases) => new Map([...heldout, ...train].map((one) => [one.id, one])),
)

/** The case of a file. @throws Refusal for one that is not there */
function fileCase(
  { seed = 0, index = seed, split = 'train', case_id: id }: SessionOptions,
  file: FileCases,
): Case {
  if (id !== undefined) {
    const named = byIdOf(file).get(id)
    if (named) return named
    throw unknownCase('the id of a case of the server’s file', id)
  }
  const found = file[split][index]
  if (found) return found
  throw new Refusal(
    'bad-request',
    `Expected \`index\` (or \`seed\`) below ${file[split].length}, the cases of ${split}, got \`${index}\``,
  )
}

/** A reward by name; names come from outside, so that none may be a module. */
function findReward(name: string, knowledge: Knowledge, tier: keyof typeof tiers): Promise<Reward> {
  const known = knownRewardNames()
  if (!known.includes(name)) {
    const [near] = suggestNames(name, known, 1)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean \`${near}\`?`
    const why = isModule(name) ? 'a client cannot name a file' : hint
    throw new RangeError(`expected the name of a reward, got \`${name}\`; ${why}`)
  }
  return resolveReward(name, { knowledge, formulary: formularyOf(knowledge), tier: tiers[tier] })
}

/** What consultations of one knowledge base share. */
const makeParts = (knowledge: Knowledge) => ({
  exams: [recordExams({ knowledge })],
  patientOf: memoizeText(
    (persona: string) =>
      rulePatient({ knowledge, ...(persona !== '' && { persona: parsePersona(persona) }) }),
    kept,
  ),
  generated: memoizeText((key: string) => {
    // As written below.
    const [from, index] = JSON.parse(key) as [Parameters<typeof caseSource>[1], number]
    return caseSource(knowledge, from)(index)
  }, keptCases),
  rewards: memoizeText((key: string) => {
    const [tier = '', name = ''] = key.split('\n')
    return findReward(name, knowledge, tier as keyof typeof tiers) // from the key below
  }, kept),
})

/** Opens consultations of generated cases, or of a file's. */
export function openConsultations(file?: FileCases): Consultations {
  const knowledgeOf = memoizeText(
    (groups: string) => clinicKnowledge(groups === '' ? undefined : groups.split(',')),
    kept,
  )
  const partsOf = memoizeByIdentity(makeParts)
  const recorded = recordPatient()
  return {
    count: (split) => (file ? file[split].length : offered),
    async open(given) {
      const options = file ? given : withNamedCase(given)
      const { language = 'en', tier = 'easy', reward: rewardName = 'default', clinic } = options
      const groups = [...new Set(clinic)].sort().join(',')
      const knowledge = await reading('clinic', () => knowledgeOf(groups))
      const { exams, patientOf, rewards, generated } = partsOf(knowledge)
      const ruled = await reading('persona', () => patientOf(options.persona ?? ''))
      const reward = await reading('reward', () => rewards(`${tier}\n${rewardName}`))
      const { seed = 0, index = seed, split = 'train', case_seed = 0 } = options
      const truth = file
        ? fileCase(options, file)
        : generated(JSON.stringify([{ tier, split, seed: case_seed }, index]))
      const asRecorded = truth.findings.some(({ question }) => question)
      const limits = tiers[tier]
      const env = consultation({
        ...{ cases: [truth], exams, reward, language, grammar: spoken() },
        patient: asRecorded ? recorded : ruled,
        maxTurns: options.max_turns ?? limits.maxTurns,
        money: options.money ?? limits.money,
        minutes: options.minutes ?? limits.minutes,
      })
      return { env, truth, seed }
    },
  }
}
