/**
 * The DiagGym exam simulator: a completion model, trained on the records of real examinations, makes up the result of
 * whatever is ordered. Facts of its prompt and its published settings are of MAGIC-AI4Med/DiagGym (commit bc49719).
 */
import {
  type ExaminerView,
  type InformedExaminerView,
  primaryDiagnosis,
  textInLanguage,
} from '../../case.js'
import type { ChatReply, Complete } from '../../chat.js'
import { ModelFault } from '../../chats/model-fault.js'
import type { Sample } from '../../episode.js'
import type {
  ExamContext,
  ExamReport,
  ExamSimulator,
  InformedExamSimulator,
  PastReport,
} from '../../exam.js'
import { expandPanel, type Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { fork } from '../../seed.js'
import { findDiseaseNames } from '../patients/statements/disease-names.js'
import {
  diagGymContext,
  diagGymProfile,
  diagGymPrompt,
  diagGymStops,
  type ExamRecord,
  examNameOf,
} from './diaggym-prompt.js'
import { findExam, splitOrder } from './orders.js'
import { addTitle, isValid } from './record.js'

/** Options of {@link diagGym}. */
export interface DiagGymOptions {
  /**
   * The model. Wrapped in `shareReplies`, it is asked once for each examination of a case, and siblings agree also where
   * the server's replies differ from batch to batch; the models of a recipe are.
   */
  readonly complete: Complete
  /** Gives names, prices and times of the examinations that it knows. */
  readonly knowledge: Knowledge
  /** @default 0; 1 with `parity` */
  readonly temperature?: number
  /** @default 512 */
  readonly maxTokens?: number
  /** What the model is told of the patient. @default age, sex, complaint and history under the headings of a note */
  readonly profile?: (view: ExaminerView | InformedExaminerView) => string
  /**
   * The examinations that the model reads before the one it is asked for: those that the case records, which are the
   * same for all siblings, or those done in this consultation. @default 'record'; 'done' with `parity`
   */
  readonly past?: 'record' | 'done'
  /** Asks the server for tokens and log-probs, and leaves a draw in the episode. @default false */
  readonly draws?: boolean
}

/** Options of DiagGym as it was released. */
export interface DiagGymParityOptions extends DiagGymOptions {
  /**
   * As in the released rollout: the model is told the final diagnosis and reads the examinations of the consultation; a
   * repeated one is drawn again, an order of several counts as one, and a reply that is cut off is a result.
   */
  readonly parity: true
}

/** A report with the words that DiagGym reads again at the next examination. */
interface DiagGymReport extends ExamReport {
  readonly record?: ExamRecord
}

/** Name and version of the prompt. */
const prompt = 'diaggym/1'

/** Longest name of an examination; a longer order names none. */
const maxNameLength = 200

/** Price and time of an examination that the knowledge base does not know: those of its median examination. */
const usualCost = perKnowledge(({ exams }: Knowledge) => {
  const median = (numbers: readonly number[]): number =>
    [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
  return { cost: median(exams.map((e) => e.cost)), minutes: median(exams.map((e) => e.minutes)) }
})

/** Openings of a chat model that talks in place of reporting. */
const talk =
  /^(?:sure|certainly|of course|okay|ok,|absolutely|sorry|unfortunately|i(?:'|’)m (?:sorry|unable|not able)|i am (?:sorry|unable|not able|an)|i (?:cannot|can(?:'|’)t|do not have|don(?:'|’)t have)|as an? (?:ai|language model)|thank you|here (?:is|are)|let(?:'|’)s|let me|<think)/i

/** Marks that stand between examinations or messages, never in a result. */
const runsOn = /Exam name:|Exam results:|Final Diagnosis:|<\|[^<>|]{1,40}\|>|<\/?think/i

/** What is wrong with a reply; undefined for a result. */
function problemOf(text: string, { cutOff }: ChatReply): string | undefined {
  if (text === '') return 'nothing'
  if (talk.test(text)) return 'talk'
  if (runsOn.test(text)) return 'more than one result'
  return cutOff ? 'no end of it within `maxTokens`' : undefined
}

/** The result in a reply. @throws ModelFault `unparsable` for anything else: prose, nothing, a text without end */
function resultOf(reply: ChatReply, exam: string, parity: boolean): string {
  const text = reply.text.trim()
  const problem = parity ? (text === '' ? 'nothing' : undefined) : problemOf(text, reply)
  if (problem === undefined) return text
  throw new ModelFault(
    'unparsable',
    `DiagGym: expected the result of \`${exam}\` and its end (${diagGymStops[0]}), got ${problem}: \`${text.slice(0, 160)}\`; the examiner must be a model trained on such records (models.examiner: DiagGym behind /completions), which a chat model is not`,
  )
}

/** The tokens of a reply as an episode keeps them. @throws ModelFault `refused` where the server gave none */
function sampleOf({ tokens, cutOff, usage }: ChatReply, temperature: number): Sample {
  const { ids, promptIds, logprobs } = tokens ?? {}
  if (!ids || !promptIds || !logprobs || ids.length !== logprobs.length)
    throw new ModelFault(
      'refused',
      'DiagGym: expected token ids and log-probs for `draws` (models.examiner.draws), which vLLM gives, got none',
    )
  return {
    ...{ prompt: promptIds, tokens: ids, logprobs, policy: 'diaggym', policyVersion: 0 },
    // What servers give is of the distribution before the temperature.
    ...{ temperature, logprobMode: 'raw', stopReason: cutOff ? 'length' : 'stop', usage },
  }
}

const namesOf = (exams: readonly string[], { exam }: Knowledge): string =>
  exams.map((id) => exam.get(id)?.name.en ?? id).join(', ')

/** The results that the case records, but for the examination itself. */
const recorded = (
  { results }: ExaminerView | InformedExaminerView,
  exams: readonly string[],
  knowledge: Knowledge,
): readonly ExamRecord[] =>
  [...results.values()]
    .filter((result) => !result.unavailable && !exams.includes(result.exam))
    .map((result) => ({
      name: namesOf([result.exam], knowledge),
      result: textInLanguage(result.report, 'en'),
    }))

/** The results of this consultation, oldest first. */
const doneBefore = (done: readonly PastReport[], knowledge: Knowledge): readonly ExamRecord[] =>
  done
    .filter(({ status }) => status !== 'unavailable')
    .map((report) => {
      const { record }: DiagGymReport = report
      return record ?? { name: namesOf(report.exams, knowledge), result: report.text }
    })

/** An order as DiagGym understands it. */
interface NamedExam {
  /** Ids of what is examined, panels expanded. */
  readonly exams: readonly string[]
  readonly name: string
  readonly cost: number
  readonly minutes: number
  readonly invasiveness: number
}

/** Reads an order; undefined for one that names nothing. An examination of the knowledge base has its name there. */
function readOrder(order: string, knowledge: Knowledge, parity: boolean): NamedExam | undefined {
  const given = examNameOf(order)
  if (given === '' || given.length > maxNameLength || !/[\p{L}\p{N}]/u.test(given)) return undefined
  const known = findExam(knowledge, given)
  const { cost, minutes, invasiveness } = known ?? { ...usualCost(knowledge), invasiveness: 0 }
  const exams = known ? expandPanel(known) : [given.toLowerCase()]
  return { exams, name: parity ? given : (known?.name.en ?? given), cost, minutes, invasiveness }
}

const diagnosisOf = (view: ExaminerView | InformedExaminerView): string | undefined =>
  view.view === 'informed-examiner'
    ? textInLanguage(primaryDiagnosis({ dx: view.diagnoses }).name, 'en')
    : undefined

type DiagGymContext = ExamContext<ExaminerView | InformedExaminerView>

/** The report of a result of the same examination that is still valid. */
function repeated(exams: readonly string[], context: DiagGymContext, knowledge: Knowledge) {
  const report = context.done.findLast((one) => exams.every((id) => one.exams.includes(id)))
  if (!report || !exams.every((id) => isValid(knowledge, id, context))) return undefined
  const { at: _, sample: __, ...before } = report
  return { ...before, status: 'repeat' as const, money: 0, minutes: 0, invasiveness: 0 }
}

/**
 * Makes the DiagGym exam simulator. The result of an examination depends on the case alone, not on what else was
 * ordered: with the defaults its prompt does not, and the temperature is 0. The text is not read for findings, so
 * what it `told` is unread: rewards about findings of examinations are unavailable. DiagGym writes English, whatever the language of the consultation.
 *
 * A call that fails throws: the consultation is unavailable, never an examination without findings. With `parity` it is
 * the released simulator, told the final diagnosis, and so of another type.
 */
export function diagGym(options: DiagGymParityOptions): InformedExamSimulator
export function diagGym(options: DiagGymOptions): ExamSimulator
export function diagGym(
  options: DiagGymOptions | DiagGymParityOptions,
): ExamSimulator | InformedExamSimulator {
  const parity = 'parity' in options && options.parity
  const { complete, knowledge, draws = false, maxTokens = 512 } = options
  const { temperature = parity ? 1 : 0, past = parity ? 'done' : 'record' } = options
  const { profile = (view) => diagGymProfile(view, knowledge) } = options
  const examine = async (
    order: string,
    context: DiagGymContext,
  ): Promise<DiagGymReport | undefined> => {
    const exam = readOrder(order, knowledge, parity)
    if (!exam) return undefined
    const { exams, name, cost: money, minutes, invasiveness } = exam
    const { view, done, seed, language, signal } = context
    const again = parity ? undefined : repeated(exams, context, knowledge)
    if (again) return again
    const before =
      past === 'record' ? recorded(view, exams, knowledge) : doneBefore(done, knowledge)
    const text = diagGymPrompt(diagGymContext(profile(view), diagnosisOf(view)), before, name)
    const drawn = fork(seed, 'diaggym', text) >>> 1
    const reply = await complete(text, {
      ...{ temperature, maxTokens, stop: diagGymStops, prompt, signal },
      ...(temperature > 0 ? { seed: drawn } : {}),
      ...(draws ? { logprobs: true, tokenIds: true } : {}),
    })
    const result = resultOf(reply, name, parity)
    return {
      ...{ status: 'resulted', exams, told: [], unread: ['told'], money, minutes, invasiveness },
      text: parity ? result : addTitle(name, result, language),
      ...{ simulatedBy: 'diaggym', record: { name, result } },
      // Where it knows the diagnosis this is how it leaks; an image may also simply show a disease.
      flags: findDiseaseNames(knowledge, result).length > 0 ? ['disease-named'] : [],
      ...(draws ? { sample: sampleOf(reply, temperature) } : {}),
    }
  }
  return parity
    ? { informed: examine }
    : Object.assign(examine, { split: (order: string) => splitOrder(knowledge, order) })
}
