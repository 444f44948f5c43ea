import { describe, expect, test } from 'vitest'
import { addUsageByRole, charge, withAccount } from '../../src/chats/account.js'
import { openLedger, usageLine } from '../../src/chats/ledger.js'
import { ModelFault } from '../../src/chats/model-fault.js'
import { openaiChat } from '../../src/chats/openai.js'
import { chatServer, completion } from '../fixtures/chat-server.js'

const reply = { text: 'No.', usage: { promptTokens: 100, completionTokens: 10 } }
const answers = async () => reply
const fails = async () => {
  throw new ModelFault('server', 'down', { retries: 2 })
}

describe('a ledger', () => {
  test('counts calls, failed ones too, with retries, tokens and price by role', async () => {
    const ledger = openLedger({ prices: { m: { input: 2, output: 30 } } })
    const doctor = ledger.meter('doctor', 'm', async () => ({ ...reply, retries: 1 }))
    await doctor('a')
    await doctor('b')
    await expect(ledger.meter('doctor', 'm', fails)('c')).rejects.toThrow('down')
    await ledger.meter('patient', 'unpriced', answers)('d')
    expect(ledger.used()).toEqual({
      doctor: {
        ...{ calls: 3, failed: 1, retries: 4, promptTokens: 200, completionTokens: 20 },
        cost: (200 * 2 + 20 * 30) / 1e6,
      },
      patient: {
        ...{ calls: 1, failed: 0, retries: 0, promptTokens: 100, completionTokens: 10 },
        cost: null,
      },
    })
    expect(usageLine(ledger.used())).toBe(
      '4 model calls, 1 failed, 4 retries, 330 tokens, cost unknown',
    )
  })

  test('counts what was asked once only once, and a fault that several heard too', async () => {
    const ledger = openLedger()
    await ledger.meter('patient', 'm', async () => ({ ...reply, reused: true as const }))('a')
    const fault = new ModelFault('timeout', 'late')
    const shared = ledger.meter('patient', 'm', async () => {
      throw fault
    })
    await Promise.allSettled([shared('b'), shared('b')])
    expect(ledger.used()).toMatchObject({ patient: { calls: 1, failed: 1, promptTokens: 0 } })
  })

  test('of a model named like a member of every object finds no price', async () => {
    const ledger = openLedger({ prices: {} })
    await ledger.meter('doctor', 'constructor', answers)('a')
    expect(ledger.used().doctor?.cost).toBeNull()
  })

  test('says nothing where nothing was called', () => {
    expect(usageLine(openLedger().used())).toBe('')
  })
})

describe('a budget', () => {
  test.each([
    ['tokens', { tokens: 250 }, 3],
    ['money', { money: 0.0009 }, 2],
  ])('of %s stops the run, and not one episode', async (_, budget, calls) => {
    const ledger = openLedger({ prices: { m: { input: 2, output: 30 } }, budget })
    const ask = ledger.meter('doctor', 'm', answers)
    for (let call = 0; call < calls; call++) await ask('a')
    await expect(ask('a')).rejects.toMatchObject({ code: 'budget', kind: 'budget' })
    expect(ledger.used().doctor?.calls).toBe(calls)
  })

  test('of money needs the price of every model', () => {
    const ledger = openLedger({ prices: { m: { input: 1, output: 1 } }, budget: { money: 1 } })
    expect(() => ledger.meter('judge', 'other', answers)).toThrow(/models\.prices.*`other`.*judge/)
  })
})

describe('an account', () => {
  test('holds what was used in its own work, however it interleaves', async () => {
    const ledger = openLedger()
    const ask = ledger.meter('patient', 'm', async (_: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return reply
    })
    const work = (calls: number) =>
      withAccount(async () => {
        for (let call = 0; call < calls; call++) await ask('x')
        return calls
      })
    const [one, three] = await Promise.all([work(1), work(3)])
    expect([one.result, one.usage.patient?.calls]).toEqual([1, 1])
    expect([three.result, three.usage.patient?.calls]).toEqual([3, 3])
    expect(ledger.used().patient?.calls).toBe(4)
  })

  test('outside of one, nothing is charged', () => {
    const usage = { calls: 1, failed: 0, retries: 0, promptTokens: 1, completionTokens: 1, cost: 0 }
    expect(() => charge('doctor', usage)).not.toThrow()
  })

  test('the sum of a known and an unknown cost is unknown', () => {
    const of = (cost: number | null) => ({
      a: { calls: 1, failed: 0, retries: 0, promptTokens: 0, completionTokens: 0, cost },
    })
    expect(addUsageByRole(of(1), of(null)).a?.cost).toBeNull()
    expect(addUsageByRole(of(1), of(2)).a?.cost).toBe(3)
  })
})

test('tokens of replies that could not be read are counted, in a call that fails and in one that is answered', async () => {
  const server = await chatServer(
    completion(null),
    completion(null),
    completion(null),
    completion('No.'),
  )
  const ledger = openLedger({ prices: { m: { input: 1, output: 1 } } })
  const { baseURL } = server
  const chat = ledger.meter('doctor', 'm', openaiChat({ model: 'm', baseURL, backoffMs: 2 }))
  const messages = [{ role: 'user', content: 'Any fever?' }] as const
  await expect(chat(messages)).rejects.toMatchObject({ kind: 'unparsable' })
  await chat(messages)
  server.close()
  expect(ledger.used().doctor).toEqual({
    ...{ calls: 2, failed: 1, retries: 2, promptTokens: 28, completionTokens: 12 },
    cost: expect.closeTo(40 / 1e6, 12),
  })
})
