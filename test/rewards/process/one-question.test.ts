import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { oneQuestion } from '../../../src/rewards/process/conduct.js'
import { countQuestions } from '../../../src/rewards/process/questions.js'
import { ask, diagnose, episodeOf, present, truthOf } from '../../fixtures/reward-episodes.js'

describe('the questions of a text', () => {
  test.each([
    ['Do you cough?', 1],
    ['Do you cough? Do you smoke?', 2],
    ['Do you cough and do you smoke?', 2],
    ['Do you cough, do you smoke, do you drink?', 3],
    ['Where does it hurt and how long has it hurt?', 2],
    ['You cough, don’t you?', 1],
    ['When you cough, do you see blood?', 1],
    ['Do you cough or have you a cold?', 1],
    ['Do you cough', 1],
    ['do you cough\nare you hot', 2],
    ['Tell me about the pain.', 1],
    ['I’m wondering whether you cough.', 1],
    ['Really?! ???', 1],
    ['Thank you. I see.', 0],
    ['Take the whatsit daily.', 0],
    ['您咳嗽吗？', 1],
    ['您咳嗽吗', 1],
    ['您咳嗽吗发烧吗皮疹呢', 3],
    ['您咳嗽吗？发烧吗?', 2],
    ['您有没有咳嗽，会不会头晕？', 2],
    ['您有没有咳嗽？', 1],
    ['疼不疼', 1],
    ['嗓子红不红、肿不肿？', 1],
    ['用过吗啡吗？', 1],
    ['用过吗啡', 0],
    ['好了吗，还是更重了？', 1],
    ['请说说您的疼痛。', 1],
    ['谢谢您，时不时休息。', 0],
    ['', 0],
    ['？？？？????', 1],
  ])('%j holds %i', (text, count) => {
    expect(countQuestions(text)).toBe(count)
  })

  test('a text too long to be a question is more than any number', () => {
    expect(countQuestions('Do you cough? '.repeat(1000))).toBe(Number.POSITIVE_INFINITY)
  })

  test('of nearly all 16,000 questions of the knowledge base, each is one', () => {
    const all = loadKnowledge().findings.flatMap(({ ask: put }) => [...put.zh, ...put.en])
    expect(all.length).toBeGreaterThan(16_000)
    expect(all.filter((text) => countQuestions(text) !== 1).length / all.length).toBeLessThan(0.01)
  })
})

describe('one question', () => {
  const judge = async (...turns: EpisodeTurn[]) =>
    (await oneQuestion()(episodeOf([...turns, diagnose('flu')]), truthOf())).total
  const saying = (text: string, questions = 1): EpisodeTurn => ({
    ...ask([], { questions }),
    action: { kind: 'ask', text },
  })

  test('is the share of utterances that are exactly one', async () => {
    expect(await judge(saying('Do you cough?'), saying('您发烧吗？'))).toBe(1)
    expect(await judge(saying('Do you cough?'), saying('Do you cough? Any fever?'))).toBe(0.5)
    expect(await judge(saying('Thank you.', 0), saying('Do you cough?'))).toBe(0.5)
  })

  test('by its words or by the patient’s count, whichever is more', async () => {
    expect(await judge(saying('Do you cough?', 3))).toBe(0)
    expect(await judge(saying('Do you cough and do you smoke?', 1))).toBe(0)
    expect(await judge(saying('Cough?', 0))).toBe(1)
  })

  test('a list under one mark is several', async () => {
    const many = ask(present('a', 'b', 'c'))
    expect(await judge(many)).toBe(0)
    const reward = oneQuestion({ mostFindings: 3 })
    expect((await reward(episodeOf([many]), truthOf())).total).toBe(1)
  })

  test('a doctor who never asked has not asked well', async () => {
    expect(await judge()).toBe(0)
  })

  test.each([0, 1.5, Number.NaN])('%s findings a question are refused', (mostFindings) => {
    expect(() => oneQuestion({ mostFindings })).toThrow('Expected `mostFindings`')
  })
})
