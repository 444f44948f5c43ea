/** Renders an evaluation report as text: means with intervals, between floor and ceiling. */
import type { Estimate } from '../../evaluation/bootstrap.js'
import type { Evaluation } from '../../evaluation/report.js'
import { number, table } from './output.js'

/** A mean with its 95 % interval, where there is one: `0.731 [0.690, 0.772]`. */
export const spread = ({ mean, ci95 }: Estimate): string =>
  ci95 ? `${number(mean)} [${number(ci95[0])}, ${number(ci95[1])}]` : number(mean)

function scoreTable(evaluation: Evaluation, ceilingName: string): string {
  const { floor, ceiling, regret, normalised, partialCredit, examF1 } = evaluation
  return table([
    ['', evaluation.agent, 'floor (random)', `ceiling (${ceilingName})`, 'regret', 'normalised'],
    ...(['accuracy', 'reward'] as const).map((name) => [
      name,
      spread(evaluation[name]),
      spread({ mean: floor[name], ci95: floor.ci95[name] }),
      spread({ mean: ceiling[name], ci95: ceiling.ci95[name] }),
      number(regret[name]),
      number(normalised[name]),
    ]),
    ['partial credit', spread(partialCredit), '', '', '', ''],
    ['exam F1', spread(examF1), '', '', '', ''],
  ])
}

/** Full-information accuracy bound and question efficiency, where they are known. */
function boundLines({ bound, questionEfficiency }: Evaluation, ceilingName: string): string[] {
  return [
    ...(bound.accuracy === null
      ? []
      : [`bound: accuracy ${number(bound.accuracy)} with every finding of these cases known`]),
    ...(questionEfficiency.mean === null
      ? []
      : [
          `question efficiency: ${spread(questionEfficiency)} of what the ${ceilingName} learns in as many turns`,
        ]),
  ]
}

/** The whole report. @param ceilingName name of the reference doctor at the ceiling */
export function evaluationText(evaluation: Evaluation, ceilingName: string): string {
  const { episodes, cases, tier, lang, split, seed, stops, unavailable, usage } = evaluation
  const each = (['turns', 'questions', 'exams', 'money', 'minutes'] as const)
    .map((name) => `${name} ${number(evaluation[name], 1)}`)
    .join(', ')
  const ends = Object.entries(stops).map(([stop, count]) => `${stop} ${count}`)
  return [
    `${episodes} of ${cases} cases · ${tier} · ${lang} · ${split} · seed ${seed}`,
    '',
    scoreTable(evaluation, ceilingName),
    '',
    ...boundLines(evaluation, ceilingName),
    `a consultation: ${each}`,
    `ended: ${ends.join(', ') || 'none'}`,
    ...(unavailable > 0 ? [`without a score: ${unavailable}`] : []),
    ...Object.entries(usage).map(
      ([role, { calls, promptTokens, completionTokens }]) =>
        `${role}: ${calls} calls, ${promptTokens} prompt and ${completionTokens} completion tokens`,
    ),
  ].join('\n')
}
