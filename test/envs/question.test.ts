import { describe, expect, test } from 'vitest'
import { huatuo } from '../../src/agents/grammars/huatuo.js'
import { questionCase } from '../../src/cases/importers/huatuo.js'
import { question } from '../../src/envs/question.js'
import { verifiedAnswer } from '../../src/rewards/outcome/verified-answer.js'
import { make } from '../../src/tasks/registry.js'
import { formatHuatuoReply } from '../../src/text/huatuo-reply.js'

const cases = [
  questionCase('What causes scurvy?', 'Vitamin C deficiency'),
  questionCase('What causes rickets?', 'Vitamin D deficiency'),
]
const options = { case: cases[0]! }
const right = formatHuatuoReply('Gums bleed.', 'Vitamin C deficiency')

describe('a question', () => {
  test('is the complaint, to be answered in one turn', async () => {
    const { observation } = await question({ cases }).reset({ options })
    expect(observation).toMatchObject({
      intake: { complaint: { en: 'What causes scurvy?' } },
      turnsLeft: 1,
    })
  })

  test.each([
    [right, 1],
    [formatHuatuoReply('Gums bleed.', 'Vitamin D deficiency'), 0],
  ])('ends with the answer, which is paid: %j', async (text, reward) => {
    const env = question({ cases, grammar: huatuo(), reward: verifiedAnswer() })
    await env.reset({ options })
    const step = await env.step(text)
    expect(step).toMatchObject({ reward, terminated: true, info: { stop: 'diagnosed' } })
    expect(step.info.episode?.turns).toHaveLength(1)
  })

  test.each<[string, Parameters<ReturnType<typeof question>['step']>[0]]>([
    ['an unreadable reply', 'Vitamin C'],
    ['a question to the patient', { kind: 'ask', text: 'Do your gums bleed?' }],
    ['an order', { kind: 'order', exam: 'Vitamin C level' }],
  ])('ends with %s too, as an invalid action', async (_, action) => {
    const env = question({ cases, grammar: huatuo(), reward: verifiedAnswer() })
    await env.reset({ options })
    const step = await env.step(action)
    expect(step).toMatchObject({ reward: 0, terminated: true, info: { stop: 'invalid-action' } })
    expect(step.info.episode?.turns[0]).toMatchObject({
      action: { kind: 'invalid' },
      outcome: { kind: 'rejected' },
    })
  })

  test('has no patient, even for a grammar that asks', async () => {
    const asking = { ...huatuo(), parse: (text: string) => ({ kind: 'ask', text }) as const }
    const env = question({ cases, grammar: asking, language: 'zh' })
    await env.reset({ options })
    const { info } = await env.step('Does it hurt?')
    expect(info.episode?.turns[0]?.outcome).toEqual({
      kind: 'rejected',
      text: '这是一道需要回答的问题，没有可以询问或检查的患者。',
    })
  })

  test('wants an action object where it has no grammar', async () => {
    const env = question({ cases })
    await env.reset()
    await expect(env.step(right)).rejects.toThrow(TypeError)
  })
})

test('made by name, it reads the published form and pays verified answers', async () => {
  const env = make('question', { cases })
  await env.reset({ options })
  expect((await env.step(right)).reward).toBe(1)
})
