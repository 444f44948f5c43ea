/**
 * Importer of MTMedDialog, the Parquet files of DoctorAgent-RL: one row per doctor turn of a translated online
 * consultation, with `prompt`, `reward_model.ground_truth` and `reward_model.patient_information`. The rows of one
 * consultation become one case, and its recorded exchanges the findings that a record patient can report.
 *
 * The model-written `enhanced_description` of some rows is not read: it was written from the diagnosis.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Case } from '../../case.js'
import { caseSchema } from '../../storage/case-schema.js'
import { detectLanguage } from '../../text/word-stems.js'
import type { Language } from '../../turn.js'
import { reportLeaks } from '../leaks/leak.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { readParquet } from './parquet.js'
import { parseRecordedGold } from './recorded-gold.js'

const tag =
  /\s*[（(]\s*(male|female|男性?|女性?)\s*[,，]\s*(\d{1,3})\s*-?(years?|months?|weeks?|days?|岁|个?月|周|天)?(?:\s*old)?\s*[)）]/gi

/** Parses "(male, 34 years old)" and removes it from the text. Of several tags the last counts: the record's own. */
export function parseDemographics(description: string): {
  readonly demographics: Pick<Case['demographics'], 'age' | 'sex'>
  readonly text: string
  readonly tags: number
} {
  const tags = [...description.matchAll(tag)]
  const [, sex = '', age = '', unit = ''] = tags.at(-1) ?? []
  const text = description
    .replace(tag, '')
    .replace(/\s+([.,。，])/g, '$1')
    .trim()
  if (!sex) return { demographics: {}, text: description, tags: 0 }
  const days = /^(?:week|周)/i.test(unit) ? 7 : 1
  const inDays = days === 7 || /^(?:day|天)/i.test(unit)
  return {
    demographics: {
      sex: /^(?:male|男)/i.test(sex) ? 'M' : 'F',
      age: {
        v: Number(age) * days,
        unit: inDays ? 'day' : /^(?:month|个?月)/i.test(unit) ? 'month' : 'year',
      },
    },
    text: /[\p{L}\p{N}]/u.test(text) ? text : description,
    tags: tags.length,
  }
}

const licence =
  'The repository the file comes from is Apache-2.0; it does not restate the terms of the corpora it was translated from (IMCS-21, CHIP-MDCFNPC, MedDG). Keep cases made from it to yourself.'

const columns = [
  'prompt.role',
  'prompt.content',
  'reward_model.ground_truth.diagnosis',
  'reward_model.ground_truth.recommendation',
  'reward_model.patient_information.doctor_question',
  'reward_model.patient_information.patient_response',
]

/** One text or a list of texts; null and blank ones dropped, joined by a space. */
const JoinedText = z
  .union([z.string(), z.array(z.string().nullish())])
  .nullish()
  .transform((texts) =>
    (typeof texts === 'string' ? [texts] : (texts ?? []))
      .flatMap((text) => text?.trim() || [])
      .join(' '),
  )
const MtmeddialogRow = z.object({
  prompt: z.array(z.object({ role: z.string(), content: z.string() })),
  reward_model: z.object({
    ground_truth: z.object({ diagnosis: z.string().trim().min(1), recommendation: JoinedText }),
    patient_information: z
      .array(z.object({ doctor_question: JoinedText, patient_response: JoinedText }))
      .min(1),
  }),
})
type MtmeddialogRow = z.infer<typeof MtmeddialogRow>

const descriptionLabel = /(?:Patient['’]s description|患者(?:描述|自述|主诉))\s*[:：]\s*/i
const instructions = /\s*\n\s*(?:Decide next action|决定下一步)|<\|im_end\|>/i

/** The patient's description: from the first message that has one, without the instructions around it. */
function findDescription(prompt: MtmeddialogRow['prompt']): string | undefined {
  for (const { content } of prompt) {
    const start = content.match(descriptionLabel)
    if (start?.index === undefined) continue
    const text = content.slice(start.index + start[0].length)
    const end = text.search(instructions)
    return (end < 0 ? text : text.slice(0, end)).trim() || undefined
  }
  return undefined
}

interface Consultation
  extends Pick<MtmeddialogRow['reward_model'], 'ground_truth' | 'patient_information'> {
  readonly id: string
  /** Index of the first row of this consultation. */
  readonly row: number
  readonly description: string
}

/** Findings of the recorded exchanges; warns of each exchange without a question or an answer, and skips it. */
function toFindings(
  { patient_information }: Consultation,
  language: Language,
  warn: (message: string) => void,
): z.input<typeof caseSchema>['findings'] {
  return patient_information.flatMap(({ doctor_question, patient_response }, i) => {
    const id = `exchange-${i + 1}`
    if (!doctor_question || !patient_response) {
      warn(`${id} has no recorded ${doctor_question ? 'answer' : 'question'} and was left out`)
      return []
    }
    return {
      id,
      kind: 'symptom',
      state: 'present',
      knownBy: 'patient',
      weight: 1,
      question: { [language]: doctor_question },
      utterance: { [language]: patient_response },
    } as const
  })
}

function toCase(consultation: Consultation, warn: (message: string) => void): Case {
  const { ground_truth, description } = consultation
  const { demographics, text, tags } = parseDemographics(description)
  const said = consultation.patient_information.map((exchange) => exchange.patient_response)
  const language = detectLanguage([text, ...said].join(' '))
  if (tags === 0) warn('the description gives neither sex nor age')
  if (tags > 1) warn(`the description gives sex and age ${tags} times; the last one was taken`)
  const { gold, found } = parseRecordedGold(
    ground_truth.diagnosis,
    ground_truth.recommendation,
    language,
  )
  if (!found)
    warn(
      `no disease could be made out, the whole diagnosis stands for it: ${ground_truth.diagnosis}`,
    )
  if (!ground_truth.recommendation) warn('no recommendation was recorded')
  return caseSchema.parse({
    schema: 'bedside-case/1',
    id: consultation.id,
    provenance: {
      source: 'MTMedDialog (DoctorAgent-RL)',
      ...{ license: licence, url: 'https://github.com/JarvisUSTC/DoctorAgent-RL' },
      ...{ synthetic: false, redistributable: false },
    },
    demographics,
    chiefComplaint: { text: { [language]: text }, findings: [] },
    findings: toFindings(consultation, language, warn),
    exams: [],
    examDefault: 'unavailable',
    gold,
  })
}

/** Groups rows into consultations. Ids hash the content, because row numbers and indices differ between the files. */
function groupConsultations(
  rows: readonly unknown[],
  skip: (row: number, path: string, reason: string) => void,
): Consultation[] {
  const found = new Map<string, Consultation>()
  for (const [row, raw] of rows.entries()) {
    const parsed = MtmeddialogRow.safeParse(raw)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      skip(row, issue?.path.join('.') ?? '', issue?.message ?? 'not a row of this format')
      continue
    }
    const { prompt, reward_model } = parsed.data
    const { ground_truth, patient_information } = reward_model
    const description = findDescription(prompt)
    if (description === undefined) {
      skip(row, 'prompt', "no message holds a patient's description")
    } else if (!patient_information.some((e) => e.doctor_question && e.patient_response)) {
      skip(row, 'reward_model.patient_information', 'no exchange has a question and an answer')
    } else {
      const content = JSON.stringify([description, ground_truth, patient_information])
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
      const id = `mtmeddialog-${hash}`
      if (!found.has(id)) found.set(id, { id, row, description, ground_truth, patient_information })
    }
  }
  return [...found.values()]
}

/**
 * Imports an MTMedDialog Parquet file. Cases come in the order of their first rows; a consultation has the same id in
 * every file that contains it.
 * @throws Fault `bad-input` when the file is missing, not Parquet, or lacks a column
 */
export async function importMtmeddialog(path: string): Promise<ImportResult> {
  const rows = await readParquet(path, columns)
  const skipped: ImportReport['skipped'][number][] = []
  const warnings: ImportReport['warnings'][number][] = []
  const cases = groupConsultations(rows, (row, at, reason) =>
    skipped.push({ row, path: at, reason }),
  ).map((consultation) =>
    toCase(consultation, (message) =>
      warnings.push({ row: consultation.row, message: `${consultation.id}: ${message}` }),
    ),
  )
  return {
    cases,
    report: {
      ...{ format: 'mtmeddialog', ok: cases.length, rows: rows.length, skipped, warnings },
      ...{ leaks: reportLeaks(cases), licence, redistributable: false },
    },
  }
}
