/** `bedside rewards signal`: attributes the advantages of saved groups to the parts of a reward. */
import { join } from 'node:path'
import { Fault } from '../../error.js'
import { type SignalReport, signalReport } from '../../evaluation/advantage-attribution.js'
import { type AdvantageName, formGroup, type Group } from '../../group.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import { assertPartsGiven, assertTrusted } from '../../runs/own-parts.js'
import { ownPartNames, Recipe } from '../../runs/recipe.js'
import { defaultTraining, type GrpoTraining } from '../../runs/recipe-training.js'
import { readSavedEpisodes, type SavedEpisode } from '../../storage/episode-files.js'
import { resolveReward } from '../../tasks/reward-modules.js'
import {
  baselineOf,
  estimateBatch,
  groupEstimator,
  namedAdvantages,
} from '../../trainers/advantages/method.js'
import { numberText, output, type PrintFlags, type Terminal, table } from '../print/output.js'
import { accuracyReward, isFolder, readRunRecipe } from './run-folder.js'

interface SignalFlags extends PrintFlags {
  readonly advantages?: AdvantageName
  readonly reward?: string
  readonly trust?: boolean
}

/** Reads saved episodes and gathers siblings. */
async function readGroups(path: string): Promise<readonly SavedEpisode[][]> {
  const groups = new Map<string, SavedEpisode[]>()
  for await (const saved of readSavedEpisodes(path)) {
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

/** Groups with a method's advantages. ReMax needs greedy episodes, so Dr. GRPO stands in for it. */
function formGroups(
  all: readonly SavedEpisode[][],
  training: Pick<GrpoTraining, 'advantages' | 'groups'>,
): readonly Group[] {
  const named = namedAdvantages(training.advantages)
  const method = named.per === 'greedy' ? namedAdvantages('dr-grpo') : named
  const groups = all.map((members, g) =>
    formGroup(
      String(g),
      members.map(({ episode }) => episode),
      members.flatMap(({ score }) => score ?? []),
      groupEstimator(method),
      { ...training.groups, baseline: baselineOf(method) },
    ),
  )
  return estimateBatch(groups, method)
}

/** Accuracy of each member of each group, scored again. */
const scoreAccuracy = (all: readonly SavedEpisode[][], accuracy: Reward) =>
  Promise.all(
    all.map((members) =>
      Promise.all(
        members.map(async ({ episode, truth }) => (await accuracy(episode, truth)).total),
      ),
    ),
  )

function signalText({ shares, warnings, accuracy, ...report }: SignalReport): string {
  const percent = (share: number | undefined) =>
    share === undefined ? '–' : `${(100 * share).toFixed(1)} %`
  const names = new Set([...Object.keys(shares), ...Object.keys(accuracy)])
  const shareOf = (name: string): number => shares[name] ?? -1
  return [
    `${report.groups} groups: ${report.zeroVariance} without variance, ${report.nearZeroVariance} with hardly any (deviation below ${report.nearZeroBelow}), ${report.dropped} dropped`,
    `mean |advantage| ${numberText(report.magnitude)}, ${numberText(report.amplification, 2)} times the spread of rewards`,
    '',
    table([
      ['part', 'of the signal', 'with accuracy: in groups', 'over all'],
      ...[...names]
        .sort((a, b) => shareOf(b) - shareOf(a))
        .map((name) => [
          name,
          percent(shares[name]),
          numberText(accuracy[name]?.within, 2),
          numberText(accuracy[name]?.across, 2),
        ]),
    ]),
    ...warnings.map((warning) => `\n! ${warning}`),
  ].join('\n')
}

/**
 * Prints which reward parts the advantages of saved groups came from. Saved scores are used; only accuracy is
 * computed again.
 * @throws Fault `bad-input` for a path without groups
 */
export async function showSignal(
  path: string,
  flags: SignalFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const run = await readRunRecipe(path)
  if (run) {
    const keys = flags.reward === undefined ? (['reward'] as const) : []
    assertTrusted(path, run, { trust: flags.trust ?? false, keys })
    assertPartsGiven(
      run,
      ownPartNames.filter((part) => part !== 'reward' || flags.reward),
      '--reward',
    )
  }
  const recipe = run ?? Recipe.parse({})
  const episodes = join(path, 'episodes')
  const all = await readGroups(isFolder(path) && isFolder(episodes) ? episodes : path)
  // A run of another algorithm has no groups of its own.
  const training = recipe.training.algorithm === 'grpo' ? recipe.training : defaultTraining()
  const { advantages = training.advantages } = flags
  const knowledge = loadKnowledge()
  const { weights = {}, bounds } = await resolveReward(flags.reward ?? recipe.reward, {
    knowledge,
    formulary: formularyOf(knowledge),
  })
  const groups = formGroups(all, { ...training, advantages })
  const accuracy = await scoreAccuracy(all, accuracyReward(run))
  const report = signalReport(groups, weights, { bounds, accuracy })
  return out.show(`advantages: ${advantages}\n${signalText(report)}`, report)
}
