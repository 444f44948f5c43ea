/** Renders a training run as text: scores between floor and ceiling, and one patient before and after. */
import { join } from 'node:path'
import { graderView } from '../../case.js'
import type { PlayedCase } from '../../evaluation/play-cases.js'
import type { TrainingResult } from '../../runs/train.js'
import { episodeText } from './consultation-text.js'
import { estimateText, noteLines, speechLines, usageLines } from './evaluation-text.js'
import { commandLine, numberText, type Output, table } from './output.js'

/** Held-out scores before and after training, between floor and ceiling. */
function trainingText({ report, task }: TrainingResult): string {
  const { before, heldOut, groups, samples } = report
  const { floor, ceiling, normalised } = heldOut
  const row = (name: 'accuracy' | 'reward') => [
    name,
    numberText(floor[name]),
    estimateText(before[name]),
    estimateText(heldOut[name]),
    numberText(ceiling[name]),
    numberText(normalised[name]),
  ]
  const only = (name: string, of: (e: typeof before) => string) => [
    name,
    '',
    of(before),
    of(heldOut),
  ]
  return [
    `${heldOut.episodes} held-out cases · ${heldOut.tier} · ${heldOut.lang} · seed ${report.seed}`,
    '',
    table([
      ['', 'floor (random)', 'before', 'after', `ceiling (${task.ceiling.name})`, 'normalised'],
      row('accuracy'),
      row('reward'),
      only('partial credit', (e) => estimateText(e.partialCredit)),
      only('exam F1', (e) => estimateText(e.examF1)),
      only('turns', (e) => numberText(e.turns, 1)),
    ]),
    '',
    `${report.steps} steps, ${groups.formed} groups (${groups.zeroVariance} without variance, ${groups.dropped} dropped), ${samples.used} samples used, ${samples.unavailable} unavailable; ${report.timing.seconds.toFixed(1)} s`,
    ...usageLines(report.usage ?? {}),
    ...speechLines(report.patient),
    ...noteLines(report.notes),
  ].join('\n')
}

const isCorrect = ({ scores }: PlayedCase): boolean => scores?.accuracy.total === 1

/** The first held-out case that the trained doctor diagnosed correctly and the untrained one did not. */
function improvedPair({ before, after }: TrainingResult) {
  for (const late of after) {
    const early = before.find(({ truth }) => truth.id === late.truth.id)
    if (early && isCorrect(late) && !isCorrect(early)) return [early, late] as const
  }
  return undefined
}

/** Prints one held-out case that training improved: its episode before and after. */
export async function showPair(result: TrainingResult, { say, paint }: Output): Promise<void> {
  const pair = improvedPair(result)
  if (!pair) return say('\nNo held-out case was got right after training and wrong before.')
  const titles = ['Before training', 'After training, the same patient']
  for (const [i, { episode, truth }] of pair.entries()) {
    if (!episode) continue
    const score = await result.task.reward(episode, graderView(truth))
    const title = paint.bold(`── ${titles[i]} (${truth.id}) ──`)
    await say(`\n${title}\n${episodeText(episode, truth, score, paint)}`)
  }
}

/** Prints the scores of a run, where its files are, and the commands to use it. */
export async function showResult(result: TrainingResult, folder: string, out: Output) {
  const rows = [
    ['curves', join(folder, 'curves.png')],
    ['checkpoint', result.report.checkpoint],
    ['report', join(folder, 'report.json')],
    ['evaluate it', commandLine('evaluate', '--agent', folder)],
    ['talk to it', commandLine('consult', '--agent', folder)],
  ]
  await out.say(`${trainingText(result)}\n\n${table(rows, { words: 2 })}`)
}
