/** What too little speaks for is not answered: near neighbours, other parts of the body, other people, other words. */
import { describe, expect, test } from 'vitest'
import { isInsideWord } from '../../../../src/envs/patients/nlu/chinese/inside-words.js'
import { isElsewhere } from '../../../../src/envs/patients/nlu/follow-ups/regions.js'
import { understand } from '../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const findings = (text: string) => understand(knowledge, text).topics.map(({ finding }) => finding)

describe('a finding with little evidence', () => {
  test.each([
    'Have you been going into work the last three days?',
    'Can you tell me how that engine works?',
    'Do you look at the clock and think about the weekend?',
    '您平时爱用什么牌子的手机？',
  ])('is not taken: %s', (text) => {
    expect(findings(text)).toEqual([])
  })

  test.each([
    ['Could you be running a temperature?', 'fever'],
    ['When you get the headaches, do you throw up?', 'vomiting'],
    ['夜里咳得厉害吗？', 'cough-timing'],
  ])('is taken with enough of it: %s', (text, finding) => {
    expect(findings(text)).toContain(finding)
  })
})

describe('topics beyond findings', () => {
  test.each([
    ['If you close one eye, is it single again?', 'marital-status'],
    ['翻身、低头的时候会不会突然转？', 'development'],
    ['When was the last time you had a review with our nurse?', 'medicine-dose'],
    ['What were you doing out in Vietnam?', 'began'],
    ['药叫什么？叫什么名字？', 'name'],
  ])('are not read out of one word: %s', (text, topic) => {
    expect(understand(knowledge, text).asides).not.toContain(topic)
  })

  test('are still named by their own', () => {
    expect(understand(knowledge, 'Are you single or married?').asides).toContain('marital-status')
    expect(understand(knowledge, '宝宝会翻身了吗？').asides).toContain('development')
    expect(understand(knowledge, '月经什么时候来的？').asides).toContain('periods')
    expect(
      understand(knowledge, "So you're still able to drink quite a bit, yeah?").asides,
    ).toEqual(['appetite-general'])
  })
})

describe('the part of the body', () => {
  test('of a list is that of its members', () => {
    expect(findings('Ears: pain, discharge, hearing?')).not.toContain('vaginal-discharge')
    expect(findings('眼睛红不红，疼不疼，分泌物多不多？')).toContain('eye-discharge')
    expect(findings('小便频不频、有没有血？')).toEqual(['frequent-urination', 'blood-in-urine'])
    expect(findings('眼睛磨、痒、有眼屎，占哪样？')).toContain('eye-itch')
  })

  test('is told from another', () => {
    expect(isElsewhere(knowledge, 'vaginal-discharge', '耳朵流水吗')).toBe(true)
    expect(isElsewhere(knowledge, 'diarrhoea', '拉肚子吗')).toBe(false)
    expect(isElsewhere(knowledge, 'skin-rash', 'a rash on the legs')).toBe(false)
    expect(isElsewhere(knowledge, 'skin-rash', 'spots in the throat')).toBe(true)
  })

  test('is no part of another word', () => {
    expect(isInsideWord('舌头疼不疼', 1)).toBe(true)
    expect(isInsideWord('早上头疼吗', 2)).toBe(false)
    expect(findings('舌头疼不疼？')).not.toContain('headache')
  })

  test('is not made up for a detail of nothing', () => {
    const asked = understand(
      knowledge,
      'If I was to ask you on a scale of one to ten, ten being the worst pain ever, how bad is this pain?',
    )
    expect(asked).toMatchObject({ kind: 'attribute', topics: [], loose: ['severity'] })
    expect(findings('That cough of yours, for how long have you had it?')).toEqual([
      'cough-duration',
    ])
  })
})

describe('other people', () => {
  test.each([
    ['邻居是不是都在监视你？', 'mind-watched'],
    ['小朋友嘴唇有没有干裂？', 'child-cracked-lips'],
    ['Is anyone else under your roof scratching too?', 'itch-household'],
    ['身边有没有也咳嗽发烧的人？', 'sick-contact'],
    ['Any diabetics in your clan?', 'family-sugar'],
    ['你们家老的有没有糖尿病？', 'family-sugar'],
  ])('%s', (text, finding) => {
    expect(findings(text)).toEqual([finding])
  })
})

describe('words that ask nothing', () => {
  test.each([
    "And when you come in, we'll check your blood pressure as well.",
    'Or I can prescribe you something stronger, like naproxen, which can be helpful.',
    'Yellow, OK. I will have to check that one.',
  ])('%s', (text) => {
    expect(findings(text)).toEqual([])
  })

  test('all the time is no time of the day', () => {
    expect(findings('Feeling tired all the time?')).toEqual(['fatigue'])
  })
})
