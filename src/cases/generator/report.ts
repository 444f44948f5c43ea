/** Reports of a generated case: the number behind a state, its sentence with the reference interval, and the result. */
import type { ExamResult, Finding } from '../../case.js'
import { isInapplicable, type Model } from '../../inference/generative-model.js'
import {
  type ExamDefinition,
  type FindingDefinition,
  measureFor,
} from '../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { uniform } from '../../seed.js'
import { referenceText } from '../../text/reference-interval.js'
import type { Language } from '../../turn.js'
import type { DrawnPatient } from './draw.js'
import type { BilingualText } from './opening.js'

type Range = readonly [low: number, high: number]
const countDecimals = (n: number): number => String(n).split('.')[1]?.length ?? 0

/** Decimals of a drawn value: as many as the author wrote, at least one where the upper end is below 10. */
const decimalsOf = memoizeByIdentity(([low, high]: Range): number =>
  Math.max(countDecimals(low), countDecimals(high), high < 10 ? 1 : 0),
)

/** Draws the number behind a state, from the range for the patient's age and sex. */
export function drawValue(
  finding: FindingDefinition,
  state: string,
  patient: DrawnPatient,
): number | undefined {
  const range = measureFor(finding, patient)?.ranges[state]
  if (!range) return undefined
  const drawn = range[0] + uniform(patient.seed, 'value', finding.id) * (range[1] - range[0])
  return Number(drawn.toFixed(decimalsOf(range)))
}

const lastMark = /[.。]?$/

/** Draws a sentence for a finding's state; the same keyed position of the list in both languages. */
function drawSentence(
  finding: FindingDefinition,
  state: string,
  value: number | undefined,
  patient: DrawnPatient,
): BilingualText {
  const said = finding.say[state]
  if (!said) throw new TypeError(`Expected sentences for ${finding.id} ${state}, got none`)
  const u = uniform(patient.seed, 'say', finding.id)
  const reference = measureFor(finding, patient)?.reference
  const at = (list: readonly string[], language: Language): string => {
    const text = list[Math.floor(u * list.length)] ?? ''
    if (value === undefined || !text.includes('{value}')) return text
    const told = text.replaceAll('{value}', String(value))
    if (!reference) return told
    const within = referenceText(reference, language)
    return told.replace(lastMark, (mark) => `${within}${mark}`)
  }
  return { zh: at(said.zh, 'zh'), en: at(said.en, 'en') }
}

const notDone = { zh: '此处无法进行该项检查。', en: 'This examination cannot be done here.' }
const nothing = { zh: '未见异常。', en: 'Nothing abnormal was found.' }

/** Carries out one examination: its findings and the text of the report. */
export function drawExamResult(
  exam: ExamDefinition,
  model: Model,
  patient: DrawnPatient,
  findings: ReadonlyMap<string, Finding>,
): ExamResult {
  const yields = model.yields.get(exam.id) ?? []
  const moot = yields.every((f) => isInapplicable(model.nodes[f]!, patient))
  if (moot || uniform(patient.seed, 'exam', exam.id) < exam.unavailableP)
    return { exam: exam.id, findings: [], report: notDone, abnormal: false, unavailable: true }
  const shown: string[] = []
  const report = { zh: [] as string[], en: [] as string[] }
  let abnormal = false
  for (const f of yields) {
    const { finding, normal } = model.nodes[f]!
    const entry = findings.get(finding.id)
    if (!entry) continue
    const text = drawSentence(finding, entry.state, entry.value, patient)
    shown.push(finding.id)
    report.zh.push(text.zh)
    report.en.push(text.en)
    abnormal ||= entry.state !== finding.states[normal]
  }
  const text = shown.length > 0 ? { zh: report.zh.join(''), en: report.en.join(' ') } : nothing
  return { exam: exam.id, findings: shown, report: text, abnormal, unavailable: false }
}
