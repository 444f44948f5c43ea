import { describe, expect, test } from 'vitest'
import { patientView } from '../../../../src/case.js'
import { caseSource } from '../../../../src/cases/generator/generate.js'
import type { Chat, ChatOptions, Message } from '../../../../src/chat.js'
import { ModelFault } from '../../../../src/chats/model-fault.js'
import { rulePatient, rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { skinPatient } from '../../../../src/envs/patients/skin/skin.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { PatientContext } from '../../../../src/patient.js'
import {
  faithfulReply,
  hostileReply,
  type Posed,
  pose,
  wordedAs,
} from '../../../fixtures/skin-stubs.js'

const knowledge = loadKnowledge()
const usage = { promptTokens: 1, completionTokens: 1 }

/** A model that says one thing after the other, and remembers what it was asked. */
function speaker(...says: readonly string[]) {
  const asked: { readonly messages: readonly Message[]; readonly options: ChatOptions }[] = []
  const chat: Chat = async (messages, options = {}) => {
    asked.push({ messages, options })
    return { text: says[Math.min(asked.length, says.length) - 1]!, usage }
  }
  return { chat, asked }
}

/** A question with one plain fact in its answer. */
const truth = Array.from({ length: 50 }, (_, n) => caseSource(knowledge, { tier: 'easy' })(n)).find(
  ({ findings, demographics }) =>
    demographics.speaker === 'self' &&
    findings.some(({ id, state }) => id === 'cough' && state === 'absent'),
)!
const context: PatientContext = { view: patientView(truth), dialogue: [], seed: 3, language: 'en' }
const utterance = 'Do you have a cough?'
const posed: Posed = {
  ...{ n: 0, truth, utterance, context },
  reply: rulePatientAtOnce({ knowledge })(utterance, context),
}
const ask = (chat: Chat, more = {}) =>
  skinPatient({ knowledge, chat, ...more })(posed.utterance, posed.context)

describe('skinPatient', () => {
  test('has the facts of the rule patient and the words of the model', async () => {
    const { chat, asked } = speaker('<think>hm</think>No, doctor, no coughing at all.')
    const rule = await rulePatient({ knowledge })(posed.utterance, posed.context)
    expect(await ask(chat)).toEqual({
      ...rule,
      text: 'No, doctor, no coughing at all.',
      wording: 'passed',
    })
    expect(asked.length).toBe(1)
  })

  test('asks once more, with what was wrong, and then keeps the words of the rule patient', async () => {
    const second = speaker('I cough day and night.', 'No cough, doctor.')
    expect(await ask(second.chat)).toMatchObject({ text: 'No cough, doctor.', wording: 'retried' })
    expect(second.asked[1]?.messages.at(-1)?.content).toContain('That cannot stand')
    expect(second.asked[1]?.options.seed).not.toBe(second.asked[0]?.options.seed)
    const never = speaker('I cough day and night.')
    const reply = await ask(never.chat)
    expect(reply).toMatchObject({ text: posed.reply.text, wording: 'template' })
    expect(never.asked.length).toBe(2)
  })

  test.each([
    ['adds', 'No cough, but my left arm is numb.'],
    ['drops', 'Well, you know how it is, doctor.'],
    ['turns round', 'Yes.'],
    ['turns round beside the truth', 'No cough. I do, though.'],
    ['doubts', 'Maybe no cough.'],
    ['does not know', "I don't know whether I cough."],
    ['names a disease', 'No cough. It must be influenza.'],
    ['is in another language', '没有咳嗽。'],
    ['has a label', 'Patient: No cough.'],
    ['speaks of its task', 'As an AI I have no cough.'],
    ['says nothing', ''],
    ['is somebody else', 'He has no cough.'],
    ['adds time', 'No cough for five years.'],
    ['adds a thing that cannot be done', "No cough. I can't think."],
    ['has hidden characters', 'No co\u200bugh.'],
    ['goes on and on', 'No cough, really. '.repeat(40)],
  ])('a reply that %s does not pass', async (_, text) => {
    expect(await wordedAs(knowledge, posed, text)).toMatchObject({ wording: 'template' })
  })

  test.each([
    'No.',
    'A cough? No.',
    'Not really, doctor, no.',
    "I haven't been coughing, no.",
    'No, I do not have a cough.',
  ])('passes: %s', async (text) => {
    expect(await wordedAs(knowledge, posed, text)).toMatchObject({ text, wording: 'passed' })
  })

  test('a model that fails is a Fault, and the template only where that is wanted', async () => {
    const fault = new ModelFault('server', 'the server is gone')
    const chat: Chat = async () => {
      throw fault
    }
    await expect(ask(chat)).rejects.toBe(fault)
    expect(await ask(chat, { onFault: 'template' })).toMatchObject({
      text: posed.reply.text,
      wording: 'fault',
    })
    const broke: Chat = async () => {
      throw new ModelFault('budget', 'spent')
    }
    await expect(ask(broke, { onFault: 'template' })).rejects.toMatchObject({ code: 'budget' })
    const bug: Chat = async () => {
      throw new TypeError('bug')
    }
    await expect(ask(bug, { onFault: 'template' })).rejects.toThrow('bug')
  })

  test('a recorded dialogue has no facts to put into words', async () => {
    const { chat } = speaker('No cough.')
    const findings = new Map([
      [
        'recorded-1',
        { ...truth.findings[0]!, question: { en: 'Any cough?' }, utterance: { en: 'No.' } },
      ],
    ])
    const view = { ...context.view, findings }
    await expect(
      (async () => skinPatient({ knowledge, chat })(utterance, { ...context, view }))(),
    ).rejects.toMatchObject({ code: 'bad-input' })
  })

  test('the same question in the same state is asked with the same words and seed', async () => {
    const { chat, asked } = speaker('No cough.')
    await ask(chat)
    await ask(chat)
    const [first, again] = asked
    expect(again?.messages).toEqual(first?.messages)
    expect(again?.options.seed).toBe(first?.options.seed)
    const other = { ...posed.context, seed: posed.context.seed + 1 }
    await skinPatient({ knowledge, chat })(posed.utterance, other)
    expect(asked[2]?.options.seed).not.toBe(first?.options.seed)
  })
})

// bench/skin.js has more of them.
describe.each(['en', 'zh'] as const)('stubs, %s', (language) => {
  test('nothing hostile gets through, and nearly all that is faithful does', async () => {
    let faithful = 0
    const count = 60
    for (let n = 0; n < count; n++) {
      const one = pose(knowledge, language, n)
      const { kind, text } = hostileReply(knowledge, one)
      const { wording } = await wordedAs(knowledge, one, text)
      expect({ kind, text, told: one.reply.text, wording }).toMatchObject({ wording: 'template' })
      const said = await wordedAs(knowledge, one, faithfulReply(knowledge, one))
      if (said.wording === 'passed') faithful++
    }
    expect(faithful / count).toBeGreaterThanOrEqual(0.97)
  })
})
