/** The judge that a recipe's model makes: prompts, votes, orders. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRoleModels } from '../../../src/runs/models/role-models.js'
import { parseRecipe } from '../../../src/runs/recipe.js'

interface Sent {
  readonly seed?: number
  readonly temperature?: number
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}
const sent: Sent[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    sent.push(JSON.parse(body))
    response.setHeader('content-type', 'application/json')
    const message = { role: 'assistant', content: 'Correct' }
    response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }] }))
  })
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on a port, not on a pipe
  url = `http://127.0.0.1:${port}/v1`
})
beforeEach(() => {
  sent.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const request = { task: 'same-diagnosis', reference: 'Gout', answer: 'podagra' } as const
async function judged(settings: string, reward = 'diagagent'): Promise<string | undefined> {
  const text = `models: { judge: { model: j, base-url: '${url}'${settings} } }`
  using models = openRoleModels(parseRecipe(text, 'r.yaml', []).models, { reward })
  return models.judge?.(request)
}

describe('the judge of a recipe', () => {
  test('asks in our own words, or as published where the reward is as released', async () => {
    expect(await judged('')).toBe('Correct')
    await judged('', 'diagagent-parity')
    await judged(', prompts: own', 'diagagent-parity')
    await judged(', prompts: diagagent')
    expect(sent.map(({ messages }) => messages.length)).toEqual([2, 1, 2, 1])
    expect(sent[1]?.messages[0]?.content).toContain('[pred_diag]\npodagra\n\n[gt_diag]\nGout')
    expect(sent[1]).toMatchObject({ seed: 42, temperature: 0 })
    expect(sent[3]?.messages).toEqual(sent[1]?.messages)
  })

  test('may vote several times, in both orders, at a temperature', async () => {
    expect(await judged(', votes: 3, swap: true, temperature: 0.7')).toBe('Correct')
    expect(sent).toHaveLength(6)
    expect(new Set(sent.map(({ temperature }) => temperature))).toEqual(new Set([0.7]))
    expect(new Set(sent.map(({ seed }) => seed)).size).toBe(3)
    expect(new Set(sent.map(({ messages }) => messages[1]?.content)).size).toBe(2)
  })

  test.each([
    [', prompts: mine', /models\.judge\.prompts/],
    [', votes: 0', /models\.judge\.votes/],
    [', swop: true', /models\.judge\.swop: unknown/],
  ])('%s is bad input', async (settings, message) => {
    await expect(judged(settings)).rejects.toThrow(message)
  })

  test('and no other role has them', () => {
    expect(() => parseRecipe('models: { patient: { model: p, votes: 3 } }', 'r.yaml', [])).toThrow(
      /models\.patient/,
    )
  })
})
