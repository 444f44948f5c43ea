/** Renders re-scored episodes as text: rewards, their correlations, and the parts of each. */
import { maxExactCases } from '../../evaluation/streaming-summary.js'
import type { RescoreReport } from '../commands/rescore.js'
import { estimateText } from './evaluation-text.js'
import { numberText, table } from './output.js'

const bound = (value: number): string =>
  Number.isFinite(value) ? String(value) : value < 0 ? '-∞' : '∞'

/** Formats a reward's bounds: `0 to 1`. */
export const boundsText = ([low, high]: readonly [number, number]): string =>
  `${bound(low)} to ${bound(high)}`

const countText = (count: number, what: string): string => (count > 0 ? `${count} ${what}` : '')

function rewardsTable({ byReward }: RescoreReport): string {
  return table(
    [
      ['reward', 'bounds', 'mean', 'with accuracy', ''],
      ...[...byReward].map(([name, { reward, bounds, unavailable, correlation }]) => [
        ...[name, boundsText(bounds), estimateText(reward), numberText(correlation.accuracy, 2)],
        countText(unavailable, 'without a score'),
      ]),
    ],
    { words: 3 },
  )
}

function correlationTable({ byReward }: RescoreReport): string[] {
  const names = [...byReward.keys()]
  if (names.length < 2) return []
  return [
    '',
    table([
      ['correlation', ...names],
      ...[...byReward].map(([name, { correlation }]) => [
        name,
        ...names.map((other) =>
          name === other ? '1' : numberText(correlation.rewards[other] ?? null, 2),
        ),
      ]),
    ]),
  ]
}

function partsTable({ byReward }: RescoreReport): string {
  return table([
    ['part', 'mean', 'with accuracy', '', ''],
    ...[...byReward].flatMap(([name, { parts, correlation }]) => [
      [name, '', '', '', ''],
      ...Object.entries(parts).map(([part, { mean, unavailable, notApplicable }]) => [
        `  ${part}`,
        ...[numberText(mean), numberText(correlation.parts[part] ?? null, 2)],
        ...[countText(unavailable, 'unavailable'), countText(notApplicable, 'not applicable')],
      ]),
    ]),
  ])
}

/** The whole report of `rewards score`. */
export function rescoreText(report: RescoreReport): string {
  const all = [...report.byReward.values()]
  return [
    `${report.episodes} episodes; brackets are 95 % intervals, cases resampled`,
    '',
    rewardsTable(report),
    ...correlationTable(report),
    '',
    partsTable(report),
    ...all.flatMap(({ trouble }) => (trouble === undefined ? [] : [`\n! ${trouble}`])),
    ...(all.some(({ bundled }) => bundled)
      ? [
          `\n! more than ${maxExactCases} cases: the intervals resample ${maxExactCases} random bundles of them`,
        ]
      : []),
  ].join('\n')
}
