/**
 * Saved episodes as rows of the data sets that other trainers load (SFT messages, verl, slime).
 *
 * A prompt is rendered from the doctor's observation alone. The truth of a case goes into `ground_truth` and
 * `label` only, which trainers hand to rewards.
 */
import type { Grammar } from '../../agent.js'
import { countDrawnTokens, type TokenSegment } from '../../batch.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { SavedEpisode } from '../../storage/episode-files.js'
import type { ColumnShape } from './columns.js'
import type { Trajectory } from './trajectory.js'

/** Data set formats that episodes can be exported to. */
export const exportFormats = ['sft', 'prompts', 'verl', 'slime'] as const
/** One of {@link exportFormats}. */
export type ExportFormat = (typeof exportFormats)[number]

/** Settings that the rows of every format share. */
export interface ExportContext {
  /** Renders the doctor's observations and actions as messages. */
  readonly grammar: Grammar
  /** For verl: name of the agent loop that plays the row. @default 'bedside', this package's */
  readonly agentName?: string
}

/** The doctor's observation after the first `turns` turns: without facts and samples. */
function observationAfter(episode: Episode, turns: number): Observation {
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

/** Messages the policy reads before its first move. */
export const promptMessages = (episode: Episode, grammar: Grammar): readonly Message[] =>
  grammar.render(observationAfter(episode, 0))

/** The dialogue up to the doctor's last message; empty for an episode without turns. */
export function dialogueMessages(episode: Episode, grammar: Grammar): readonly Message[] {
  const messages = grammar.render(observationAfter(episode, episode.turns.length))
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1)
}

/** The correct diagnosis, for a reward, as JSON: a Parquet column has one type for all cases. */
const groundTruth = ({ truth: { gold } }: SavedEpisode): string =>
  JSON.stringify({ dx: gold.dx, acceptable: gold.acceptable })

/** Identifies the row and lets an environment recreate the same patient. */
function rowOrigin({ episode, truth }: SavedEpisode, index: number) {
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

const message: ColumnShape = { role: 'text', content: 'text' }
const originShape: ColumnShape = {
  index: 'int64',
  split: 'text',
  case_id: 'text',
  seed: 'int64',
  language: 'text',
}

interface RowFormat {
  /** Columns of a row. */
  readonly shape: (context: ExportContext) => Readonly<Record<string, ColumnShape>>
  /** Makes an episode's row; undefined for an episode that has none. */
  readonly row: (saved: SavedEpisode, index: number, context: ExportContext) => object | undefined
}

const sft: RowFormat = {
  shape: () => ({ messages: [message], rollout_id: 'text', case_id: 'text', reward: 'float64?' }),
  row(saved, _, { grammar }) {
    const messages = dialogueMessages(saved.episode, grammar)
    if (messages.length === 0) return undefined
    const { id, caseId } = saved.episode
    return { messages, rollout_id: id, case_id: caseId, reward: saved.score?.total ?? null }
  },
}

const prompts: RowFormat = {
  shape: () => ({ prompt: [message], case_id: 'text', seed: 'int64', language: 'text' }),
  row(saved, index, { grammar }) {
    const { case_id, seed, language } = rowOrigin(saved, index)
    return { prompt: promptMessages(saved.episode, grammar), case_id, seed, language }
  },
}

/** Name of this package's agent loop, as `bedside_trainers.verl` registers it. */
export const verlAgent = 'bedside'

const verl: RowFormat = {
  shape: () => ({
    prompt: [message],
    data_source: 'text',
    ability: 'text',
    reward_model: { style: 'text', ground_truth: 'text' },
    extra_info: { ...originShape, consultation: 'text' },
    agent_name: 'text',
  }),
  row: (saved, index, { grammar, agentName = verlAgent }) => {
    const { caseId: case_id, seed, language } = saved.episode
    return {
      prompt: promptMessages(saved.episode, grammar),
      data_source: 'bedside',
      ability: 'consultation',
      reward_model: { style: 'rule', ground_truth: groundTruth(saved) },
      extra_info: {
        ...rowOrigin(saved, index),
        // What the agent loop opens at `bedside serve`.
        consultation: JSON.stringify({ case_id, seed, language }),
      },
      agent_name: agentName,
    }
  },
}

const slime: RowFormat = {
  shape: () => ({ prompt: [message], label: 'text', metadata: originShape }),
  row: (saved, index, { grammar }) => ({
    prompt: promptMessages(saved.episode, grammar),
    label: groundTruth(saved),
    metadata: rowOrigin(saved, index),
  }),
}

/** Columns and rows of each export format. */
export const rowFormats: { readonly [F in ExportFormat]: RowFormat } = { sft, prompts, verl, slime }

/** Integer ids that slime uses in place of names. */
export interface SampleNumbers {
  /** Index of the row. */
  readonly index: number
  /** Shared by all segments of one rollout. */
  readonly rollout: number
  /** Shared by all members of one group. */
  readonly group: number
}

/** The one advantage of all drawn tokens; null where they differ or none was drawn. */
function sharedAdvantage({ mask, advantages }: TokenSegment): number | null {
  const drawn = advantages.filter((_, t) => mask[t] === 1)
  return drawn.length > 0 && drawn.every((value) => value === drawn[0]) ? (drawn[0] ?? null) : null
}

/** Policy versions that drew tokens, each once, in the order of their first token. */
const distinctVersions = ({ mask, policyVersions }: TokenSegment): string[] =>
  [...new Set(policyVersions.filter((_, t) => mask[t] === 1))].map(String)

/** Converts a trajectory to a `Sample` dictionary; undefined where it has no reward or no token was drawn. */
export function slimeSample(
  { segment, index, count, caseId, agent, seed, step, score }: Trajectory,
  numbers: SampleNumbers,
): object | undefined {
  const reward = score?.total ?? null
  if (reward === null || countDrawnTokens(segment) === 0) return undefined
  return {
    group_index: numbers.group,
    index: numbers.index,
    rollout_id: numbers.rollout,
    prompt: '',
    tokens: Array.from(segment.tokens),
    response: '',
    response_length: segment.mask.length,
    label: null,
    reward,
    loss_mask: Array.from(segment.mask),
    weight_versions: distinctVersions(segment),
    rollout_log_probs: Array.from(segment.logprobs),
    status: segment.stopReason === 'length' ? 'truncated' : 'completed',
    metadata: {
      rollout: segment.rolloutId,
      group: segment.groupId,
      segment_index: index,
      segment_count: count,
      case_id: caseId,
      agent,
      seed,
      step: step ?? null,
      advantage: sharedAdvantage(segment),
      temperature: segment.temperature,
      logprob_mode: segment.logprobMode,
    },
  }
}
