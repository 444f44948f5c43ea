/**
 * The prompts of the package by version: a cassette finds a reply by its prompt, so a prompt that changes needs a new
 * version. Where a hash here is wrong, raise the version in the source, and then write the new hash.
 */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { chatDoctor } from '../../src/agents/chat.js'
import { type GrammarName, namedGrammar } from '../../src/agents/grammars/named.js'
import type { PatientView } from '../../src/case.js'
import type { Chat, ChatOptions, Complete } from '../../src/chat.js'
import { diagGym } from '../../src/envs/exams/diaggym.js'
import { freePatient } from '../../src/envs/patients/free/free.js'
import type { FreePrompts } from '../../src/envs/patients/free/prompts.js'
import { againMessages, skinMessages, skinPrompt } from '../../src/envs/patients/skin/prompt.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { chatJudge } from '../../src/rewards/judges/chat-judge.js'
import type { JudgeRequest } from '../../src/rewards/judges/judge.js'
import { chatVerifier } from '../../src/rewards/outcome/verifier.js'
import { seen } from '../fixtures/consulting.js'

/** A model that remembers its prompts. */
function listener(says: string) {
  const heard: { readonly messages: readonly unknown[]; readonly prompt: string | undefined }[] = []
  const chat: Chat = async (messages, { prompt, tools = [] }: ChatOptions = {}) => {
    heard.push({ messages: [...messages, ...tools], prompt })
    return { text: says, usage: { promptTokens: 1, completionTokens: 1 } }
  }
  const found = () => {
    const versions = [...new Set(heard.map(({ prompt }) => prompt))]
    const all = JSON.stringify(heard.map(({ messages }) => messages))
    return `${versions.join()} ${createHash('sha256').update(all).digest('hex').slice(0, 12)}`
  }
  return { chat, found }
}

const view: PatientView = {
  view: 'patient',
  demographics: { age: { v: 30, unit: 'year' }, sex: 'F', speaker: 'caregiver' },
  complaint: { text: { en: 'I feel ill.', zh: '我不舒服。' }, findings: [] },
  findings: new Map(
    (['present', 'absent', 'unknown'] as const).map((state) => [
      state,
      { id: state, kind: 'symptom', state, knownBy: 'patient', salience: 0.5, stigma: 0 },
    ]),
  ),
  persona: {},
  noise: { forget: 0, deny: 0, overReport: 0 },
}

const answered = { text: 'No.', understood: 'answered', questions: 1, asked: [], told: [] } as const
const before = { utterance: 'Any pain?', reply: answered }

test.each(
  Object.entries({
    own: 'a65904f3cd4b',
    'doctoragent-rl': '4daca1016255',
    'takes-two': '771e58ae0771',
    grpodx: '0aaab3ef929c',
    agentclinic: '8f06675471c4',
  }),
)('the free patient, %s', async (prompts, hash) => {
  const { chat, found } = listener('No.')
  const patient = freePatient({ chat, prompts: prompts as FreePrompts }) // the keys above
  for (const language of ['en', 'zh'] as const)
    await patient('Any cough?', { view, dialogue: [before], seed: 0, language })
  expect(found()).toBe(`free-patient-${prompts}/1 ${hash}`)
})

test('the skin', () => {
  const messages = (['en', 'zh'] as const).flatMap((language) => {
    const context = {
      ...{
        view: { ...view, persona: { anxious: 3, terse: 1 } },
        dialogue: [before],
        seed: 0,
        language,
      },
    }
    const first = skinMessages(context, { utterance: 'Any cough?', core: 'No.' })
    return [first, againMessages(first, 'Yes.', 'says the contrary of a fact', language)]
  })
  const hash = createHash('sha256').update(JSON.stringify(messages)).digest('hex').slice(0, 12)
  expect(`${skinPrompt} ${hash}`).toBe('skin-patient/1 afe94d8b28fa')
})

const dialogue = [{ role: 'doctor', text: 'Any cough?' }] as const
const requests: readonly JudgeRequest[] = [
  { task: 'same-diagnosis', reference: 'a', answer: 'b' },
  { task: 'count-matched', items: ['a'], list: ['b'] },
  ...(['diagnosis', 'recommendation'] as const).map(
    (of): JudgeRequest => ({ task: 'similarity', of, reference: 'a', answer: 'b' }),
  ),
  ...(['all', 'diagnosis-and-questions', 'questions'] as const).map(
    (grade): JudgeRequest => ({ task: 'consultation', grade, disease: 'a', dialogue }),
  ),
  { task: 'patient-conduct', profile: 'a', dialogue },
]

test('the examiner', async () => {
  const prompts: unknown[] = []
  const complete: Complete = async (text, { prompt } = {}) => {
    prompts.push([prompt, text])
    return { text: 'Value: 1', usage: { promptTokens: 1, completionTokens: 1 } }
  }
  const simulate = diagGym({ complete, knowledge: loadKnowledge() })
  const { demographics, complaint, findings: history } = view
  const results = new Map([
    [
      'ecg',
      {
        exam: 'ecg',
        findings: [],
        report: { en: 'Sinus rhythm.' },
        abnormal: false,
        unavailable: false,
      },
    ],
  ])
  const seen = { demographics, complaint: complaint.text, history, findings: new Map(), results }
  await simulate('selenium', {
    ...{ done: [], now: 0, seed: 0, language: 'en' },
    view: { ...seen, view: 'examiner', examDefault: 'simulate' },
  })
  const hash = createHash('sha256').update(JSON.stringify(prompts)).digest('hex').slice(0, 12)
  expect(`${[prompts].flat(2)[0]} ${hash}`).toBe('diaggym/1 d6bd1d554cc0')
})

test('the judge', async () => {
  const { chat, found } = listener('Correct')
  for (const request of requests) await chatJudge({ chat, name: 'm' })(request)
  expect(found()).toBe('chat-judge/1 35795f7025c8')
})

test('the verifier', async () => {
  const { chat, found } = listener('True')
  await chatVerifier({ chat })('Which disease?', 'influenza', 'flu')
  expect(found()).toBe('chat-verifier/1 118a43be6817')
})

test.each<[GrammarName, string]>([
  ['labelled', '6f2ed718ebf8'],
  ['huatuo', '42e213044a9d'],
  ['spoken', '6f2ed718ebf8'],
  ['think-answer', '46abf350eec4'],
  ['grpodx', '8c1d1eeb71fb'],
  ['diagagent', '2f657f26a1fc'],
  ['tools', '8731fd623cd1'],
])('the doctor, %s', async (name, hash) => {
  const { chat, found } = listener('Question: Any cough?')
  for (const language of ['en', 'zh'] as const)
    await chatDoctor({ chat, grammar: namedGrammar(name) })(seen([], { language }), { seed: 0 })
  expect(found()).toBe(`chat-doctor-${name}/1 ${hash}`)
})
