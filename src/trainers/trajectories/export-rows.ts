/**
 * Rows of the data sets that other trainers read, made of saved episodes.
 *
 * What a policy reads is rendered from what the doctor saw and from nothing else: the truth of a case goes
 * into `ground_truth` and `label` alone, which trainers hand to rewards.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { SavedEpisode } from '../../storage/episode-files.js'
import type { Shape } from './export-file.js'

/** What episodes can be exported as. */
export const exportFormats = ['sft', 'prompts', 'verl', 'slime'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportContext {
  /** Renders what the doctor read and writes what it did. */
  readonly grammar: Grammar
  /** For verl: the agent loop that plays the row. @default no such column */
  readonly agentName?: string
}

/** The consultation after some of its turns, as the doctor saw it: without facts and samples. */
function seen(episode: Episode, turns: number): Observation {
  const { intake, maxTurns, spent, budget, language } = episode
  return {
    intake,
    turns: episode.turns.slice(0, turns).map(({ action, outcome }) => ({ action, outcome })),
    turnsLeft: maxTurns - turns,
    spent: turns === 0 ? { money: 0, minutes: 0 } : spent,
    budget,
    language,
  }
}

/** What the policy reads before its first move. */
export const promptOf = (episode: Episode, grammar: Grammar): readonly Message[] =>
  grammar.render(seen(episode, 0))

/** The whole dialogue up to the doctor's last words; empty for an episode without turns. */
export function dialogueOf(episode: Episode, grammar: Grammar): readonly Message[] {
  const messages = grammar.render(seen(episode, episode.turns.length))
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1)
}

/** What a reward needs to know of the diagnosis, as JSON: a parquet column has one type for all cases. */
const groundTruth = ({ truth: { gold } }: SavedEpisode): string =>
  JSON.stringify({ dx: gold.dx, acceptable: gold.acceptable })

/** What tells rows apart and lets an environment make the same patient again. */
function origin({ episode, truth }: SavedEpisode, index: number) {
  const { id, caseId, seed, language } = episode
  if (!Number.isSafeInteger(seed))
    throw new Fault(
      'bad-input',
      `episode ${id}: expected \`seed\` to be an integer, got \`${seed}\``,
    )
  return {
    index: BigInt(index),
    split: truth.provenance.split ?? 'train',
    case_id: caseId,
    seed: BigInt(seed),
    language,
  }
}

const message: Shape = { role: 'text', content: 'text' }
const originShape: Shape = {
  index: 'integer',
  split: 'text',
  case_id: 'text',
  seed: 'integer',
  language: 'text',
}

interface Format {
  /** The columns of a row. */
  readonly shape: (context: ExportContext) => Readonly<Record<string, Shape>>
  /** A row; undefined for an episode that makes none. */
  readonly row: (saved: SavedEpisode, index: number, context: ExportContext) => object | undefined
}

const sft: Format = {
  shape: () => ({ messages: [message], rollout_id: 'text', case_id: 'text', reward: 'number?' }),
  row(saved, _, { grammar }) {
    const messages = dialogueOf(saved.episode, grammar)
    if (messages.length === 0) return undefined
    const { id, caseId } = saved.episode
    return { messages, rollout_id: id, case_id: caseId, reward: saved.score?.total ?? null }
  },
}

const prompts: Format = {
  shape: () => ({ prompt: [message], case_id: 'text', seed: 'integer', language: 'text' }),
  row(saved, index, { grammar }) {
    const { case_id, seed, language } = origin(saved, index)
    return { prompt: promptOf(saved.episode, grammar), case_id, seed, language }
  },
}

const verl: Format = {
  shape: ({ agentName }) => ({
    prompt: [message],
    data_source: 'text',
    ability: 'text',
    reward_model: { style: 'text', ground_truth: 'text' },
    extra_info: originShape,
    ...(agentName === undefined ? {} : { agent_name: 'text' }),
  }),
  row: (saved, index, { grammar, agentName }) => ({
    prompt: promptOf(saved.episode, grammar),
    data_source: 'bedside',
    ability: 'consultation',
    reward_model: { style: 'rule', ground_truth: groundTruth(saved) },
    extra_info: origin(saved, index),
    ...(agentName === undefined ? {} : { agent_name: agentName }),
  }),
}

const slime: Format = {
  shape: () => ({ prompt: [message], label: 'text', metadata: originShape }),
  row: (saved, index, { grammar }) => ({
    prompt: promptOf(saved.episode, grammar),
    label: groundTruth(saved),
    metadata: origin(saved, index),
  }),
}

/** How each format makes its rows. */
export const formats: { readonly [F in ExportFormat]: Format } = { sft, prompts, verl, slime }
