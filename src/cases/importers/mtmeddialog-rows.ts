/**
 * The formats of MTMedDialog, told apart by looking at the file: Parquet with one row per doctor turn (DoctorAgent-RL's
 * SFT files) or per consultation (its RL file, whose only message is a whole prompt), and JSON with one row per
 * consultation, an array (its test file) or lines (DyMoMed's reuse of it).
 */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { Fault, rethrowAsFault } from '../../error.js'
import type { ImportReport } from './import-report.js'
import { readJsonRows } from './json-rows.js'
import { readParquet } from './parquet.js'

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

const Exchanges = MtmeddialogRow.shape.reward_model.shape.patient_information
const GroundTruth = MtmeddialogRow.shape.reward_model.shape.ground_truth
const JsonConsultation = z
  .object({ self_report: z.string().trim().min(1), dialogue: Exchanges })
  .and(GroundTruth)

/** One recorded consultation, as its rows agree on it. */
export interface Consultation
  extends Pick<MtmeddialogRow['reward_model'], 'ground_truth' | 'patient_information'> {
  readonly id: string
  /** Index of the first row of this consultation. */
  readonly row: number
  readonly description: string
  /** Where the diagnosis is in a row of this format. */
  readonly goldPath: string
}

/** The consultations of a file, in the order of their first rows, and the rows that make none. */
interface ConsultationRows {
  readonly rows: number
  readonly consultations: readonly Consultation[]
  readonly skipped: ImportReport['skipped']
}

type Read = Omit<Consultation, 'id' | 'row'> | { readonly path: string; readonly reason: string }

const problem = (issue: z.core.$ZodIssue | undefined): Read => ({
  path: issue?.path.join('.') ?? '',
  reason: issue?.message ?? 'not a row of this format',
})

function readParquetRow(raw: unknown): Read {
  const parsed = MtmeddialogRow.safeParse(raw)
  if (!parsed.success) return problem(parsed.error.issues[0])
  const { prompt, reward_model } = parsed.data
  const { ground_truth, patient_information } = reward_model
  const description = findDescription(prompt)
  if (description === undefined)
    return { path: 'prompt', reason: "no message holds a patient's description" }
  const path = 'reward_model.patient_information'
  if (!isAnswered(patient_information)) return { path, reason: unanswered }
  const goldPath = 'reward_model.ground_truth.diagnosis'
  return { description, ground_truth, patient_information, goldPath }
}

const unanswered = 'no exchange has a question and an answer'
const isAnswered = (exchanges: Consultation['patient_information']): boolean =>
  exchanges.some((exchange) => exchange.doctor_question && exchange.patient_response)

function readJsonRow(raw: unknown): Read {
  const parsed = JsonConsultation.safeParse(raw)
  if (!parsed.success) return problem(parsed.error.issues[0])
  const { self_report: description, dialogue: patient_information } = parsed.data
  const { diagnosis, recommendation } = parsed.data
  if (!isAnswered(patient_information)) return { path: 'dialogue', reason: unanswered }
  const ground_truth = { diagnosis, recommendation }
  return { description, ground_truth, patient_information, goldPath: 'diagnosis' }
}

/** Ids hash the content, because row numbers and indices differ between the files. */
function toId({
  description,
  ground_truth,
  patient_information,
}: Omit<Consultation, 'id' | 'row'>): string {
  const content = JSON.stringify([description, ground_truth, patient_information])
  return `mtmeddialog-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`
}

/** Groups rows into consultations. */
function group(rows: readonly Read[]): ConsultationRows {
  const found = new Map<string, Consultation>()
  const skipped: ImportReport['skipped'][number][] = []
  for (const [row, read] of rows.entries()) {
    if ('reason' in read) skipped.push({ row, ...read })
    else {
      const id = toId(read)
      if (!found.has(id)) found.set(id, { id, row, ...read })
    }
  }
  return { rows: rows.length, consultations: [...found.values()], skipped }
}

/** Keys of the formats that look alike, and what to do about each that is none of ours. */
function refuseForeign(row: unknown, path: string): void {
  const has = (key: string) => typeof row === 'object' && row !== null && key in row
  if (has('self_report') && has('dialogue')) return
  const keys = typeof row === 'object' && row !== null ? Object.keys(row).join(', ') : typeof row
  const hint = has('messages')
    ? ' (a conversion for MrlX, which has dropped the dialogues: import the Parquet file it was made from)'
    : ''
  throw new Fault(
    'bad-input',
    `${path}: expected rows with self_report, dialogue, diagnosis and recommendation, or a Parquet file, found ${keys || 'no keys'}${hint}`,
  )
}

/** Whether a file begins as a Parquet file does, or at least is not text that could be JSON. */
async function looksLikeJson(path: string): Promise<boolean> {
  if (/\.(?:gz|br)$/.test(path)) return true
  return await rethrowAsFault('bad-input', path, async () => {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
      const head = buffer
        .subarray(0, bytesRead)
        .toString('latin1')
        .replace(/^\u00ef\u00bb\u00bf/, '')
      return /^\s*[[{]/.test(head) && !/\.parquet$/.test(path)
    } finally {
      await file.close()
    }
  })
}

/**
 * Reads the consultations of a file in any of the formats.
 * @throws Fault `bad-input` when the file is missing, damaged, or of none of them
 */
export async function readConsultations(path: string): Promise<ConsultationRows> {
  if (!(await looksLikeJson(path)))
    return group((await readParquet(path, columns)).map(readParquetRow))
  const rows = await readJsonRows(path)
  const first = rows.find((row) => 'value' in row)
  if (first && 'value' in first) refuseForeign(first.value, path)
  return group(
    rows.map((row) => ('value' in row ? readJsonRow(row.value) : { path: '', reason: row.broken })),
  )
}
