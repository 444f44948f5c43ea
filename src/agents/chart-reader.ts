/** The chart reader: a teacher that has read the record, and asks only what an action space can ask. */
import type { Agent, PrivilegedAgent } from '../agent.js'
import { type Case, patientView } from '../case.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import type { Patient } from '../patient.js'
import type { Action } from '../turn.js'
import { recordedDiagnosis } from './recorded.js'

/** Options of {@link chartReader}. */
export interface ChartReaderOptions {
  readonly actionSpace: ActionSpace
  /** The patient of the consultations: what it answers decides which questions are worth asking. */
  readonly patient: Patient
}

type Question = Extract<Action, { readonly kind: 'ask' }>

/** Ids of the findings that each question of an action space asks about. */
async function findingsAsked(
  truth: Case,
  { actionSpace: { actions, language }, patient }: ChartReaderOptions,
): Promise<readonly { readonly question: Question; readonly findings: readonly string[] }[]> {
  const context = { view: patientView(truth), dialogue: [], seed: 0, language }
  const questions = actions.filter((action) => action.kind === 'ask')
  return await Promise.all(
    questions.map(async (question) => ({
      question,
      findings: (await patient(question.text, context)).asked,
    })),
  )
}

/** Questions that each tell the most findings not told before; of equals the first. */
async function planQuestions(truth: Case, options: ChartReaderOptions): Promise<Question[]> {
  const asked = await findingsAsked(truth, options)
  const told = new Set<string>()
  const plan: Question[] = []
  for (;;) {
    const gains = asked.map(({ findings }) => new Set(findings.filter((id) => !told.has(id))).size)
    const most = Math.max(0, ...gains)
    const next = most > 0 ? asked[gains.indexOf(most)] : undefined
    if (!next) return plan
    plan.push(next.question)
    for (const id of next.findings) told.add(id)
  }
}

/**
 * Makes a doctor that knows the case: it asks the action space's questions that the record answers, those that tell most
 * first, until nothing new is left or one turn is, then gives the recorded diagnosis. What it asks and says, a policy of
 * that action space can learn, where it has the diagnosis; so it is a teacher for imitation, not a ceiling.
 */
export function chartReader(options: ChartReaderOptions): PrivilegedAgent {
  return {
    forCase: (truth): Agent => {
      let plan: Promise<readonly Question[]> | undefined
      return async ({ turns, turnsLeft, language }) => {
        plan ??= planQuestions(truth, options)
        const next = turnsLeft > 1 ? (await plan)[turns.length] : undefined
        return { action: next ?? recordedDiagnosis(truth, language) }
      }
    },
  }
}
