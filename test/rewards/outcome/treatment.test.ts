import { describe, expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { namedReward } from '../../../src/rewards/named.js'
import { actionBankOf, actionWeight, treatment } from '../../../src/rewards/outcome/treatment.js'
import { noContraindicated } from '../../../src/rewards/safety/safety.js'
import { truthOf } from '../../fixtures/reward-episodes.js'
import { givingUp, stating, total } from '../../fixtures/stating.js'

const text = (en: string, zh: string) => ({ en, zh })
const bank = {
  actions: new Map([
    ['rest', text('Rest and drink plenty of fluids.', '多休息，多喝水。')],
    ['blocker', text('Give an acid blocker.', '使用抑酸药。')],
    ['iron', text('Take iron tablets.', '口服铁剂。')],
    ['sedative', text('Give a sedative.', '使用镇静药。')],
    ['home', text('Send the patient home.', '让患者自行回家。')],
  ]),
  shares: new Map([
    ['rest', 0.6],
    ['blocker', 0.01],
    ['iron', Math.sqrt(0.15 * 0.01)],
    ['sedative', 0.002],
  ]),
}
const none = { actions: new Map(), shares: new Map() }
const action = (id: string, polarity = 'recommend', weight = 1) => ({
  id,
  text: bank.actions.get(id) ?? text(`Apply the ${id}.`, `使用${id}。`),
  polarity,
  weight,
})
const truth = truthOf({
  gold: {
    actions: [action('rest'), action('blocker'), action('iron'), action('home', 'contraindicated')],
  },
})
const reward = treatment({ bank })
const advice = (recommendation: string, by = reward, of = truth) =>
  total(by, stating('flu', { recommendation }), of)

test('how telling an action is falls with how often it is the right one', () => {
  expect(actionWeight(bank, 'rest')).toBe(0)
  expect(actionWeight(bank, 'blocker')).toBe(1)
  expect(actionWeight(bank, 'iron')).toBeCloseTo(0.5, 12)
  expect(actionWeight(bank, 'home')).toBe(1)
  expect(actionWeight(bank, 'unheard of')).toBe(1)
})

describe('F1 over actions', () => {
  test.each<[string, number, string]>([
    ['all of it', 1, 'Give an acid blocker. Take iron tablets.'],
    ['in Chinese', 1, '使用抑酸药。口服铁剂。'],
    ['generic advice beside it', 1, '多休息，多喝水。使用抑酸药。口服铁剂。'],
    // 2·1 / (1 + 1.5), 2·½ / (½ + 1.5)
    ['the more telling half', 2 / 2.5, 'Give an acid blocker.'],
    ['the less telling half', 1 / 2, 'Take iron tablets.'],
    // 2·1.5 / (1.5 + 1 + 1.5)
    [
      'and something else of the bank',
      3 / 4,
      'Give an acid blocker. Take iron tablets. Give a sedative.',
    ],
    ['and harm', 3 / 4, 'Give an acid blocker. Take iron tablets. Send the patient home.'],
    ['but not home', 1, 'Give an acid blocker. Take iron tablets. Do not send the patient home.'],
    ['generic advice alone', 0, 'Rest and drink plenty of fluids.'],
    ['what is denied', 0, 'Do not give an acid blocker.'],
    ['said twice', 2 / 2.5, 'Give an acid blocker. Give an acid blocker.'],
    ['nothing', 0, ''],
    ['anything', 0, 'Follow the usual guideline and be well.'],
  ])('%s: %f', async (_, value, recommendation) => {
    expect(await advice(recommendation)).toBeCloseTo(value, 12)
  })

  test('no recommendation, and no diagnosis, earn nothing', async () => {
    expect(await total(reward, stating('flu'), truth)).toBe(0)
    expect(await total(reward, givingUp, truth)).toBe(0)
  })

  test('a case weighs its actions itself, and may have some that the bank does not know', async () => {
    const own = truthOf({
      gold: { actions: [action('blocker'), action('splint', 'recommend', 3)] },
    })
    expect(await advice('Apply the splint.', reward, own)).toBeCloseTo(6 / 7, 12)
    expect(await advice('使用splint。', reward, own)).toBeCloseTo(6 / 7, 12)
  })

  test('does not apply where the case recommends nothing that weighs anything', async () => {
    for (const actions of [[], [action('rest')], [action('blocker', 'recommend', -1)]])
      expect(
        await advice('Give an acid blocker.', reward, truthOf({ gold: { actions } })),
      ).toBeNull()
  })

  test('without a bank every action weighs 1, which is why there is one by default', async () => {
    const advised = 'Rest and drink plenty of fluids.'
    expect(await advice(advised, treatment({ bank: none }))).toBe(0.5)
    const rest = { ...action('rest'), id: 'rest-and-fluids' }
    const own = truthOf({ gold: { actions: [rest, action('blocker')] } })
    expect(await advice(advised, treatment({ bank: none }), own)).toBeCloseTo(2 / 3, 12)
    expect(await advice(advised, treatment(), own)).toBe(0)
  })
})

describe('the gate against harm', () => {
  const gate = noContraindicated({ bank })

  test.each<[number, string]>([
    [0, 'Send the patient home.'],
    [0, '抑酸药。让患者自行回家'],
    [1, 'Do not send the patient home.'],
    [1, 'Give a sedative.'],
    [1, ''],
  ])('%i for %s', async (value, recommendation) => {
    expect(await advice(recommendation, gate)).toBe(value)
  })

  test('passes where nothing is contraindicated or nothing was said', async () => {
    expect(await advice('Send the patient home.', gate, truthOf())).toBe(1)
    expect(await total(gate, givingUp, truth)).toBe(1)
  })
})

test('over generated cases the right advice earns all, and constant advice next to nothing', async () => {
  const knowledge = loadKnowledge()
  const by = { treatment: namedReward('treatment', { knowledge }), safe: noContraindicated() }
  const cases = Array.from({ length: 150 }, (_, n) => graderView(generateCase(knowledge, { n })))
  const say = (ids: Iterable<string>, language: 'zh' | 'en' = 'en') =>
    [...ids].map((id) => knowledge.actions.get(id)?.[language]).join('\n')
  const mean = async (
    which: keyof typeof by,
    adviceOn: (of: (typeof cases)[number]) => string,
  ): Promise<number> => {
    const values = await Promise.all(
      cases.map((of) => total(by[which], stating('x', { recommendation: adviceOn(of) }), of)),
    )
    const judged = values.filter((value) => value !== null)
    expect(judged.length).toBeGreaterThan(0.9 * cases.length)
    return judged.reduce((sum, value) => sum + value, 0) / judged.length
  }
  const right =
    (language: 'zh' | 'en') =>
    ({ gold }: (typeof cases)[number]) =>
      say(
        gold.actions.filter(({ polarity }) => polarity === 'recommend').map(({ id }) => id),
        language,
      )
  const { shares } = actionBankOf(knowledge)
  const usual = [...shares].sort((a, b) => b[1] - a[1]).map(([id]) => id)

  for (const language of ['zh', 'en'] as const) {
    expect(await mean('treatment', right(language))).toBeCloseTo(1, 12)
    expect(await mean('safe', right(language))).toBe(1)
  }
  for (const most of [1, 3, 6, 12])
    expect(await mean('treatment', () => say(usual.slice(0, most)))).toBeLessThan(0.15)
  expect(await mean('treatment', () => say(knowledge.actions.keys()))).toBeLessThan(0.05)
  expect(await mean('safe', () => say(knowledge.actions.keys()))).toBe(0)
})
