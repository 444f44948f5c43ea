/** Renders a consultation as text, turn by turn, in the episode's language. */
import { intakeText } from '../../agents/intake.js'
import { type Case, type DoctorView, primaryDiagnosis, textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import { stripControls } from '../../platform/line-reader.js'
import type { Part, Score } from '../../reward.js'
import type { Action, Language, Stop, Turn } from '../../turn.js'
import { numberText, type Output, table } from './output.js'

const words = {
  zh: {
    doctor: '医生',
    answered: '患者',
    examined: '检查',
    rejected: '未执行',
    order: (exam: string) => `开检查：${exam}`,
    diagnosis: '诊断：',
    recommendation: '建议：',
    confidence: '把握：',
    differential: '鉴别：',
    triage: '分诊：',
    between: '；',
    bracketed: (text: string) => `（${text}）`,
    giveUp: '（放弃）',
    truth: '真实诊断：',
    score: '得分',
    unavailable: '无法计算',
    notApplicable: '不适用',
    end: ({ turns, maxTurns, spent, budget, stop }: Episode) =>
      `结束：${stops[stop]}；${turns.length}/${maxTurns}回合，费用${spent.money}/${budget.money}，用时${spent.minutes}/${budget.minutes}分钟`,
  },
  en: {
    doctor: 'Doctor',
    answered: 'Patient',
    examined: 'Exam',
    rejected: 'Not done',
    order: (exam: string) => `orders ${exam}`,
    diagnosis: 'Diagnosis: ',
    recommendation: 'Recommendation: ',
    confidence: 'Confidence: ',
    differential: 'Differential: ',
    triage: 'Triage: ',
    between: '; ',
    bracketed: (text: string) => ` (${text})`,
    giveUp: '(gives up)',
    truth: 'Truth: ',
    score: 'Score',
    unavailable: 'unavailable',
    notApplicable: 'not applicable',
    end: ({ turns, maxTurns, spent, budget, stop }: Episode) =>
      `Ended: ${stop}; turn ${turns.length} of ${maxTurns}, money ${spent.money} of ${budget.money}, minutes ${spent.minutes} of ${budget.minutes}`,
  },
} as const

const stops: Readonly<Record<Stop, string>> = {
  diagnosed: '已作出诊断',
  'gave-up': '放弃',
  'invalid-action': '回复无法读取',
  'max-turns': '回合用尽',
  budget: '时间用尽',
}

type Paint = Output['paint']

const percent = (p: number): string => `${Number((100 * p).toFixed(1))}%`

/** Confidence, differential and triage stated with a diagnosis, one per line. */
function diagnosisDetails(
  { confidence, differential = [], triage }: Extract<Action, { readonly kind: 'diagnose' }>,
  language: Language,
): readonly string[] {
  const say = words[language]
  const others = differential.map(({ diagnosis, p }) =>
    p === undefined ? diagnosis : `${diagnosis}${say.bracketed(percent(p))}`,
  )
  return [
    ...(confidence === undefined ? [] : [say.confidence + percent(confidence)]),
    ...(others.length > 0 ? [say.differential + others.join(say.between)] : []),
    ...(triage === undefined ? [] : [say.triage + triage]),
  ]
}

function actionText({ action }: Turn, language: Language): string {
  const say = words[language]
  switch (action.kind) {
    case 'ask':
    case 'invalid':
      return action.text
    case 'order':
      return say.order(action.exam)
    case 'diagnose':
      return [
        say.diagnosis + action.diagnosis,
        ...diagnosisDetails(action, language),
        ...(action.recommendation ? [say.recommendation + action.recommendation] : []),
      ].join('\n')
    case 'give-up':
      return say.giveUp
  }
}

/** Speaker, then the text; further lines are indented by `width`. */
function dialogueLine(who: string, width: number, text: string): string {
  const gap = ' '.repeat(width)
  return `${who}${stripControls(text).trim().replaceAll('\n', `\n${gap}`)}`
}

/** The intake: what the doctor knows before the first turn. */
export const openingText = (intake: DoctorView, language: Language): string =>
  stripControls(intakeText(intake, language))

/** A speaker's label and its width in columns. @param n turn number, where one is printed */
const speaker = (who: string, language: Language, n = ''): readonly [string, number] =>
  language === 'zh' ? [`${n.padStart(2)} ${who}  `, 9] : [`${n.padStart(2)} ${who.padEnd(8)}  `, 13]

/** Reply, result or rejection of a turn; empty when the consultation was over. */
export function outcomeText({ outcome }: Turn, language: Language, paint: Paint): string {
  if (outcome.kind === 'closed') return ''
  const [label, width] = speaker(words[language][outcome.kind], language)
  const colour = outcome.kind === 'rejected' ? paint.yellow : paint.green
  return dialogueLine(colour(label), width, outcome.text)
}

/** One turn: the doctor's action and its outcome. @param n turn number, from 1 */
export function turnText(turn: Turn, n: number, language: Language, paint: Paint): string {
  const [label, width] = speaker(words[language].doctor, language, String(n))
  const answer = outcomeText(turn, language, paint)
  const said = dialogueLine(paint.cyan(label), width, actionText(turn, language))
  return answer ? `${said}\n${answer}` : said
}

function partText(part: Part, language: Language): readonly [string, string] {
  const say = words[language]
  if (part.status === 'ok') return [numberText(part.value), stripControls(part.evidence ?? '')]
  if (part.status === 'unavailable') return [say.unavailable, stripControls(part.reason)]
  return [say.notApplicable, '']
}

/** A score: the total, then each part with its value and evidence. */
export function scoreText(score: Score, language: Language): string {
  const total = numberText(score.total)
  const rows = Object.entries(score.parts).map(([name, part]) => {
    const [value, evidence] = partText(part, language)
    return ['  ', name, value, evidence]
  })
  return `${words[language].score} ${total}${rows.length > 0 ? `\n${table(rows, { words: 4 })}` : ''}`
}

/** End of a consultation: stop reason and costs, true diagnosis, score. */
export function closingText(
  episode: Episode,
  truth: Case,
  score: Score,
  { language, paint }: { readonly language: Language; readonly paint: Paint },
): string {
  const { name, codes } = primaryDiagnosis(truth.gold)
  const code = codes[0] ? ` (${codes[0].code})` : ''
  const say = words[language]
  return [
    say.end(episode),
    paint.bold(`${say.truth}${textInLanguage(name, language)}${code}`),
    scoreText(score, language),
  ].join('\n')
}

/** A whole episode: intake, turns, end and score. */
export function episodeText(episode: Episode, truth: Case, score: Score, paint: Paint): string {
  const { language } = episode
  return [
    openingText(episode.intake, language),
    '',
    ...episode.turns.map((turn, t) => turnText(turn, t + 1, language, paint)),
    '',
    closingText(episode, truth, score, { language, paint }),
  ].join('\n')
}
