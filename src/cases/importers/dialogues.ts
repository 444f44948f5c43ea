/**
 * Importer of anybody's recorded dialogues: JSONL of `id`, `turns` (`speaker` doctor or patient, `text`), and optional
 * `profile`, `diagnosis` and `title`. The case's patient answers from the written profile and from what was said.
 */
import { stat } from 'node:fs/promises'
import { z } from 'zod'
import { type Case, unrecordedDiagnosis } from '../../case.js'
import { errorMessage, rethrowAsFault } from '../../error.js'
import { caseSchema } from '../../storage/case-schema.js'
import { readLines, refuseArray } from '../../storage/compressed-lines.js'
import { detectLanguage } from '../../text/word-stems.js'
import type { Language } from '../../turn.js'
import { reportLeaks } from '../leaks/leak.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { profileComplaint, profileDemographics, profileFindings } from './profile.js'
import { parseRecordedGold } from './recorded-gold.js'

const text = z.string().trim().min(1)
const Turn = z.object({ speaker: z.enum(['doctor', 'patient']), text: z.string() })
const DialogueRow = z.object({
  id: z.union([text, z.number()]).transform(String),
  turns: z.array(Turn).min(2),
  profile: z
    .union([z.string(), z.record(z.string(), z.union([z.string(), z.number()]).nullable())])
    .nullish(),
  diagnosis: z.string().nullish(),
  title: z.string().nullish(),
})
type DialogueRow = z.infer<typeof DialogueRow>

const licence =
  'The terms of these dialogues are those of whoever recorded them; the file does not say. Keep cases made from it to yourself unless they allow more.'

/** "(sighs): …": what a transcript says about the voice. */
const direction = /^\s*[（(][^（）()]{1,20}[）)]\s*[:：]?\s*/
/** Words by which somebody shows that they listen; no turn of its own. */
const listening =
  /^(?:(?:um+|uh+|er+|mm+|m?hmm+|ok(?:ay)?|yeah|yes|right|sure|alright|all right|i see|oh|ohh?|great|fine|good|and|so|嗯+|哦+|好的?|是的?|对|啊|这样啊)[\s,.!…，。！、-]*)+$/i
const asks =
  /[?？]|吗|呢|请[问说讲告描]|\b(?:tell me|describe|explain|talk me through|go on)\b|什么|怎么|多[久少大]/i

/** An offer of the doctor, or a question about the plan: the answer tells nothing of the patient. */
const offers =
  /(?:好吗|可以吗|行吗|好不好|行不行)[?？]?\s*$|\b(?:is that (?:ok\w*|all right|clear)|does that sound|sounds? (?:ok\w*|good|reasonable)|if that's ok\w*|any questions|(?:do )?you have any (?:other )?questions|(?:shall|should|can|may) (?:i|we) (?:just )?(?:examine|have a look|arrange|book|send))\b/i
/** An answer that only thanks or agrees. */
const thanks =
  /^(?:(?:好的?|谢谢\S{0,4}|嗯|ok(?:ay)?|thanks?(?: you)?(?: so much| doctor)?|that'?s (?:great|fine|good)|sounds good|great|perfect|bye)[\s,.!，。！、]*)+$/i

interface QuestionAndAnswer {
  readonly doctor: string
  readonly patient: string
}

/** The exchanges of a dialogue: turns of one speaker are joined, and an answer goes on after the doctor's words of listening. */
function toExchanges(turns: DialogueRow['turns'], separator: string): QuestionAndAnswer[] {
  const exchanges: { doctor: string[]; patient: string[] }[] = []
  for (const { speaker, text: raw } of turns) {
    const said = raw.replace(direction, '').trim()
    if (said === '') continue
    const last = exchanges.at(-1)
    if (speaker === 'patient') last?.patient.push(said)
    else if (last && last.patient.length === 0) last.doctor.push(said)
    else if (last && listening.test(said)) continue
    else exchanges.push({ doctor: [said], patient: [] })
  }
  return exchanges
    .filter(({ patient }) => patient.length > 0)
    .map(({ doctor, patient }) => ({
      doctor: doctor.join(separator),
      patient: patient.join(separator),
    }))
}

/** What the patient came with: the first thing they say that is more than a greeting. */
function spokenComplaint(turns: DialogueRow['turns'], language: Language): string | undefined {
  const least = language === 'zh' ? 6 : 25
  const said = turns.filter(({ speaker }) => speaker === 'patient')
  return said
    .map((turn) => turn.text.replace(direction, '').trim())
    .find((one) => one.length >= least)
}

/** Gold of a dialogue; without a diagnosis it can be talked through but not graded. */
function toGold(
  { diagnosis, title }: DialogueRow,
  language: Language,
  warn: (message: string) => void,
) {
  const named = diagnosis?.trim() || title?.trim()
  if (!named) {
    warn('no diagnosis: the case can be talked through, but a diagnosis of it is not graded')
    const name = { zh: '未记录', en: 'not recorded' }
    return { dx: [{ id: unrecordedDiagnosis, name, role: 'primary' as const }] }
  }
  if (!diagnosis?.trim()) warn(`no diagnosis: the title was taken for it, ${named}`)
  const { gold, found } = parseRecordedGold(named, undefined, language)
  if (!found) warn(`no disease could be made out, the whole text stands for it: ${named}`)
  return gold
}

/** The exchanges that tell something of the patient; warns of the others. */
function tellingExchanges(
  { turns }: DialogueRow,
  language: Language,
  warn: (message: string) => void,
): QuestionAndAnswer[] {
  const all = toExchanges(turns, language === 'zh' ? '' : ' ')
  const telling = all.filter(
    ({ doctor, patient }) => asks.test(doctor) && !offers.test(doctor) && !thanks.test(patient),
  )
  const left = all.length - telling.length
  if (left > 0)
    warn(`${left} exchanges in which the doctor asks nothing about the patient were left out`)
  return telling
}

const exchangeFindings = (
  exchanges: readonly QuestionAndAnswer[],
  language: Language,
): z.input<typeof caseSchema>['findings'] =>
  exchanges.map(({ doctor, patient }, i) => ({
    ...{ id: `exchange-${i + 1}`, kind: 'symptom', state: 'present', knownBy: 'patient' },
    weight: 1,
    question: { [language]: doctor },
    utterance: { [language]: patient },
  }))

function toCase(row: DialogueRow, warn: (message: string) => void): Case | undefined {
  const language = detectLanguage(row.turns.map((turn) => turn.text).join(' '))
  const exchanges = tellingExchanges(row, language, warn)
  const profile = row.profile ?? undefined
  const written = profile === undefined ? undefined : profileComplaint(profile, language)
  const complaint = written ?? spokenComplaint(row.turns, language)
  if (complaint === undefined || exchanges.length === 0) return undefined
  return caseSchema.parse({
    schema: 'bedside-case/1',
    id: `dialogue-${row.id}`,
    provenance: {
      ...{ source: 'recorded dialogues', license: licence },
      ...{ synthetic: false, redistributable: false },
    },
    demographics: profile === undefined ? {} : profileDemographics(profile),
    chiefComplaint: { text: { [language]: complaint }, findings: [] },
    findings: [
      ...exchangeFindings(exchanges, language),
      ...(profile === undefined ? [] : profileFindings(profile, language)),
    ],
    exams: [],
    examDefault: 'unavailable',
    gold: toGold(row, language, warn),
  })
}

type Problem = Pick<ImportReport['skipped'][number], 'path' | 'reason'>

const excerpt = (value: unknown): string => {
  const json = value === undefined ? 'nothing' : JSON.stringify(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}

/** Path, what was expected and what was found, of the first thing wrong with a row. */
function problemOf(value: unknown, issue: z.core.$ZodIssue | undefined): Problem {
  const path = issue?.path.map(String).join('.') || 'the whole line'
  const got = (issue?.path ?? []).reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  )
  const values = issue?.code === 'invalid_value' ? issue.values.map(String).join(' or ') : undefined
  const wanted =
    values ??
    (issue?.code === 'invalid_type'
      ? issue.expected
      : issue?.code === 'too_small'
        ? `at least ${issue.minimum}`
        : 'text, or an object of texts')
  return { path, reason: `expected ${wanted}, got ${excerpt(got)}` }
}

function readRow(line: string): { readonly row: DialogueRow } | Problem {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return {
      path: 'the whole line',
      reason: `expected JSON, got ${excerpt(line)} (${errorMessage(error)})`,
    }
  }
  const parsed = DialogueRow.safeParse(value)
  return parsed.success ? { row: parsed.data } : problemOf(value, parsed.error.issues[0])
}

interface NumberedRow {
  readonly row: number
  readonly line: number
  readonly read: ReturnType<typeof readRow>
}

/** Streams the rows of a file, with their number and line; blank lines are ignored. */
async function* streamRows(path: string): AsyncGenerator<NumberedRow, void, undefined> {
  await rethrowAsFault('bad-input', path, async () => {
    if (!(await stat(path)).isFile()) throw new Error('expected a file, got a folder')
  })
  let [line, row] = [0, 0]
  for await (const raw of readLines(path)) {
    line++
    const text = raw.trim()
    if (text === '') continue
    if (row === 0) refuseArray(text, 'dialogue', path)
    yield { row: row++, line, read: readRow(text) }
  }
}

const untellable: Problem = {
  path: 'turns',
  reason: 'expected a complaint and a question that the patient answers, got none',
}

/**
 * Imports a file of recorded dialogues, one a line. Broken lines are skipped and reported with their line, and so is a
 * second dialogue of one id.
 * @throws Fault `bad-input` when the file is missing, is one JSON array, or is not in UTF-8
 */
export async function importDialogues(path: string): Promise<ImportResult> {
  const cases: Case[] = []
  const skipped: ImportReport['skipped'][number][] = []
  const warnings: ImportReport['warnings'][number][] = []
  const lines = new Map<string, number>()
  const take = ({ row, line, read }: NumberedRow): Problem | undefined => {
    if (!('row' in read)) return read
    const { id } = read.row
    const first = lines.get(id)
    if (first !== undefined)
      return {
        path: 'id',
        reason: `expected an id of its own, got ${excerpt(id)}, which line ${first} has`,
      }
    lines.set(id, line)
    const truth = toCase(read.row, (message) =>
      warnings.push({ row, message: `${id}: ${message}` }),
    )
    if (!truth) return untellable
    cases.push(truth)
    return undefined
  }
  let rows = 0
  for await (const next of streamRows(path)) {
    rows++
    const problem = take(next)
    if (problem) skipped.push({ row: next.row, line: next.line, ...problem })
  }
  return {
    cases,
    report: {
      ...{ format: 'dialogues', ok: cases.length, rows, skipped, warnings },
      ...{ leaks: reportLeaks(cases), licence, redistributable: false },
    },
  }
}
