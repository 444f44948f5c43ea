/** Turns a dialogue that was logged as a list of messages into an episode that rewards can score. */
import type { Grammar } from '../agent.js'
import { type DoctorView, type GraderView, textInLanguage } from '../case.js'
import { findExam } from '../envs/exams/orders.js'
import type { ParsedUtterance } from '../envs/patients/nlu/parsed-utterance.js'
import { understand } from '../envs/patients/nlu/understand.js'
import type { Episode, EpisodeTurn } from '../episode.js'
import { Fault } from '../error.js'
import { expandPanel, type Knowledge } from '../knowledge/knowledge.js'
import type { Action, Language, Outcome, TurnFactName, TurnFacts, Understanding } from '../turn.js'
import { noFacts } from '../turn.js'

/** A message of a logged dialogue: the doctor is the assistant, patient and examinations are the user or a tool. */
export interface LoggedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
}

/** Options of {@link episodeFrom}. */
export interface EpisodeFromOptions {
  /** @default the case's id and `logged` */
  readonly id?: string
  /** Name of the doctor. @default 'logged' */
  readonly agent?: string
  /** @default 'zh' where the doctor writes Han characters, else 'en' */
  readonly language?: Language
  /** @default 0 */
  readonly seed?: number
  /** Turn limit of the dialogue. @default as many as it has, at least 10 */
  readonly maxTurns?: number
  /** What the doctor was told before the first turn. @default the complaint of the truth */
  readonly intake?: DoctorView
  /** Reads what the doctor asked and ordered. @default none: these are not known */
  readonly knowledge?: Knowledge
}

/** A reply of the doctor with what was said to it, and the number of its message. */
interface LoggedExchange {
  readonly reply: string
  readonly heard: string | undefined
}

const bad = (n: number, what: string): Fault => new Fault('bad-input', `messages.${n}: ${what}`)

/** Pairs replies with what was said to them. Messages before the first reply are the prompt. */
function pairMessages(messages: readonly LoggedMessage[]): readonly LoggedExchange[] {
  const exchanges: { reply: string; heard: string | undefined }[] = []
  messages.forEach(({ role, content }, n) => {
    const last = exchanges.at(-1)
    if (role === 'assistant') {
      if (last && last.heard === undefined)
        throw bad(n, 'expected what was said to the doctor, got a second message of the assistant')
      exchanges.push({ reply: content, heard: undefined })
    } else if (last && role === 'system')
      throw bad(
        n,
        'expected system messages before the first of the assistant only, got a later one',
      )
    else if (last) last.heard = last.heard === undefined ? content : `${last.heard}\n${content}`
  })
  if (messages.length === 0) throw new Fault('bad-input', 'messages: expected a dialogue, got none')
  return exchanges
}

function outcomeOf({ kind }: Action, heard: string | undefined): Outcome {
  if (heard === undefined || kind === 'diagnose' || kind === 'give-up') return { kind: 'closed' }
  if (kind === 'order') return { kind: 'examined', text: heard }
  return kind === 'ask' ? { kind: 'answered', text: heard } : { kind: 'rejected', text: heard }
}

/** The class that each kind of utterance has for a patient who knows every finding a patient can. */
const classes: { readonly [kind in ParsedUtterance['kind']]: Understanding } = {
  finding: 'answered',
  attribute: 'answered',
  aside: 'answered',
  unmodelled: 'unknown',
  open: 'open',
  'exam-request': 'exam-only',
  advice: 'courtesy',
  courtesy: 'courtesy',
  'diagnosis-request': 'refused',
  injection: 'refused',
  ambiguous: 'ambiguous',
  unclear: 'unclear',
}

/** What is read of a question: what it asks for, and never what was told. */
function readQuestion(text: string, knowledge: Knowledge | undefined): TurnFacts {
  const unknown = ['told', 'money', 'minutes'] as const
  if (!knowledge) return { ...noFacts, unread: ['understood', 'questions', 'asked', ...unknown] }
  const { kind, topics, questions } = understand(knowledge, text)
  const asked = [...new Set(topics.map(({ finding }) => finding))]
  return { ...noFacts, understood: classes[kind], questions, asked, unread: unknown }
}

const orderCost: readonly TurnFactName[] = ['told', 'invasiveness', 'money', 'minutes']

/** What is read of an order that was carried out: the examination, where its name is known, and never what it showed. */
function readOrder(exam: string, knowledge: Knowledge | undefined, done: Set<string>): TurnFacts {
  const found = knowledge && findExam(knowledge, exam)
  if (!found) return { ...noFacts, unread: ['ordered', 'exams', ...orderCost] }
  const exams = expandPanel(found)
  const again = exams.every((one) => done.has(one))
  for (const one of exams) done.add(one)
  return { ...noFacts, ordered: again ? 'repeat' : 'resulted', exams, unread: orderCost }
}

function readTurns(
  exchanges: readonly LoggedExchange[],
  grammar: Grammar,
  knowledge: Knowledge | undefined,
): readonly EpisodeTurn[] {
  const turns: EpisodeTurn[] = []
  const done = new Set<string>()
  for (const { reply, heard } of exchanges) {
    const action = grammar.parse(reply)
    const outcome = outcomeOf(action, heard)
    const facts =
      action.kind === 'ask'
        ? readQuestion(action.text, knowledge)
        : action.kind === 'order' && outcome.kind === 'examined'
          ? readOrder(action.exam, knowledge, done)
          : noFacts
    turns.push({ action, outcome, facts, text: reply })
    // Courtesies after the conclusion are no part of the consultation.
    if (action.kind === 'diagnose' || action.kind === 'give-up') break
  }
  return turns
}

const stops: Partial<Readonly<Record<Action['kind'], Episode['stop']>>> = {
  diagnose: 'diagnosed',
  'give-up': 'gave-up',
}

/**
 * Makes the episode of a logged dialogue. The doctor's replies are read by the grammar; what patient and examinations
 * say is kept as their words. Facts that only the world knew (what was told, what it cost) are marked as not known, so
 * that a named reward that reads them is unavailable and never 0.
 * A dialogue without a reply of the doctor never began: it has no turns, and every named reward is unavailable for it.
 * @param truth the grader's view of the case
 * @throws Fault `bad-input` for an empty list, and for two replies of the doctor in a row
 */
export function episodeFrom(
  messages: readonly LoggedMessage[],
  truth: GraderView,
  grammar: Grammar,
  options: EpisodeFromOptions = {},
): Episode {
  const exchanges = pairMessages(messages)
  const written = exchanges.map(({ reply }) => reply).join('\n')
  const { language = /\p{Script=Han}/u.test(written) ? 'zh' : 'en', knowledge } = options
  const turns = readTurns(exchanges, grammar, knowledge)
  const stop = stops[turns.at(-1)?.action.kind ?? 'ask']
  const complaint = textInLanguage(truth.complaint.text, language)
  const unlimited = Number.POSITIVE_INFINITY
  return {
    id: options.id ?? `${truth.caseId}/logged`,
    caseId: truth.caseId,
    seed: options.seed ?? 0,
    agent: options.agent ?? 'logged',
    language,
    intake: options.intake ?? {
      ...{ view: 'doctor', demographics: { speaker: 'self' } },
      complaint: { [language]: complaint },
    },
    turns,
    end: stop === undefined ? 'truncated' : 'terminated',
    stop: stop ?? 'max-turns',
    maxTurns: options.maxTurns ?? Math.max(turns.length, 10),
    spent: { money: 0, minutes: 0 },
    budget: { money: unlimited, minutes: unlimited },
  }
}
