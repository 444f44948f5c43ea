/**
 * The environments of the published systems as configurations of the consultation: what the doctor writes, whom it meets,
 * how long it has, what ends it, and what it is paid. `docs/environments.md` says what is faithful and what is corrected.
 *
 * A name with `-parity` takes the released reward, and where there is one the released exam simulator.
 */
import type { GrammarName } from '../agents/grammars/named.js'
import type { FreePrompts } from '../envs/patients/free/prompts.js'
import type { TurnLimit } from '../envs/visit.js'
import { Fault } from '../error.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import { suggestNames } from '../platform/did-you-mean.js'
import type { RewardName } from '../rewards/named.js'

/** A published environment. */
export interface PublishedEnv {
  /** System, file and commit. */
  readonly source: string
  readonly name: 'consultation' | 'question'
  /** What it was published with, and how to get the cases; without a file of cases, generated ones are played. */
  readonly cases: string
  readonly grammar: GrammarName
  /** Prompts of a language model that plays the patient freely; absent where nobody is asked. */
  readonly patient?: FreePrompts
  /** Exam simulators by name; none where the doctor orders nothing. */
  readonly exams: readonly string[]
  readonly maxTurns: TurnLimit
  /** Replies in a row that no grammar can read, after which it ends. */
  readonly maxInvalid: number
  /** Whether the doctor reads the whole history before the first turn, and asks nobody. */
  readonly history: 'asked' | 'given'
  /** When an env made by `make` pays: with each turn, or at the end. */
  readonly pay: 'end' | 'turn'
  readonly reward: RewardName
}

const dialogues = 'MTMedDialog: bedside cases import --format mtmeddialog FILE --out cases.jsonl'
const questions =
  'verifiable problems: bedside cases import --format huatuo-rl FILE --out cases.jsonl'

/** A doctor who talks, and orders nothing. */
const talking: Omit<PublishedEnv, 'source' | 'cases' | 'grammar' | 'maxTurns' | 'reward'> = {
  ...{ name: 'consultation', exams: [], history: 'asked', pay: 'end' },
  // What cannot be read costs a turn, and nothing else.
  maxInvalid: Number.POSITIVE_INFINITY,
}

/** DoctorAgent-RL draws the number of turns for each patient; the doctor hears of it with the first answer. */
const doctorAgentRl: Omit<PublishedEnv, 'source' | 'reward'> = {
  ...talking,
  ...{ cases: dialogues, grammar: 'think-answer', patient: 'doctoragent-rl' },
  maxTurns: [2, 10],
}

const doctorAgent: Omit<PublishedEnv, 'source' | 'reward'> = {
  ...{ name: 'question', cases: questions, grammar: 'huatuo', exams: [], history: 'asked' },
  ...{ maxTurns: 1, maxInvalid: 1, pay: 'end' },
}

const systems = {
  'takes-two': {
    ...talking,
    source: 'MrlX-TakesTwo, doctor_multiturn.py (AQ-MedAI/MrlX, 0d04788)',
    ...{ cases: dialogues, grammar: 'takes-two', patient: 'takes-two', maxTurns: 10 },
    reward: 'takestwo-doctor',
  },
  'doctoragent-rl': {
    ...doctorAgentRl,
    source: 'DoctorAgent-RL, env_patient_llm.py (JarvisUSTC/DoctorAgent-RL, 9db6377)',
    reward: 'doctoragent-patient',
  },
  'doctoragent-rl-match': {
    ...doctorAgentRl,
    source: 'DoctorAgent-RL, env.py (JarvisUSTC/DoctorAgent-RL, 9db6377)',
    reward: 'doctoragent-match',
  },
  'doctoragent-rl-judge': {
    ...doctorAgentRl,
    source: 'DoctorAgent-RL, env_patient_llm_rm.py (JarvisUSTC/DoctorAgent-RL, 9db6377)',
    reward: 'doctoragent-judge',
  },
  diagagent: {
    source: 'DiagAgent, vllm_rollout_spmd.py (MAGIC-AI4Med/DiagGym, bc49719)',
    ...{ name: 'consultation', cases: 'case summaries of MIMIC-IV, which are not public' },
    ...{ grammar: 'diagagent', exams: ['record', 'knowledge'], history: 'given' },
    ...{ maxTurns: 12, maxInvalid: 2, pay: 'end', reward: 'diagagent' },
  },
  grpodx: {
    ...talking,
    source: 'GRPODx, medical_grpo.py (Legionof7/GRPOdx, c94d1bb)',
    ...{
      cases: 'diseases that a model names',
      grammar: 'grpodx-head',
      patient: 'grpodx',
      maxTurns: 5,
    },
    reward: 'grpodx-head',
  },
  'grpodx-readme': {
    ...talking,
    source: 'GRPODx, the code of its README (Legionof7/GRPOdx, 7a3666e)',
    ...{ cases: 'diseases that a model names', grammar: 'grpodx', patient: 'grpodx', maxTurns: 5 },
    reward: 'grpodx-readme',
  },
  'doctor-agent': {
    ...doctorAgent,
    source: 'Doctor-Agent, GRPO (quantrana/Medical-Doctor-Agent, d8b3857)',
    reward: 'doctor-agent-grpo',
  },
  'doctor-agent-ppo': {
    ...doctorAgent,
    source: 'HuatuoGPT-o1 and Doctor-Agent, PPO (FreedomIntelligence/HuatuoGPT-o1, 2c8d7fc)',
    reward: 'doctor-agent-ppo',
  },
} as const satisfies Record<string, PublishedEnv>

type SystemName = keyof typeof systems
/** Name of a published environment. */
export type PublishedEnvName = SystemName | `${SystemName}-parity`

/** What a release has otherwise, beside its reward. */
const released: Readonly<Partial<Record<SystemName, Partial<PublishedEnv>>>> = {
  // The corrected rewards are of the whole consultation.
  'doctoragent-rl': { pay: 'turn' },
  'doctoragent-rl-match': { pay: 'turn' },
  'doctoragent-rl-judge': { pay: 'turn' },
  // The first reply that cannot be read ends the release's rollout.
  diagagent: { exams: ['diaggym-parity'], maxInvalid: 1 },
}

/** Every published environment by its name. */
export const publishedEnvs = Object.fromEntries(
  Object.entries(systems).flatMap(([name, env]): [string, PublishedEnv][] => [
    [name, env],
    [
      `${name}-parity`,
      // Every published reward has both forms, as its type says; the keys are those of the table.
      { ...env, ...released[name as SystemName], reward: `${env.reward}-parity` },
    ],
  ]),
) as Readonly<Record<PublishedEnvName, PublishedEnv>>

/** Every name of a published environment. */
// The keys of the table are the names.
export const publishedEnvNames = Object.keys(publishedEnvs) as readonly PublishedEnvName[]

/**
 * A budget that no consultation of so many turns can use up, as the published systems have none: every turn could order
 * every examination. A finite one, because an observation must survive JSON.
 */
export function ampleBudget(
  { exams }: Knowledge,
  maxTurns: TurnLimit,
): { readonly money: number; readonly minutes: number } {
  const turns = typeof maxTurns === 'number' ? maxTurns : maxTurns[1]
  const sum = (of: 'cost' | 'minutes'): number => exams.reduce((all, one) => all + one[of], 1)
  return { money: turns * sum('cost'), minutes: turns * sum('minutes') }
}

/** Finds a published environment. @throws Fault `bad-input` for an unknown name, with similar ones */
export function publishedEnv(name: string): PublishedEnv {
  const known = publishedEnvNames.find((one) => one === name)
  if (known) return publishedEnvs[known]
  const near = suggestNames(name, publishedEnvNames).map((one) => `\`${one}\``)
  const hint = near.length > 0 ? ` (did you mean ${near.join(' or ')}?)` : ''
  throw new Fault(
    'bad-input',
    `--env (env.preset): expected ${publishedEnvNames.join(', ')}${hint}, got \`${name}\``,
  )
}
