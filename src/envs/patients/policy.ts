/**
 * The policy patient: another patient answers, and a policy draws in which style. The drawn tokens ride on the reply, so
 * the patient can be trained like a doctor.
 */
import type { Agent } from '../../agent.js'
import type { Text } from '../../case.js'
import type { Observation } from '../../env.js'
import type { Patient, PatientContext, Reply } from '../../patient.js'
import { fork } from '../../seed.js'

/** Changes a reply, or writes another. */
export type ReplyStyle = (reply: Reply, utterance: string, context: PatientContext) => Reply

/** Options of {@link policyPatient}. */
export interface PolicyPatientOptions {
  /** The policy: an agent over the `replySpace` of the styles' names, such as `embedded({ actionSpace }).sampler()`. */
  readonly policy: Agent
  /** The patient whose replies are styled. */
  readonly patient: Patient
  /** What the policy chooses from, by name. */
  readonly styles: Readonly<Record<string, ReplyStyle>>
  /** Keys the policy's draws; siblings of a group differ in it. */
  readonly seed: number
}

/** A reply that remembers its style: the patient's only memory is its dialogue. */
interface StyledReply extends Reply {
  readonly style?: string
}

/** Utterances of a dialogue that the policy's clock can count. */
const maxUtterances = 1000

const joined = (complaint: Text, utterance: string): Text => ({
  ...(complaint.en === undefined ? {} : { en: `${complaint.en} ${utterance}` }),
  ...(complaint.zh === undefined ? {} : { zh: `${complaint.zh} ${utterance}` }),
})

/** What the patient's policy reads, in the form of a doctor's observation: its own styles are the actions. */
function patientObservation(
  utterance: string,
  { view, dialogue, language }: PatientContext,
): Observation {
  const heard = [...dialogue.map((exchange) => exchange.utterance), utterance]
  const turns = dialogue.map(({ reply }: { readonly reply: StyledReply }, t) => ({
    action: { kind: 'ask', text: reply.style ?? '' } as const,
    outcome: { kind: 'answered', text: heard[t + 1] ?? '' } as const,
  }))
  const { demographics, complaint } = view
  return {
    intake: { view: 'doctor', demographics, complaint: joined(complaint.text, heard[0] ?? '') },
    turns,
    turnsLeft: maxUtterances - turns.length,
    ...{ spent: { money: 0, minutes: 0 }, budget: { money: 0, minutes: 0 }, language },
  }
}

/** Makes a patient whose style of answering a policy draws. @throws TypeError for a style that does not exist */
export const policyPatient =
  ({ policy, patient, styles, seed }: PolicyPatientOptions): Patient =>
  async (utterance, context) => {
    const observation = patientObservation(utterance, context)
    const own = fork(seed, 'patient')
    const { action, sample } = await policy(observation, { seed: own, signal: context.signal })
    const style = action.kind === 'ask' ? action.text : action.kind
    if (!Object.hasOwn(styles, style))
      throw new TypeError(
        `Expected a style of ${Object.keys(styles).join(', ')}, got \`${style}\` from the policy`,
      )
    const reply = styles[style]!(await patient(utterance, context), utterance, context)
    const styled: StyledReply = { ...reply, style, ...(sample ? { sample } : {}) }
    return styled
  }
