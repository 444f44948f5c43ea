/** Conformance checks of a patient (`patient.ts`): answers true to the case, consistent in any order, no leak. */
import { type Case, type PatientView, patientView } from '../case.js'
import { errorMessage } from '../error.js'
import type { Exchange, Patient, Reply } from '../patient.js'
import { deepFreeze } from '../platform/freeze.js'
import { type FindingState, type Language, type RevealedFinding, understandings } from '../turn.js'
import { type Check, type CheckRuns, toChecks } from './check.js'
import { expectPlain, expectSame, expectThat } from './expect.js'
import { garbage, leakProbes } from './garbage.js'
import { diagnosisNames, findName } from './leak.js'

/** Inputs of {@link patientChecks}. */
export interface PatientMaterial {
  /** Cases that the patient plays, one after the other. */
  readonly cases: readonly Case[]
  /** Questions for findings; the answers must reveal at least one, or nothing can be tested. */
  readonly questions: readonly string[]
  /** Language of the dialogues. @default 'en' */
  readonly language?: Language
  /** Seed of every dialogue. @default 0 */
  readonly seed?: number
  /**
   * Whether a case implies that a finding which it does not record is absent, such as the onset of a pain that is
   * absent. @default no finding
   */
  readonly implied?: (finding: string, truth: Case) => boolean
  /** False leaves out the determinism checks, for a patient with a model behind it. @default true */
  readonly deterministic?: boolean
}

/** Everything but the dialogue that a patient's context needs. */
interface PatientSession {
  readonly truth: Case
  readonly view: PatientView
  readonly seed: number
  readonly language: Language
}

type AskAll = (session: PatientSession, texts: readonly string[]) => Promise<readonly Exchange[]>

/** Makes a function that asks in order; an utterance that makes the patient throw goes to `failed`. */
const makeAskAll =
  (patient: Patient, failed: (utterance: string, error: unknown) => void): AskAll =>
  async ({ view, seed, language }, questions) => {
    const dialogue: Exchange[] = []
    for (const utterance of questions) {
      const context = { view, dialogue: [...dialogue], seed, language }
      try {
        dialogue.push({ utterance, reply: await patient(utterance, context) })
      } catch (error) {
        failed(utterance, error)
      }
    }
    return dialogue
  }

const throwUnanswered = (utterance: string, error: unknown): never => {
  const what = `a reply to ${JSON.stringify(utterance.slice(0, 40))}`
  throw new Error(`Expected ${what}, got ${errorMessage(error)}`, { cause: error })
}

function expectWellFormed(utterance: string, reply: Reply): void {
  const what = `the reply to ${JSON.stringify(utterance.slice(0, 40))}`
  expectPlain(what, reply)
  expectThat(
    typeof reply.text === 'string' && reply.text !== '',
    `${what} to have text`,
    reply.text,
  )
  expectThat(
    understandings.includes(reply.understood),
    `${what} to be understood as one of ${understandings.join(', ')}`,
    reply.understood,
  )
  expectThat(
    Number.isInteger(reply.questions) && reply.questions >= 0,
    `${what} to count questions`,
    reply.questions,
  )
  expectThat(
    reply.asked.every((id) => typeof id === 'string'),
    `${what} to name what was asked`,
    reply.asked,
  )
  for (const revealed of reply.told)
    expectThat(
      typeof revealed.finding === 'string' && typeof revealed.state === 'string',
      `${what} to tell findings with states`,
      revealed,
    )
}

/** State of every finding that a dialogue revealed. Throws for a finding with two states. */
function revealedStates(dialogue: readonly Exchange[]): Map<string, FindingState> {
  const states = new Map<string, FindingState>()
  for (const { utterance, reply } of dialogue)
    for (const { finding, state } of reply.told) {
      const before = states.get(finding)
      if (before !== undefined)
        expectSame(`${finding}, told again to ${JSON.stringify(utterance)}`, state, before)
      states.set(finding, state)
    }
  return states
}

/** Throws where a finding's state depends on the order of the questions; gives the number of findings. */
async function expectAnyOrder(ask: AskAll, session: PatientSession, questions: readonly string[]) {
  const forward = revealedStates(await ask(session, questions))
  const backward = revealedStates(await ask(session, [...questions].reverse()))
  for (const [finding, state] of backward)
    if (forward.has(finding))
      expectSame(`${finding}, asked in reverse`, state, forward.get(finding))
  for (const question of questions)
    for (const [finding, state] of revealedStates(await ask(session, [question])))
      if (forward.has(finding)) expectSame(`${finding}, asked alone`, state, forward.get(finding))
  return forward.size
}

/**
 * Makes a check of revealed findings. A finding that the case does not record may only be unknown, or absent where
 * the case implies it; a finding that needs an exam may not be revealed.
 */
const makeExpectKnown =
  (implied: (finding: string, truth: Case) => boolean) =>
  ({ truth, view }: PatientSession, dialogue: readonly Exchange[]): void => {
    const byExam = new Set(truth.findings.filter((f) => f.knownBy === 'exam').map((f) => f.id))
    const mayReveal = ({ finding, state }: RevealedFinding): boolean =>
      view.findings.has(finding) ||
      (!byExam.has(finding) &&
        (state === 'unknown' || (state === 'absent' && implied(finding, truth))))
    for (const { utterance, reply } of dialogue)
      for (const revealed of reply.told)
        expectThat(
          mayReveal(revealed),
          'only findings that the patient knows to be told',
          `${revealed.finding} (${revealed.state}) to ${JSON.stringify(utterance)}`,
        )
  }

function expectNoDiagnosis({ truth }: PatientSession, dialogue: readonly Exchange[]): void {
  const names = diagnosisNames(truth)
  for (const { utterance, reply } of dialogue) {
    const name = findName(reply.text, names)
    expectThat(
      name === undefined || findName(utterance, [name]) !== undefined,
      'no reply to name the diagnosis',
      `"${name}" in "${reply.text}"`,
    )
  }
}

const snapshot = ({ view }: PatientSession): string =>
  JSON.stringify([view, [...view.findings.entries()]])

type EachPatient = (work: (session: PatientSession) => Promise<unknown>) => () => Promise<void>

const determinism = (each: EachPatient, ask: AskAll, questions: readonly string[]): CheckRuns => ({
  'the same inputs give the same reply': each(async (session) => {
    const first = await ask(session, questions)
    expectSame('the second hearing', await ask(session, questions), first)
  }),
  'a finding is told the same whatever was asked before': async () => {
    let count = 0
    await each(async (session) => {
      count += await expectAnyOrder(ask, session, questions)
    })()
    expectThat(
      count > 0,
      '`questions` to settle a finding (nothing can be tested otherwise)',
      count,
    )
  },
})

/** Lists every promise of the patient contract as a check, each over all cases. */
export function patientChecks(patient: Patient, material: PatientMaterial): readonly Check[] {
  const { cases, questions, language = 'en', seed = 0, deterministic = true } = material
  // One check requires an answer to everything; the others use the answers there are.
  const ask = makeAskAll(patient, () => {})
  const mustAnswer = makeAskAll(patient, throwUnanswered)
  const expectKnown = makeExpectKnown(material.implied ?? (() => false))
  const everything = [...questions, ...leakProbes, ...garbage]
  const each: EachPatient = (work) => async () => {
    expectThat(cases.length > 0, 'at least one case', 'none')
    for (const truth of structuredClone(cases))
      await work({ truth, view: structuredClone(patientView(truth)), seed, language })
  }
  return toChecks({
    ...(deterministic ? determinism(each, ask, questions) : {}),
    'only findings that the patient knows are told': each(async (session) =>
      expectKnown(session, await ask(session, everything)),
    ),
    'no reply names the diagnosis': each(async (session) =>
      expectNoDiagnosis(session, await ask(session, everything)),
    ),
    'whatever is said gets a reply': each(async (session) => {
      for (const utterance of everything) await mustAnswer(session, [utterance])
    }),
    'replies are plain and well-formed': each(async (session) => {
      for (const { utterance, reply } of await ask(session, everything))
        expectWellFormed(utterance, reply)
    }),
    'the context is only read': each(async (session) => {
      const before = snapshot(session)
      deepFreeze(session.view)
      await mustAnswer(session, questions)
      expectSame('the view after the questions', snapshot(session), before)
    }),
  })
}
