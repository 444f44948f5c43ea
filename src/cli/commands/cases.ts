/** `bedside cases generate`, `check`, `schema` and `show`. */
import type { Case } from '../../case.js'
import { type CoherenceReport, coherenceScan } from '../../cases/coherence/coherence.js'
import { parseCaseId } from '../../cases/generator/case-id.js'
import { generateCase } from '../../cases/generator/generate.js'
import { type Leak, leaks } from '../../cases/leaks/leak.js'
import { dialogueLeaks } from '../../cases/leaks/leak-dialogue.js'
import { recordExams } from '../../envs/exams/record.js'
import { rulePatientAtOnce } from '../../envs/patients/rule.js'
import { Fault } from '../../error.js'
import { firstLines } from '../../platform/bounded-list.js'
import { type BrokenLine, readCases, streamCases, writeCases } from '../../storage/case-files.js'
import type { Language } from '../../turn.js'
import type { CaseFlags } from '../flags/flags.js'
import { type ViewName, viewJson, viewText } from '../print/case-text.js'
import { reportStop } from '../print/failure.js'
import { output, type PrintFlags, type Terminal, write } from '../print/output.js'
import { startProgress } from '../print/progress.js'
import { clinicKnowledge, findCase } from './play-plan.js'

/** Generates the cases that the flags describe, one at a time. */
async function* generateFromFlags(flags: CaseFlags, byDefault: number): AsyncGenerator<Case> {
  const { tier = 'easy', seed = 0, cases } = flags
  const split = flags.split === 'heldout' ? 'heldout' : 'train'
  const knowledge = await clinicKnowledge(flags.clinic)
  for (let n = 0; n < (cases?.count ?? byDefault); n++)
    yield generateCase(knowledge, { tier, split, seed, n })
}

/** Copies a JSON value with every bilingual text reduced to one language. */
function keepLanguage(value: unknown, language: Language): unknown {
  if (Array.isArray(value)) return value.map((inner) => keepLanguage(inner, language))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isText = entries.length === 2 && 'zh' in value && 'en' in value
  if (isText) return { [language]: value[language] }
  return Object.fromEntries(entries.map(([key, inner]) => [key, keepLanguage(inner, language)]))
}

interface GenerateFlags extends CaseFlags {
  readonly out?: string
}

/** Writes generated cases as JSONL, to stdout or atomically to a file. */
export async function generateCases(flags: GenerateFlags, terminal: Terminal): Promise<number> {
  if (flags.cases?.file !== undefined)
    throw new Fault(
      'bad-input',
      `--cases: expected how many cases to generate, got \`${flags.cases.file}\``,
    )
  const { signal } = terminal
  const { out, lang } = flags
  const print = output(terminal, flags)
  const total = flags.cases?.count ?? 10
  const quiet = flags.quiet || out === undefined
  const bar = await startProgress(terminal, { label: 'generating', total, quiet })
  let made = 0
  async function* cases() {
    for await (const truth of generateFromFlags(flags, total)) {
      if (++made % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
      bar.update(made)
      // The cast holds: the same shape with fewer texts in it.
      yield lang ? (keepLanguage(truth, lang) as Case) : truth
    }
  }
  try {
    if (out === undefined)
      for await (const truth of cases()) await write(terminal.stdout, `${JSON.stringify(truth)}\n`)
    else {
      const count = await writeCases(out, cases())
      await print.note(`${count} cases in ${out}`)
      if (flags.json) await print.document({ cases: count, out })
    }
    return 0
  } catch (error) {
    if (!signal.aborted) throw error
    const kept = out === undefined ? `${made} cases were written.` : 'Nothing was kept.'
    return reportStop(terminal, kept)
  } finally {
    bar.stop()
  }
}

interface CaseCheckReport {
  readonly cases: number
  readonly leaks: readonly (Leak & { readonly case: string })[]
  readonly invalid: readonly BrokenLine[]
  readonly coherence: CoherenceReport
}

async function check(flags: CaseFlags, terminal: Terminal): Promise<CaseCheckReport> {
  const { file, count = 200 } = flags.cases ?? {}
  const knowledge = await clinicKnowledge(flags.clinic)
  const found: (Leak & { readonly case: string })[] = []
  const invalid: BrokenLine[] = []
  const source =
    file === undefined
      ? generateFromFlags(flags, count)
      : streamCases(file, { onBroken: (broken) => invalid.push(broken) })
  const bar = await startProgress(terminal, {
    ...flags,
    label: 'checking',
    total: file === undefined ? count : 0,
  })
  const [patient, examine] = [rulePatientAtOnce({ knowledge }), recordExams({ knowledge })]
  const scan = coherenceScan(knowledge)
  let { tier } = flags
  let cases = 0
  for await (const truth of source) {
    if (++cases % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    terminal.signal.throwIfAborted()
    const said = parseCaseId(truth.id)
      ? dialogueLeaks(truth, { knowledge, patient, examine }, cases)
      : []
    // Recorded cases are as their patients were.
    const generated = parseCaseId(truth.id)
    if (generated) scan.add(truth)
    tier ??= generated?.tier
    for (const leak of [...leaks(truth, knowledge), ...said])
      found.push({ case: truth.id, ...leak })
    bar.update(cases)
  }
  bar.stop()
  return { cases, leaks: found, invalid, coherence: scan.report(tier ?? 'easy') }
}

/** The coherence of the generated cases in words: counts, then the bounds that are broken, with examples. */
function coherenceLines(report: CoherenceReport): readonly string[] {
  if (report.cases === 0) return []
  const share = (p: number): string => `${(100 * p).toFixed(1)} %`
  const counts = [
    `complaint of the disease ${share(report.complaintFromDisease)}`,
    `${report.contradictions} contradictions`,
    `${report.strays.toFixed(2)} stray findings a patient`,
    `${report.outOfRange} values out of range`,
    `${share(report.withoutRequiredExam)} without a required examination`,
  ]
  const examples = report.examples.map((one) => `  ${one.rule}: ${one.case}: ${one.what}`)
  const broken = report.broken.map((why) => `broken: ${why}`)
  return [counts.join(', '), ...broken, ...(broken.length > 0 ? examples : [])]
}

/** Checks cases against the schema, for leaks of the diagnosis and for coherence; exit code 1 when any bound is broken. */
export async function checkCases(flags: CaseFlags, terminal: Terminal): Promise<number> {
  const out = output(terminal, flags)
  const report = await check(flags, terminal)
  const { cases, leaks: found, invalid, coherence } = report
  const { file } = flags.cases ?? {}
  const broken = invalid.map(({ line, message }) => `${file}:${line}: ${message}`)
  const leaked = found.map((leak) => `${leak.case}: ${leak.where}: names ${leak.phrase}`)
  for (const lines of [broken, leaked])
    for (const line of firstLines(lines, 'all of them with --json')) await out.say(line)
  const lines = [
    `${cases} cases, ${found.length} leaks, ${invalid.length} broken lines`,
    ...coherenceLines(coherence),
  ]
  const failed = found.length + invalid.length + coherence.broken.length > 0
  return out.show(lines.join('\n'), report, failed ? 1 : 0)
}

/** Prints the JSON Schema of a case, indented unless `--json` is given. */
export async function showSchema(flags: PrintFlags, terminal: Terminal): Promise<number> {
  const { caseJsonSchema } = await import('../../storage/case-schema.js')
  const out = output(terminal, flags)
  if (flags.json) await out.document(caseJsonSchema())
  else await out.say(JSON.stringify(caseJsonSchema(), null, 2))
  return 0
}

interface ShowFlags extends CaseFlags {
  readonly view?: ViewName
}

async function firstId(file: string): Promise<string> {
  // `readCases` refuses an empty file.
  return (await readCases(file))[0]?.id ?? ''
}

/** Shows one case as one of its readers sees it: doctor, patient, examiner or grader. */
export async function showCase(
  id: string | undefined,
  flags: ShowFlags,
  terminal: Terminal,
): Promise<number> {
  const { view = 'doctor', lang = 'en', cases } = flags
  const out = output(terminal, flags)
  const wanted = id ?? (cases?.file === undefined ? 'easy-train-0-0' : await firstId(cases.file))
  const truth = await findCase(wanted, { file: cases?.file, groups: flags.clinic })
  const text = viewText(truth, view, lang, await clinicKnowledge(flags.clinic))
  return out.show(text, viewJson(truth, view))
}
