/**
 * The free patient: a language model plays the patient from the patient's view of the case and nothing else. What it
 * told is read back from its words; what cannot be read is marked as not known. Its words are watched for names of
 * diseases and for contradictions, which are counted and left as they are.
 */
import type { PatientView } from '../../../case.js'
import type { Chat } from '../../../chat.js'
import { Fault } from '../../../error.js'
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { Patient, PatientContext, Reply } from '../../../patient.js'
import { fork } from '../../../seed.js'
import { stripHiddenReasoning } from '../../../text/hidden-reasoning.js'
import type { RevealedFinding, SpeechFlag, TurnFactName } from '../../../turn.js'
import { isWritten } from '../recorded/written.js'
import { ruleDrafts } from '../rule.js'
import { findDiseaseNames } from '../statements/disease-names.js'
import { readReply } from '../statements/read-reply.js'
import { type FreePrompts, freeStyle } from './prompts.js'

/** Options of {@link freePatient}. */
export interface FreePatientOptions {
  /** The model that plays the patient. */
  readonly chat: Chat
  /**
   * Names the findings of generated cases in the prompt, and reads what was asked and told. Without it the prompt has
   * their ids as words, and nothing is read.
   */
  readonly knowledge?: Knowledge
  /** Our own prompt, or one in the form of a published system. @default 'own' */
  readonly prompts?: FreePrompts
}

/** The facts of a reply that nobody can read. */
const nothingRead: readonly TurnFactName[] = ['understood', 'asked', 'told']

/** The patient without manner or noise, for whoever only wants to know what was asked. */
const plainView = (view: PatientView): PatientView => ({
  ...view,
  persona: {},
  noise: { forget: 0, deny: 0, overReport: 0 },
})

/** Whether a told state is not the case's, or not what was told before. */
function contradicts(
  { finding, state }: RevealedFinding,
  { view, dialogue }: PatientContext,
): boolean {
  if (state === 'unknown') return false
  const recorded = view.findings.get(finding)?.state
  // What the case does not hold may be denied, and not be made up.
  if (recorded === undefined ? state !== 'absent' : recorded !== 'unknown' && recorded !== state)
    return true
  return dialogue.some(({ reply }) =>
    reply.told.some(
      (one) => one.finding === finding && one.state !== state && one.state !== 'unknown',
    ),
  )
}

/** Diseases that a reply names, and nobody before it. */
function namesDisease(
  knowledge: Knowledge,
  text: string,
  utterance: string,
  { view, dialogue }: PatientContext,
): boolean {
  const found = findDiseaseNames(knowledge, text)
  if (found.length === 0) return false
  const { complaint, findings, biography } = view
  const known = [...findings.keys()].flatMap((id) => {
    const { name, say } = knowledge.finding.get(id) ?? {}
    return JSON.stringify([name, say])
  })
  const before = [
    ...[utterance, JSON.stringify(complaint.text), JSON.stringify(biography ?? {}), ...known],
    ...dialogue.map((exchange) => exchange.utterance),
  ].join('\n')
  const named = new Set(findDiseaseNames(knowledge, before))
  return found.some((name) => !named.has(name))
}

/** Reads the facts of a reply, given the rule patient's to the same question. */
function factsOf(
  knowledge: Knowledge,
  text: string,
  utterance: string,
  { understood, questions, asked }: Reply,
  context: PatientContext,
): Omit<Reply, 'text'> {
  const { view, language } = context
  const flags: SpeechFlag[] = namesDisease(knowledge, text, utterance, context)
    ? ['disease-named']
    : []
  // What the package does not understand, the model may have answered.
  if (understood === 'unclear' || understood === 'ambiguous')
    return { understood, questions, asked, told: [], unread: nothingRead, flags }
  const open = understood === 'open'
  const { told, certain } = readReply(knowledge, text, {
    ...{ utterance, open, view, language },
    asked: open ? [] : asked,
  })
  const known = told.some(({ state }) => state !== 'unknown')
  if (told.some((one) => contradicts(one, context))) flags.push('contradiction')
  return {
    understood: open ? 'open' : known ? 'answered' : told.length > 0 ? 'unknown' : understood,
    ...{ questions, told },
    asked: [...new Set([...asked, ...told.map(({ finding }) => finding)])],
    ...(certain ? {} : { unread: ['told'] }),
    flags,
  }
}

/**
 * Makes a patient of any chat model. The model sees the patient's view and the dialogue and nothing else, so that it
 * cannot reveal the diagnosis. `told` has what the package reads in its words; where that is not certain, the turn's
 * facts name it as unread, and a reward that needs it is unavailable. The case's noise is not applied.
 * @throws Fault when the model fails or gives no visible text
 */
export function freePatient({ chat, knowledge, prompts = 'own' }: FreePatientOptions): Patient {
  const { messages, refusal } = freeStyle(prompts)
  const prompt = `free-patient-${prompts}/1`
  const draft = knowledge && ruleDrafts({ knowledge })
  return async (utterance, context) => {
    const { view, dialogue, seed, signal } = context
    // By what was said, not by how long ago: siblings that ask the same in the same state hear the same.
    const state = dialogue.flatMap((exchange) => [exchange.utterance, exchange.reply.text])
    const drawn = fork(seed, prompt, utterance, ...state) >>> 1
    const reply = await chat(messages({ ...context, utterance, knowledge }), {
      ...{ seed: drawn, prompt, signal },
    })
    const visible = stripHiddenReasoning(reply.text)
    if (visible === '')
      throw new Fault(
        'model-unreadable',
        `free patient: expected words outside hidden reasoning, got ${JSON.stringify(reply.text.slice(0, 200))}`,
      )
    const text = refusal?.having.test(visible) ? refusal.becomes : visible
    if (knowledge && draft && !isWritten(view)) {
      const { reply: rule } = await draft(utterance, { ...context, view: plainView(view) })
      return { text, ...factsOf(knowledge, text, utterance, rule, context) }
    }
    const questions = Math.max(1, utterance.match(/[?？]+/g)?.length ?? 0)
    return {
      ...{ text, questions, asked: [], told: [], unread: nothingRead, flags: [] },
      understood: 'answered',
    }
  }
}
