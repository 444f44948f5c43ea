import { expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { replyFormat } from '../../../src/rewards/process/conduct.js'
import { drawnTurn } from '../../fixtures/draws.js'
import { ask, diagnose, episodeOf, invalid, truthOf } from '../../fixtures/reward-episodes.js'

const judge = async (...turns: EpisodeTurn[]) =>
  (await replyFormat()(episodeOf(turns), truthOf())).total
const written = (text: string): EpisodeTurn => ({ ...ask(), text })
const cutOff = (stopReason: 'stop' | 'length'): EpisodeTurn =>
  drawnTurn(ask(), {
    ...{ prompt: [1], tokens: [2], logprobs: [-1], policyVersion: 0, temperature: 1 },
    ...{ logprobMode: 'raw', stopReason },
  })

test('is the share of replies that could be read, the diagnosis among them', async () => {
  expect(await judge(ask(), diagnose('flu'))).toBe(1)
  expect(await judge(ask(), invalid, ask(), diagnose('flu'))).toBe(0.75)
  expect(await judge(invalid, invalid)).toBe(0)
  expect(await judge()).toBe(0)
})

test.each([
  ['Question: Do you cough?', 1],
  ['<think>A cough?</think>\nQuestion: Do you cough?', 1],
  ['A cough?</think>\nQuestion: Do you cough?', 1],
  ['<think>A cough?\nQuestion: Do you cough?', 0],
  ['Question: Do you cough? <think>', 0],
  ['<think>a</think><reason>Question: Do you cough?', 0],
  ['## Thinking\n\nflu\n\n## Final Response\n\nflu', 1],
  ['## Thinking\n\nflu', 0],
  ['Question: Do you cough? <thin<think>k>', 0],
  ['', 1],
])('hidden reasoning that is not closed is no form: %j', async (text, value) => {
  expect(await judge(written(text))).toBe(value)
})

test('nor is a reply that was cut off', async () => {
  expect(await judge(cutOff('stop'))).toBe(1)
  expect(await judge(cutOff('length'))).toBe(0)
})
