/**
 * Prompts of patients that a model plays freely: our own, and four in the form of published systems: what the model is
 * shown, in which order and roles, how long it may answer, how it refuses, its sampling. The sentences are this
 * package's own. None is given the diagnosis, which DoctorAgent-RL's and GRPODx's patients know, and none the doctor's
 * hidden reasoning, which TakesTwo's is shown.
 */
import { textInLanguage } from '../../../case.js'
import type { Message } from '../../../chat.js'
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import type { Language } from '../../../turn.js'
import { personaLines, speakerLines } from '../role-lines.js'
import { factLines, ownSystemPrompt } from './own-prompt.js'

/** What a prompt is made of. */
interface PromptInputs extends PatientContext {
  readonly utterance: string
  readonly knowledge: Knowledge | undefined
}

/** One way to have a model play a patient. */
interface FreeStyle {
  readonly messages: (inputs: PromptInputs) => readonly Message[]
  /** Sampling of the published system, where the settings of the model say nothing else. */
  readonly sampling: {
    readonly temperature?: number
    readonly topP?: number
    readonly maxTokens?: number
  }
  /** What takes the place of every reply with this in it. */
  readonly refusal?: { readonly having: RegExp; readonly becomes: string }
}

/** All that the patient knows, as one text: the hidden self-report. */
const selfReport = ({ view, language, knowledge }: PromptInputs): string =>
  [
    ...speakerLines(view, language),
    textInLanguage(view.complaint.text, language),
    ...factLines(view, language, knowledge),
  ]
    .filter(Boolean)
    .join('\n')

/** Earlier exchanges as messages: the doctor is the user. */
const asMessages = ({ dialogue, utterance }: PromptInputs): readonly Message[] => [
  ...dialogue.flatMap((exchange): Message[] => [
    { role: 'user', content: exchange.utterance },
    { role: 'assistant', content: exchange.reply.text },
  ]),
  { role: 'user', content: utterance },
]

/** Earlier exchanges as one transcript. */
const asTranscript = ({ dialogue, utterance, language }: PromptInputs): string => {
  const [doctor, patient] = language === 'zh' ? ['医生：', '患者：'] : ['Doctor: ', 'Patient: ']
  const lines = dialogue.flatMap((one) => [doctor + one.utterance, patient + one.reply.text])
  return [...lines, doctor + utterance, patient.trimEnd()].join('\n')
}

const refusal = {
  en: 'Sorry, I cannot answer your question.',
  zh: '抱歉，我无法回答您的问题。',
} as const

const rules: Readonly<
  Record<'doctoragent-rl' | 'takes-two' | 'grpodx' | 'agentclinic', Record<Language, string>>
> = {
  'doctoragent-rl': {
    en: `You are a patient. Answer the doctor's question by your description below, in one sentence, and tell symptoms only.
If the description does not hold the answer, reply "${refusal.en}"`,
    zh: `你是一名患者。请根据下面的描述，用一句话回答医生的问题，只说症状。
如果描述里没有答案，请回答“${refusal.zh}”`,
  },
  'takes-two': {
    en: `You are a patient in a consultation. Your self-report is below; only you know it.
Answer the doctor in one sentence, and only what was asked. If a question has nothing to do with your self-report, reply "${refusal.en}"`,
    zh: `你是一名就诊的患者，下面是只有你知道的自述。
请用一句话回答医生，只回答被问到的内容。如果问题与自述无关，请回答“${refusal.zh}”`,
  },
  grpodx: {
    en: `You play a patient with the complaint and symptoms below. Answer the doctor's last question as this patient, in plain words.
Do not say which illness you have.`,
    zh: `你在扮演一名有以下主诉和症状的患者。请以该患者的身份，用平常的话回答医生最后一个问题。
不要说出自己得了什么病。`,
  },
  agentclinic: {
    en: `You are a patient in a clinic who only answers in dialogue, in one to three sentences. A doctor is questioning you.
Do not tell your disease; talk of your symptoms when asked. Below is all of your information.`,
    zh: `你是门诊里的一名患者，只用对话回答，一到三句。医生正在问诊。
不要说出病名，被问到时谈自己的症状。下面是你的全部信息。`,
  },
}

/** Ways to have a model play a patient, by name. */
export const freeStyles = {
  own: {
    messages: (inputs) => [
      {
        role: 'system',
        content: ownSystemPrompt(inputs.view, inputs.language, inputs.knowledge),
      },
      ...asMessages(inputs),
    ],
    sampling: {},
  },
  /** One system message and the question alone: it has no memory; greedy, at most 256 tokens. */
  'doctoragent-rl': {
    messages: (inputs) => [
      {
        role: 'system',
        content: `${rules['doctoragent-rl'][inputs.language]}\n\n${selfReport(inputs)}`,
      },
      { role: 'user', content: inputs.utterance.replace(/^\s*question\s*[:：]\s*/i, '') },
    ],
    sampling: { temperature: 0.01, maxTokens: 256 },
    refusal: { having: /sorry/i, becomes: 'Sorry, I do not know.' },
  },
  /** The dialogue with the roles turned round, after the rules and the self-report. */
  'takes-two': {
    messages: (inputs) => {
      const [first, ...rest] = asMessages(inputs)
      const opening = `${rules['takes-two'][inputs.language]}\n\n${selfReport(inputs)}`
      return [{ role: 'user', content: `${opening}\n\n${first!.content}` }, ...rest]
    },
    sampling: { temperature: 0.6, topP: 0.95, maxTokens: 1024 },
  },
  /** One message with the whole transcript. */
  grpodx: {
    messages: (inputs) => [
      {
        role: 'user',
        content: `${rules.grpodx[inputs.language]}\n\n${selfReport(inputs)}\n\n${asTranscript(inputs)}`,
      },
    ],
    sampling: { temperature: 0.7, maxTokens: 150 },
  },
  /** The patient's information as the system message, with its bias or manner; the transcript as the user's. */
  agentclinic: {
    messages: (inputs) => [
      {
        role: 'system',
        content: [
          rules.agentclinic[inputs.language],
          ...personaLines(inputs.view.persona, inputs.language),
          selfReport(inputs),
        ].join('\n'),
      },
      { role: 'user', content: asTranscript(inputs) },
    ],
    sampling: { temperature: 0.05, maxTokens: 200 },
  },
} as const satisfies Record<string, FreeStyle>

/** Name of a free patient's prompts. */
export type FreePrompts = keyof typeof freeStyles

/** The style of a name, without the type of its table. */
export const freeStyle = (prompts: FreePrompts): FreeStyle => freeStyles[prompts]
