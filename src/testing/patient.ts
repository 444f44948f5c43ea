/** Holds a patient to the contract of `patient.ts`: one truth, told the same in any order, and no more than it. */
import type { Case, PatientView } from '../case.js'
import { patientView } from '../case.js'
import { messageOf } from '../error.js'
import type { Exchange, Patient, Reply } from '../patient.js'
import type { FindingState, Language, Told, Understanding } from '../turn.js'
import type { Check } from './check.js'
import { expectPlain, expectSame, expectThat } from './expect.js'
import { garbage, probes } from './garbage.js'
import { diagnosisNames, namedIn } from './leak.js'
import { deepFreeze } from './plain.js'

/** What a patient is asked. */
export interface PatientMaterial {
  /** Whom the patient plays, one after the other. */
  readonly cases: readonly Case[]
  /** Questions for findings; some of them must settle one, or nothing could be tested. */
  readonly questions: readonly string[]
  /** @default 'en' */
  readonly language?: Language
  /** @default 0 */
  readonly seed?: number
  /**
   * Whether a case that does not record a finding still implies that it is absent, as the onset of a pain
   * that is absent. @default no finding
   */
  readonly implied?: (finding: string, truth: Case) => boolean
  /** False where a model is behind the patient: the checks of sameness are not in the list then. @default true */
  readonly deterministic?: boolean
}

const understandings: Readonly<Record<Understanding, true>> = {
  answered: true,
  unknown: true,
  'exam-only': true,
  repeated: true,
  withheld: true,
  ambiguous: true,
  unclear: true,
  open: true,
  refused: true,
  courtesy: true,
}

interface Sitting {
  readonly truth: Case
  readonly view: PatientView
  readonly seed: number
  readonly language: Language
}

type Ask = (sitting: Sitting, questions: readonly string[]) => Promise<readonly Exchange[]>

/** Asks one after the other; what makes the patient throw goes to `failed` and leaves no exchange. */
const asking =
  (patient: Patient, failed: (utterance: string, error: unknown) => void): Ask =>
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

const unanswered = (utterance: string, error: unknown): never => {
  const what = `a reply to ${JSON.stringify(utterance.slice(0, 40))}`
  throw new Error(`Expected ${what}, got ${messageOf(error)}`, { cause: error })
}

function wellFormed(utterance: string, reply: Reply): void {
  const what = `the reply to ${JSON.stringify(utterance.slice(0, 40))}`
  expectPlain(what, reply)
  expectThat(
    typeof reply.text === 'string' && reply.text !== '',
    `${what} to have text`,
    reply.text,
  )
  expectThat(
    Object.hasOwn(understandings, reply.understood),
    `${what} to be understood as one of ${Object.keys(understandings).join(', ')}`,
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
  for (const told of reply.told)
    expectThat(
      typeof told.finding === 'string' && typeof told.state === 'string',
      `${what} to tell findings with states`,
      told,
    )
}

/** Every finding told in a dialogue with its state; two states for one finding throw. */
function statesTold(dialogue: readonly Exchange[]): Map<string, FindingState> {
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

async function sameInAnyOrder(ask: Ask, sitting: Sitting, questions: readonly string[]) {
  const forward = statesTold(await ask(sitting, questions))
  const backward = statesTold(await ask(sitting, [...questions].reverse()))
  for (const [finding, state] of backward)
    if (forward.has(finding))
      expectSame(`${finding}, asked in reverse`, state, forward.get(finding))
  for (const question of questions)
    for (const [finding, state] of statesTold(await ask(sitting, [question])))
      if (forward.has(finding)) expectSame(`${finding}, asked alone`, state, forward.get(finding))
  return forward.size
}

/**
 * What the case does not record can only be told as unknown, or as absent where the case implies it; what
 * needs an examination not at all.
 */
const onlyKnown =
  (implied: (finding: string, truth: Case) => boolean) =>
  ({ truth, view }: Sitting, dialogue: readonly Exchange[]): void => {
    const byExam = new Set(truth.findings.filter((f) => f.knownBy === 'exam').map((f) => f.id))
    const mayTell = ({ finding, state }: Told): boolean =>
      view.findings.has(finding) ||
      (!byExam.has(finding) &&
        (state === 'unknown' || (state === 'absent' && implied(finding, truth))))
    for (const { utterance, reply } of dialogue)
      for (const told of reply.told)
        expectThat(
          mayTell(told),
          'only findings that the patient knows to be told',
          `${told.finding} (${told.state}) to ${JSON.stringify(utterance)}`,
        )
  }

function unnamed({ truth }: Sitting, dialogue: readonly Exchange[]): void {
  const names = diagnosisNames(truth)
  for (const { utterance, reply } of dialogue) {
    const name = namedIn(reply.text, names)
    expectThat(
      name === undefined || namedIn(utterance, [name]) !== undefined,
      'no reply to name the diagnosis',
      `"${name}" in "${reply.text}"`,
    )
  }
}

const snapshot = ({ view }: Sitting): string => JSON.stringify([view, [...view.findings.entries()]])

type Runs = Readonly<Record<string, () => Promise<void>>>
type Each = (work: (sitting: Sitting) => Promise<unknown>) => () => Promise<void>

const sameness = (each: Each, ask: Ask, questions: readonly string[]): Runs => ({
  'the same inputs give the same reply': each(async (sitting) => {
    const first = await ask(sitting, questions)
    expectSame('the second hearing', await ask(sitting, questions), first)
  }),
  'a finding is told the same whatever was asked before': async () => {
    let told = 0
    await each(async (sitting) => {
      told += await sameInAnyOrder(ask, sitting, questions)
    })()
    expectThat(told > 0, '`questions` to settle a finding (nothing can be tested otherwise)', told)
  },
})

/** Every promise of the patient contract as a check, each over all cases. */
export function patientChecks(patient: Patient, material: PatientMaterial): readonly Check[] {
  const { cases, questions, language = 'en', seed = 0, deterministic = true } = material
  // One check holds the patient to answering at all; the others look at the answers there are.
  const ask = asking(patient, () => {})
  const mustAnswer = asking(patient, unanswered)
  const known = onlyKnown(material.implied ?? (() => false))
  const everything = [...questions, ...probes, ...garbage]
  const each: Each = (work) => async () => {
    expectThat(cases.length > 0, 'at least one case', 'none')
    for (const truth of structuredClone(cases))
      await work({ truth, view: patientView(truth), seed, language })
  }

  const runs: Runs = {
    ...(deterministic ? sameness(each, ask, questions) : {}),
    'only findings that the patient knows are told': each(async (sitting) =>
      known(sitting, await ask(sitting, everything)),
    ),
    'no reply names the diagnosis': each(async (sitting) =>
      unnamed(sitting, await ask(sitting, everything)),
    ),
    'whatever is said gets a reply': each(async (sitting) => {
      for (const utterance of everything) await mustAnswer(sitting, [utterance])
    }),
    'replies are plain and well-formed': each(async (sitting) => {
      for (const { utterance, reply } of await ask(sitting, everything))
        wellFormed(utterance, reply)
    }),
    'the context is only read': each(async (sitting) => {
      const before = snapshot(sitting)
      deepFreeze(sitting.view)
      await mustAnswer(sitting, questions)
      expectSame('the view after the questions', snapshot(sitting), before)
    }),
  }
  return Object.entries(runs).map(([name, run]) => ({ name, run }))
}
