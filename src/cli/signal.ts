/** `bedside rewards signal`: which part of a reward the advantages of saved groups came from. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SavedEpisode } from '../episode-file.js'
import { readSaved } from '../episode-file.js'
import { Fault } from '../error.js'
import type { AdvantageName, Group } from '../group.js'
import { estimateTogether, formGroup } from '../group.js'
import { loadKnowledge } from '../knowledge-folder.js'
import { Recipe } from '../recipe.js'
import { resolveReward } from '../registry.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { recipeOfRun } from '../run-directory.js'
import type { SignalReport } from '../signal.js'
import { signalReport } from '../signal.js'
import { estimatorOf } from '../training-plan.js'
import type { PrintFlags, Terminal } from './output.js'
import { number, output, table } from './output.js'
import { isFolder } from './run-folder.js'

export interface SignalFlags extends PrintFlags {
  readonly advantages?: AdvantageName
  readonly reward?: string
}

/** Saved episodes that were siblings. */
async function savedGroups(path: string): Promise<readonly SavedEpisode[][]> {
  const groups = new Map<string, SavedEpisode[]>()
  for await (const saved of readSaved(path)) {
    if (saved.group === undefined || !saved.score) continue
    const key = JSON.stringify([saved.step ?? 0, saved.group])
    const own = groups.get(key) ?? []
    groups.set(key, own)
    own.push(saved)
  }
  if (groups.size === 0)
    throw new Fault(
      'bad-input',
      `${path}: expected episodes saved with their groups and scores, found none`,
    )
  return [...groups.values()]
}

/** The groups with the advantages that an estimator gives them; of ReMax, which plays besides, those of Dr. GRPO. */
function formed(all: readonly SavedEpisode[][], training: Recipe['training']): readonly Group[] {
  const { estimator, together, policy } = estimatorOf(training)
  const groups = all.map((members, g) =>
    formGroup(
      String(g),
      members.map(({ episode }) => episode),
      members.flatMap(({ score }) => score ?? []),
      estimator,
      policy,
    ),
  )
  return together ? estimateTogether(groups, together) : groups
}

function signalText({ shares, warnings, ...report }: SignalReport): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  return [
    `${report.groups} groups, ${report.zeroVariance} without variance, ${report.dropped} dropped`,
    `mean |advantage| ${number(report.magnitude)}, ${number(report.amplification, 2)} times the spread of rewards`,
    '',
    table([
      ['part', 'of the signal'],
      ...Object.entries(shares)
        .sort(([, a], [, b]) => b - a)
        .map(([name, share]) => [name, percent(share)]),
    ]),
    ...warnings.map((warning) => `\n! ${warning}`),
  ].join('\n')
}

/**
 * Says where the advantages of saved groups came from, by their saved scores: nothing is played or scored.
 * @throws Fault `bad-input` for a path without groups
 */
export async function signalOf(
  path: string,
  flags: SignalFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const recipe =
    isFolder(path) && existsSync(join(path, 'config.yaml'))
      ? await recipeOfRun(path)
      : Recipe.parse({})
  const episodes = join(path, 'episodes')
  const all = await savedGroups(isFolder(path) && isFolder(episodes) ? episodes : path)
  const { advantages = recipe.training.advantages } = flags
  const knowledge = loadKnowledge()
  const reward = await resolveReward(flags.reward ?? recipe.reward, {
    knowledge,
    formulary: formularyOf(knowledge),
  })
  const groups = formed(all, { ...recipe.training, advantages })
  const report = signalReport(groups, reward.weights ?? {})
  await out.say(`advantages: ${advantages}\n${signalText(report)}`)
  if (flags.json) await out.document(report)
  return 0
}
