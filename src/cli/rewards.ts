/** `bedside rewards`: what rewards there are, and saved episodes scored again. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { GraderView } from '../case.js'
import { parseCaseId } from '../cases/name.js'
import { readSaved } from '../episode-file.js'
import { boundary, Fault } from '../error.js'
import type { Estimate } from '../estimate.js'
import { clusterEstimate } from '../estimate.js'
import type { PartSummary } from '../evaluate.js'
import { summariseParts } from '../evaluate.js'
import type { Knowledge } from '../knowledge.js'
import { clinic } from '../knowledge.js'
import { loadKnowledge } from '../knowledge-folder.js'
import { resolveReward } from '../registry.js'
import type { Reward, Score } from '../reward.js'
import { namedReward, rewardNames } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import type { CaseWorld } from '../rewards/process/information-gain.js'
import { tiers } from '../tiers.js'
import { spread } from './evaluation-text.js'
import type { PrintFlags, Terminal } from './output.js'
import { number, output, table } from './output.js'
import { isFolder } from './run-folder.js'

const bound = (value: number): string =>
  Number.isFinite(value) ? String(value) : value < 0 ? '-∞' : '∞'

/** Every registered reward with its bounds and where it comes from. */
export async function listRewards(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const out = output(terminal, flags)
  const knowledge = loadKnowledge()
  const formulary = formularyOf(knowledge)
  const rewards = rewardNames.map((name) => {
    const { bounds, source, weights } = namedReward(name, { formulary, knowledge })
    return { name, bounds, source, ...(weights ? { weights } : {}) }
  })
  await out.say(
    table(
      [
        ['reward', 'bounds', 'source'],
        ...rewards.map(({ name, bounds: [low, high], source }) => [
          name,
          `${bound(low)} to ${bound(high)}`,
          source,
        ]),
      ],
      { words: 3 },
    ),
  )
  // A bound that is none is null in JSON.
  if (flags.json) await out.document(rewards)
  return 0
}

export interface ScoreFlags extends PrintFlags {
  readonly reward: string
  readonly seed?: number
}

interface ScoreReport {
  readonly episodes: number
  readonly reward: Estimate
  readonly parts: Readonly<Record<string, PartSummary>>
  readonly unavailable: number
}

/** The world of each case, as its id tells; `standard` where it tells nothing. */
function worldsOf(whole: Knowledge): (truth: GraderView) => CaseWorld {
  const clinics = new Map<string, Knowledge>()
  const cut = (groups: readonly string[]): Knowledge => {
    const key = groups.join()
    const knowledge = clinics.get(key) ?? clinic(whole, groups)
    clinics.set(key, knowledge)
    return knowledge
  }
  return ({ caseId }) => {
    const name = parseCaseId(caseId)
    return {
      knowledge: name?.clinic ? cut(name.clinic) : whole,
      tier: tiers[name?.tier ?? 'standard'],
    }
  }
}

/** Where a run keeps its episodes. */
function episodesIn(path: string): string {
  if (!isFolder(path)) return path
  for (const place of ['episodes', 'episodes.jsonl'])
    if (existsSync(join(path, place))) return join(path, place)
  return path
}

async function scoredAgain(
  path: string,
  reward: Reward,
  seed: number,
  signal: AbortSignal,
): Promise<ScoreReport> {
  const scores: Score[] = []
  const totals = new Map<string, number[]>()
  for await (const { episode, truth } of readSaved(path)) {
    signal.throwIfAborted()
    const score = await reward(episode, truth, { signal })
    scores.push(score)
    const own = totals.get(truth.caseId) ?? []
    if (score.total !== null) own.push(score.total)
    totals.set(truth.caseId, own)
  }
  if (scores.length === 0)
    throw new Fault('bad-input', `${path}: expected saved episodes, found none`)
  // Files hold episodes in the order of completion; the interval must not depend on it.
  const byCase = [...totals].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    episodes: scores.length,
    reward: clusterEstimate(
      byCase.map(([, values]) => values),
      seed,
    ),
    parts: summariseParts(scores),
    unavailable: scores.filter(({ total }) => total === null).length,
  }
}

/** Scores saved episodes with a reward, by its name or from a module; no model is called for the episodes. */
export async function scoreEpisodes(
  path: string,
  flags: ScoreFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const knowledge = loadKnowledge()
  const reward = await resolveReward(flags.reward, {
    knowledge,
    formulary: formularyOf(knowledge),
    worldOf: worldsOf(knowledge),
  })
  const work = () => scoredAgain(episodesIn(path), reward, flags.seed ?? 0, terminal.signal)
  const report = await boundary('component-failed', `--reward ${flags.reward}`, work)
  await out.say(
    [
      `${report.episodes} episodes, ${report.unavailable} without a score`,
      '',
      table(
        [
          [flags.reward, spread(report.reward), '', ''],
          ...Object.entries(report.parts).map(([name, { mean, unavailable, notApplicable }]) => [
            `  ${name}`,
            number(mean),
            unavailable > 0 ? `${unavailable} unavailable` : '',
            notApplicable > 0 ? `${notApplicable} not applicable` : '',
          ]),
        ],
        { words: 4 },
      ),
    ].join('\n'),
  )
  if (flags.json) await out.document(report)
  return 0
}
