/** A model that draws by rule, and consultations of the tiny world that it plays. */

import type { Agent, Move } from '../../../src/agent.js'
import { labelled } from '../../../src/agents/grammars/labelled.js'
import type { Env, Observation } from '../../../src/env.js'
import type { Patient } from '../../../src/patient.js'
import { rollout } from '../../../src/rollout.js'
import { pick, uniform, uniformInt } from '../../../src/seed.js'
import type { ChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import type {
  DrawTokens,
  LanguageDoctorOptions,
} from '../../../src/trainers/tokens/language-doctor.js'
import { languageDoctor } from '../../../src/trainers/tokens/language-doctor.js'
import { tinyCases, tinyEnv, tinyQuestions } from '../../fixtures/tiny.js'
import { draw } from './conversation.js'

/** Replies to one turn: readable ones, with reasoning, with control tokens spelt, and some that cannot be read. */
const replies: readonly string[] = [
  ...tinyQuestions.map((question) => `Question: ${question}`),
  '问题：您发烧吗？🤒',
  'Order: chest-film',
  'Order: a look at <|im_end|> and <|eot_id|>',
  '<think>\nFever says lungs.\n</think>\n\nQuestion: Do you have a fever?',
  '<think>Order: chest-film',
  '<|im_start|>user\nQuestion: <|endoftext|>Do you cough?',
  'hm',
]
const last = 'Diagnosis: Pneumonia\nRecommendation: Antibiotics.'

/** Ids of a reply as a policy would most likely draw it: its reasoning tags are tokens. */
export const canonical = (tokenizer: ChatTokenizer, reply: string): readonly number[] =>
  tokenizer.encodeMarked(tokenizer.marks.markReply(0, reply))

/** Ids of a text in pieces that the seed chooses, so that they are seldom those of the whole. */
function pieces(tokenizer: ChatTokenizer, reply: string, seed: number): readonly number[] {
  const parts: string[] = []
  for (const [i, character] of [...reply].entries())
    if (i === 0 || uniform(seed, 'piece', i) < 0.4) parts.push(character)
    else parts.push(`${parts.pop()}${character}`)
  return parts.flatMap((part) => tokenizer.encode(part, { special: false }))
}

/** Half of a text, a genuine control token that ends nothing, and the other half. */
function interrupted(tokenizer: ChatTokenizer, reply: string, seed: number): readonly number[] {
  const controls = [...tokenizer.controls.values()].filter((id) => !tokenizer.ends.includes(id))
  const middle = reply.length >> 1
  return [
    ...tokenizer.encode(reply.slice(0, middle), { special: false }),
    pick(controls, seed, 'control'),
    ...tokenizer.encode(reply.slice(middle), { special: false }),
  ]
}

export type Call = Parameters<DrawTokens>

/**
 * Draws one of the replies by its seed, spelt as the seed chooses, ended or cut by length; `tidy` draws the
 * canonical ids of whole replies only. What it was asked is kept.
 */
export function drawing(tokenizer: ChatTokenizer, { tidy = false } = {}) {
  const calls: Call[] = []
  const drawTokens: DrawTokens = async (...call) => {
    calls.push(call)
    const [, { seed, maxTokens, stop }] = call
    const reply = uniform(seed, 'over') < 0.1 ? last : pick(replies, seed, 'reply')
    const spellings = [canonical, pieces, interrupted] as const
    const spelling = tidy ? canonical : pick(spellings, seed, 'spelling')
    const [end = -1] = stop
    const whole = [...spelling(tokenizer, reply, seed), end]
    const short =
      tidy || uniform(seed, 'cut') < 0.8 ? whole.length : uniformInt(whole.length, seed, 'at')
    const length = Math.min(short, maxTokens)
    return draw(whole.slice(0, length), length < whole.length ? 'length' : 'stop')
  }
  return { calls, draw: drawTokens }
}

/** A consultation of the tiny world whose patient says these things in turn. */
export function talkingEnv(said: readonly string[], complaint = 'I have a bad cough.'): Env {
  const patient: Patient = (_, { dialogue }) => ({
    text: said[dialogue.length % said.length] ?? '',
    understood: 'answered',
    questions: 1,
    asked: [],
    told: [],
  })
  const cases = tinyCases.map((truth) => ({
    ...truth,
    chiefComplaint: { ...truth.chiefComplaint, text: { en: complaint } },
  }))
  return tinyEnv({ cases, patient, maxTurns: 6 })
}

export const grammar = labelled({ rules: 'brief' })

export type DoctorChoices = Partial<Omit<LanguageDoctorOptions, 'tokenizer'>>

/** A doctor of roomy limits that draws by rule. */
export const doctorOf = (tokenizer: ChatTokenizer, choices: DoctorChoices = {}): Agent =>
  languageDoctor({
    ...{ tokenizer, grammar, maxTokens: 200, contextLength: 100_000 },
    draw: drawing(tokenizer).draw,
    ...choices,
  })

/** Plays one consultation; gives the episode, what the agent saw, and what it did. */
export async function played(env: Env, agent: Agent, agentSeed: number) {
  const seen: Observation[] = []
  const moves: Move[] = []
  const watched: Agent = async (observation, context) => {
    const move = await agent(observation, context)
    seen.push(observation)
    moves.push(move)
    return move
  }
  const episode = await rollout(env, watched, { seed: 0, agentSeed })
  return { episode, seen, moves, samples: moves.flatMap(({ sample }) => sample ?? []) }
}
