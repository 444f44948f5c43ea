/** Renders an evaluation report as text: means with intervals, between floor and ceiling. */
import type { RoleUsage } from '../../chat.js'
import { costText } from '../../chats/ledger.js'
import type { SpeechCounts } from '../../episode.js'
import type { Estimate } from '../../evaluation/bootstrap.js'
import type { Evaluation } from '../../evaluation/evaluate.js'
import { numberText, table } from './output.js'

/** A mean with its 95 % interval, where there is one: `0.731 [0.690, 0.772]`. */
export const estimateText = ({ mean, ci95 }: Estimate): string =>
  ci95 ? `${numberText(mean)} [${numberText(ci95[0])}, ${numberText(ci95[1])}]` : numberText(mean)

function scoreTable(evaluation: Evaluation, ceilingName: string): string {
  const { floor, ceiling, regret, normalised, partialCredit, examF1 } = evaluation
  return table([
    ['', evaluation.agent, 'floor (random)', `ceiling (${ceilingName})`, 'regret', 'normalised'],
    ...(['accuracy', 'reward'] as const).map((name) => [
      name,
      estimateText(evaluation[name]),
      estimateText({ mean: floor[name], ci95: floor.ci95[name] }),
      estimateText({ mean: ceiling[name], ci95: ceiling.ci95[name] }),
      numberText(regret[name]),
      numberText(normalised[name]),
    ]),
    ['partial credit', estimateText(partialCredit), '', '', '', ''],
    ['exam F1', estimateText(examF1), '', '', '', ''],
  ])
}

/** Full-information accuracy bound and question efficiency, where they are known. */
function boundLines({ bound, questionEfficiency }: Evaluation, ceilingName: string): string[] {
  return [
    ...(bound.accuracy === null
      ? []
      : [`bound: accuracy ${numberText(bound.accuracy)} with every finding of these cases known`]),
    ...(questionEfficiency.mean === null
      ? []
      : [
          `question efficiency: ${estimateText(questionEfficiency)} of what the ${ceilingName} learns in as many turns`,
        ]),
  ]
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')

/** What a role's model used. */
function roleText(role: string, used: RoleUsage): string {
  const { calls, failed, retries, promptTokens, completionTokens, cost } = used
  const troubles = [failed > 0 && `${failed} failed`, retries > 0 && `${retries} retries`]
  const all = [`${calls} calls`, ...troubles.filter((one) => one !== false)]
  const tokens = `${promptTokens} prompt and ${completionTokens} completion tokens`
  return `${role}: ${all.join(', ')}, ${tokens}, ${costText(cost)}`
}

/** What the models of all roles used, one line each. */
export const usageLines = (usage: Readonly<Record<string, RoleUsage>>): readonly string[] =>
  Object.entries(usage).map(([role, used]) => roleText(role, used))

const speechWords = {
  passed: "in the model's words",
  retried: 'at its second try',
  template: "in the rule patient's words, as the model's did not fit",
  fault: "in the rule patient's words, as the model failed",
  unread: 'not read for certain',
  diseaseNamed: 'name a disease',
  contradiction: 'contradict the case or an earlier reply',
} as const satisfies Partial<Record<keyof SpeechCounts, string>>

/** What became of the replies of a patient that a model plays; no line for any other. */
export function speechLines(counts: SpeechCounts | undefined): readonly string[] {
  if (!counts) return []
  // The keys are those of the table.
  const names = Object.keys(speechWords) as (keyof typeof speechWords)[]
  const told = names.flatMap((name) =>
    counts[name] > 0 ? [`${counts[name]} ${speechWords[name]}`] : [],
  )
  return [`replies of the patient: ${[counts.replies, ...told].join(', ')}`]
}

/** What a report has to say beside its numbers. */
export const noteLines = (notes: readonly string[] = []): readonly string[] =>
  notes.map((note) => `note: ${note}`)

/** pass@k for 1, 2, 4, … and the last k. */
function passLine({ repeats = 1, passAt = {} }: Evaluation): string[] {
  const shown = Object.keys(passAt).filter(
    (k) => Number(k) === repeats || Number.isInteger(Math.log2(Number(k))),
  )
  const each = shown.flatMap((k) => (passAt[k] ? [`${k} ${estimateText(passAt[k])}`] : []))
  return each.length > 0 ? [`pass@k: ${each.join(', ')}`] : []
}

/** The whole report. @param ceilingName name of the reference doctor at the ceiling */
export function evaluationText(evaluation: Evaluation, ceilingName: string): string {
  const { episodes, cases, tier, lang, split, seed, stops, unavailable, usage, faults } = evaluation
  const { repeats = 1 } = evaluation
  const played =
    repeats === 1
      ? `${episodes} of ${cases} cases`
      : `${episodes} of ${cases * repeats} consultations, ${repeats} of each of ${cases} cases`
  const each = (['turns', 'questions', 'exams', 'money', 'minutes'] as const)
    .map((name) => `${name} ${numberText(evaluation[name], 1)}`)
    .join(', ')
  return [
    `${played} · ${tier} · ${lang} · ${split} · seed ${seed}`,
    '',
    scoreTable(evaluation, ceilingName),
    '',
    ...passLine(evaluation),
    ...boundLines(evaluation, ceilingName),
    `a consultation: ${each}`,
    `ended: ${countsText(stops) || 'none'}`,
    ...(unavailable > 0 ? [`without a score: ${unavailable}`] : []),
    ...(faults ? [`faults of the world: ${countsText(faults)}`] : []),
    ...usageLines(usage),
    ...speechLines(evaluation.patient),
    ...noteLines(evaluation.notes),
  ].join('\n')
}
