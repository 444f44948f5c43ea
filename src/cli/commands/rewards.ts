/** `bedside rewards list` and `rewards score`: registered rewards, and saved episodes or logged dialogues scored. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type GrammarName, namedGrammar } from '../../agents/grammars/named.js'
import type { Case, GraderView } from '../../case.js'
import { parseCaseId } from '../../cases/generator/case-id.js'
import { usageLine } from '../../chats/ledger.js'
import { Fault } from '../../error.js'
import { isLoggedRow, loggedRowReader } from '../../evaluation/logged-rows.js'
import { clinic, type Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { tiers } from '../../knowledge/tiers.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import type { Reward } from '../../reward.js'
import { namedReward, rewardNames } from '../../rewards/named.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import type { CaseWorld } from '../../rewards/process/information-gain.js'
import type { RoleModels } from '../../runs/models/role-models.js'
import { readCases } from '../../storage/case-files.js'
import type { EpisodeWriter, ReadOtherRow } from '../../storage/episode-files.js'
import { countSavedEpisodes, episodeWriter } from '../../storage/episode-files.js'
import { resolveReward } from '../../tasks/reward-modules.js'
import type { CasesFlag } from '../flags/flags.js'
import { output, type PrintFlags, type Terminal, table } from '../print/output.js'
import { startProgress } from '../print/progress.js'
import { boundsText, rescoreText } from '../print/rescore-text.js'
import { openJudge } from './play-models.js'
import { findCase } from './play-plan.js'
import { type RescoreReport, rescore } from './rescore.js'
import { accuracyReward, isFolder, isSamePlace, readRunRecipe } from './run-folder.js'

/** Prints every registered reward with its bounds and source. */
export async function listRewards(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const out = output(terminal, flags)
  const knowledge = loadKnowledge()
  const formulary = formularyOf(knowledge)
  const rewards = rewardNames.map((name) => {
    const { bounds, source, weights } = namedReward(name, { formulary, knowledge })
    return { name, bounds, source, ...(weights ? { weights } : {}) }
  })
  const rows = rewards.map(({ name, bounds, source }) => [name, boundsText(bounds), source])
  // An infinite bound is null in JSON.
  return out.show(table([['reward', 'bounds', 'source'], ...rows], { words: 3 }), rewards)
}

interface ScoreFlags extends PrintFlags {
  readonly reward: readonly string[]
  readonly seed?: number
  readonly concurrency?: number
  readonly out?: string
  /** `models.judge.…=value` assignments. */
  readonly set?: readonly string[]
  readonly cases?: CasesFlag
  readonly grammar?: GrammarName
}

/** Tier and clinic of a case, parsed from its id; tier `standard` and the whole knowledge base otherwise. */
function caseWorlds(whole: Knowledge): (truth: GraderView) => CaseWorld {
  const clinics = new Map<string, Knowledge>()
  const clinicOf = (groups: readonly string[]): Knowledge => {
    const key = groups.join()
    const knowledge = clinics.get(key) ?? clinic(whole, groups)
    clinics.set(key, knowledge)
    return knowledge
  }
  return ({ caseId }) => {
    const name = parseCaseId(caseId)
    return {
      knowledge: name?.clinic ? clinicOf(name.clinic) : whole,
      tier: tiers[name?.tier ?? 'standard'],
    }
  }
}

/** The episodes of a run directory; any other path itself. */
function episodesPath(path: string): string {
  if (!isFolder(path)) return path
  for (const place of ['episodes', 'episodes.jsonl'])
    if (existsSync(join(path, place))) return join(path, place)
  return path
}

/** Resolves the values of `--reward`, and keys the rewards by them. */
async function resolveRewards(
  names: readonly string[],
  { judge, verifier }: Pick<RoleModels, 'judge' | 'verifier'>,
): Promise<ReadonlyMap<string, Reward>> {
  const knowledge = loadKnowledge()
  const formulary = formularyOf(knowledge)
  const options = {
    ...{ knowledge, formulary, worldOf: caseWorlds(knowledge) },
    ...withoutUndefined({ judge, verifier }),
  }
  const rewards = new Map<string, Reward>()
  for (const name of names) rewards.set(name, await resolveReward(name, options))
  return rewards
}

/** Opens `--out`. @throws Fault `bad-input` for several rewards, or a path inside the input */
function openOut(
  { reward: names, out }: ScoreFlags,
  episodes: readonly string[],
): EpisodeWriter | undefined {
  if (out === undefined) return undefined
  if (new Set(names).size > 1)
    throw new Fault(
      'bad-input',
      `--out ${out}: expected one --reward, for an episode has one score; got ${names.join(', ')}`,
    )
  if (episodes.some((path) => isSamePlace(out, path) || isSamePlace(dirname(out), path)))
    throw new Fault('bad-input', `--out ${out}: expected another place than what is read`)
  return episodeWriter(out)
}

/** The report in the shape of `--json`. */
function toDocument({ episodes, byReward }: RescoreReport): object {
  const shapes = [...byReward].map(([name, { reward, parts, unavailable, ...more }]) => {
    const { bounds, correlation } = more
    return [name, { bounds, reward, parts, unavailable, correlation }] as const
  })
  const [first] = byReward.values()
  return {
    episodes,
    ...{ reward: first?.reward, parts: first?.parts, unavailable: first?.unavailable },
    ...(shapes.length > 1 ? { rewards: Object.fromEntries(shapes) } : {}),
  }
}

/** Reads the rows of chats; their cases come from `--cases`, or are generated by their ids. */
function chatReader({ cases, grammar = 'spoken' }: ScoreFlags): ReadOtherRow {
  let known: Promise<ReadonlyMap<string, Case>> | undefined
  const file = cases?.file
  const read = loggedRowReader({
    grammar: namedGrammar(grammar),
    knowledge: loadKnowledge(),
    findCase: async (id) => {
      if (file === undefined) return findCase(id, {})
      known ??= readCases(file).then((all) => new Map(all.map((one) => [one.id, one])))
      return (await known).get(id) ?? findCase(id, { file })
    },
  })
  return (value, where) => (isLoggedRow(value) ? read(value, where) : undefined)
}

/** Starts a progress display, updated ten times a second at most. */
async function startScoringProgress(
  paths: readonly string[],
  flags: ScoreFlags,
  terminal: Terminal,
) {
  let total = 0
  if (!flags.quiet) for (const path of paths) total += await countSavedEpisodes(path)
  const bar = await startProgress(terminal, {
    label: 'scoring',
    total,
    quiet: flags.quiet ?? false,
  })
  let last = 0
  return {
    onScored(done: number, trouble: string | undefined) {
      const now = performance.now()
      if (now - last < 100 && done < total) return
      last = now
      bar.update(done, trouble && 'some without a score')
    },
    stop: bar.stop,
  }
}

/** A fault for each reward that could not score any episode, with its first reason. */
const unscoredFaults = ({ episodes, byReward }: RescoreReport): Fault[] =>
  [...byReward].flatMap(([name, { reward, trouble }]) =>
    reward.mean === null && trouble !== undefined
      ? new Fault(
          'component-failed',
          `--reward ${name}: none of ${episodes} episodes could be scored; the first: ${trouble}`,
        )
      : [],
  )

/**
 * Scores saved episodes and logged dialogues with rewards, named or from modules; nothing is played, and no model is
 * asked but a judge. Episodes left unscored by a world's fault are counted and reported.
 * @throws Fault `bad-input` for an invalid path, reward or `--out`
 * @throws Fault `component-failed` for a reward that could not score any episode
 */
export async function scoreEpisodes(
  paths: readonly string[],
  flags: ScoreFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  using models = openJudge(flags.set, flags.concurrency, flags.reward)
  const rewards = await resolveRewards(flags.reward, models)
  const episodes = paths.map(episodesPath)
  const writer = openOut(flags, episodes)
  const { onScored, stop } = await startScoringProgress(episodes, flags, terminal)
  const { signal } = terminal
  const accuracy = accuracyReward(await readRunRecipe(paths[0] ?? ''))
  let report: RescoreReport
  try {
    const { seed = 0, concurrency } = flags
    const readOther = chatReader(flags)
    const options = { rewards, accuracy, seed, concurrency, signal, writer, readOther, onScored }
    report = await rescore(episodes, options)
    await writer?.close()
  } finally {
    stop()
    await writer?.discard()
  }
  const [failure, ...others] = unscoredFaults(report)
  // When only some rewards failed, the others are still reported.
  if (failure && others.length + 1 === rewards.size) throw failure
  const usage = models.ledger.used()
  const line = usageLine(usage)
  if (line !== '') await out.note(line)
  await out.show(rescoreText(report), { ...toDocument(report), ...(line !== '' && { usage }) })
  if (failure) throw failure
  return 0
}
