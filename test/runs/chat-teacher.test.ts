import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { parseRecipe, type RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'
import { chatServer, completion } from '../fixtures/chat-server.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bedside-teacher-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a served doctor teaches: its consultations are what a policy is fine-tuned on', async () => {
  // Asks for a cough, in words of the action space, and then commits.
  const question = loadKnowledge().finding.get('cough')?.ask.en[0] ?? ''
  const server = await chatServer((response, request) => {
    const { messages } = request.body as { messages: readonly unknown[] }
    const said =
      messages.length > 2
        ? '<answer>Diagnosis: Influenza</answer>'
        : `<think>A cough?</think><answer>Question: ${question}</answer>`
    completion(said)(response, request)
  })
  const recipe = (mode: 'record' | 'strict'): RecipeInput => ({
    cases: { clinic: ['upper-airway'], heldOut: 4 },
    models: {
      doctor: { model: 'd', baseUrl: server.baseURL, grammar: 'think-answer' },
      cassette: { file: join(folder, 'replies.jsonl'), mode },
    },
    training: {
      ...{ algorithm: 'sft', steps: 8, evaluateCases: 2, adam: { learningRate: 0.05 } },
      sft: { agent: 'chat', cases: 6, episodesPerStep: 6 },
    },
  })
  const runs = ['recorded', 'replayed'].map((name) => join(folder, name))
  const { after, before } = await train(recipe('record'), { out: runs[0] ?? '' })
  server.close()
  expect(server.requests).toHaveLength(12)
  const coughs = (played: typeof after): number =>
    played.filter(({ episode }) => {
      const [first] = episode?.turns ?? []
      return first?.action.kind === 'ask' && first.action.text === question
    }).length
  expect([coughs(before), coughs(after)]).toEqual([expect.any(Number), 4])
  expect(coughs(before)).toBeLessThan(4)
  const usage = JSON.parse(readFileSync(join(runs[0] ?? '', 'usage.json'), 'utf8'))
  expect(usage.doctor).toMatchObject({ calls: 12, failed: 0 })
  // From the recording the same policy is learnt without a server.
  const again = await train(recipe('strict'), { out: runs[1] ?? '' })
  expect(again.after.map(({ episode }) => episode?.turns)).toEqual(
    after.map(({ episode }) => episode?.turns),
  )
  expect(server.requests).toHaveLength(12)
})

test('a recipe without the model of its teacher says what is missing', () => {
  const text = 'training: { algorithm: sft, sft: { agent: chat } }'
  expect(() => parseRecipe(text, 'r.yaml')).toThrow(
    /models\.doctor: expected the model of training\.sft\.agent `chat`/,
  )
  const doctor = 'models: { doctor: { model: d } }'
  expect(parseRecipe(`${text}\n${doctor}`, 'r.yaml').models?.doctor?.model).toBe('d')
})
