import { expect, test } from 'vitest'
import type { Chat } from '../../../src/chat.js'
import { memoryStore, shareReplies } from '../../../src/chats/shared-replies.js'
import { freePatient } from '../../../src/envs/patients/free/free.js'
import { skinPatient } from '../../../src/envs/patients/skin/skin.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { pose } from '../../fixtures/skin-stubs.js'

const knowledge = loadKnowledge()

test.each([
  ['skin', (chat: Chat) => skinPatient({ knowledge, chat })],
  ['free', (chat: Chat) => freePatient({ knowledge, chat })],
] as const)(
  '%s: siblings hear the same to the same question in the same state',
  async (_, make) => {
    let spoken = 0
    // A model that never says the same twice, whatever seed it is given.
    const chat: Chat = async () => ({
      text: `I'm not sure${'!'.repeat(++spoken)}`,
      usage: { promptTokens: 1, completionTokens: 1 },
    })
    const patient = make(shareReplies(chat, { role: 'patient', model: 'm' }, memoryStore()))
    const posed = Array.from({ length: 20 }, (_, n) => pose(knowledge, 'en', n))
    const hear = async () => {
      const replies = []
      for (const { utterance, context } of posed) replies.push(await patient(utterance, context))
      return replies
    }
    const first = await hear()
    const asked = spoken
    expect(await hear()).toEqual(first)
    expect(spoken).toBe(asked)
    // In another state the same question is another request.
    const { utterance, context, reply } = posed[0]!
    const dialogue = [...context.dialogue, { utterance: 'Hello.', reply }]
    await patient(utterance, { ...context, dialogue })
    expect(spoken).toBeGreaterThan(asked)
  },
)
