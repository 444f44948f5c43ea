/**
 * The skin: the rule patient decides what is told, and a language model says it in the patient's manner. The facts are
 * the rule patient's, so that every reward works; what the model says is checked against them.
 */
import type { Chat, Message } from '../../../chat.js'
import { modelFaultKind } from '../../../chats/model-fault.js'
import { Fault } from '../../../error.js'
import type { Patient, PatientContext, Reply } from '../../../patient.js'
import { fork } from '../../../seed.js'
import { stripHiddenReasoning } from '../../../text/hidden-reasoning.js'
import { isWritten } from '../recorded/written.js'
import { type RulePatientOptions, ruleDrafts } from '../rule.js'
import { type Commission, wordingProblem } from './check-wording.js'
import { againMessages, skinMessages, skinPrompt } from './prompt.js'

/** Options of {@link skinPatient}. */
export interface SkinPatientOptions extends RulePatientOptions {
  /** The model that words the replies. */
  readonly chat: Chat
  /**
   * What a failing model leads to: a Fault, which leaves the consultation out, or the rule patient's own words, counted
   * as `fault`. A dead server would then quietly be another patient. @default 'fault'
   */
  readonly onFault?: 'fault' | 'template'
}

/** How often a model is asked for a wording. */
const tries = 2

/** Speaks to the model, with a seed of the question and of what was said before. */
function speakerOf(chat: Chat, utterance: string, { dialogue, seed, signal }: PatientContext) {
  // By what was said, not by how long ago: siblings that ask the same in the same state hear the same.
  const state = dialogue.flatMap((exchange) => [exchange.utterance, exchange.reply.text])
  return async (messages: readonly Message[], attempt: number): Promise<string> => {
    const drawn = fork(seed, skinPrompt, attempt, utterance, ...state) >>> 1
    const reply = await chat(messages, { seed: drawn, prompt: skinPrompt, signal })
    // What was cut off is not the patient's whole answer.
    return reply.cutOff ? '' : stripHiddenReasoning(reply.text)
  }
}

const template = (reply: Reply, wording: 'template' | 'fault'): Reply => ({ ...reply, wording })

/**
 * Makes a patient whose facts are the rule patient's and whose words are a model's. A wording that adds, drops or turns
 * round a fact, or names a disease, is asked for once more, and then the rule patient's own words are used; the reply
 * says which (`wording`).
 * @throws Fault when the model fails, except under `onFault: 'template'`; and `bad-input` for a recorded dialogue
 */
export function skinPatient({ chat, onFault = 'fault', ...rule }: SkinPatientOptions): Patient {
  const { knowledge } = rule
  const draft = ruleDrafts(rule)
  return async (utterance, context) => {
    if (isWritten(context.view))
      throw new Fault(
        'bad-input',
        'env.patient: expected cases with findings of a knowledge base for `skin`, got a recorded dialogue (use `record` or `free`)',
      )
    const { reply, core } = await draft(utterance, context)
    const { language, view } = context
    const { told, asked } = reply
    const self = view.demographics.speaker === 'self'
    const commission: Commission = {
      ...{ utterance, core, told, asked, language, self },
      template: reply.text,
    }
    const speak = speakerOf(chat, utterance, context)
    let messages = skinMessages(context, commission)
    try {
      for (let attempt = 0; attempt < tries; attempt++) {
        const text = await speak(messages, attempt)
        const problem = wordingProblem(knowledge, text, commission)
        if (problem === undefined)
          return { ...reply, text, wording: attempt === 0 ? 'passed' : 'retried' }
        messages = againMessages(messages, text, problem, language)
      }
      return template(reply, 'template')
    } catch (error) {
      const failed = Fault.is(error) && modelFaultKind(error) !== undefined
      if (onFault === 'fault' || !failed || modelFaultKind(error) === 'budget') throw error
      return template(reply, 'fault')
    }
  }
}
