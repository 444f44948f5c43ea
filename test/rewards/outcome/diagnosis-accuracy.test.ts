import { describe, expect, test } from 'vitest'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import { fc } from '../../fixtures/property.js'
import { ask, episodeOf, influenza, saying, truthOf } from '../../fixtures/reward-episodes.js'

const reward = diagnosisAccuracy()
const truth = truthOf()
const judge = async (diagnosis: string, gold: object = {}) =>
  (await reward(saying(diagnosis), truthOf({ gold }))).total

const gold = (name: { zh?: string; en?: string }, codes: readonly string[] = []) => ({
  dx: [
    {
      id: 'dx',
      name,
      aliases: [],
      codes: codes.map((code) => ({ system: 'icd10', code })),
      role: 'primary',
    },
  ],
})

describe('the gold diagnosis is named by', () => {
  test.each([
    'Influenza',
    'INFLUENZA.',
    '  the  flu ',
    'Ｉｎｆｌｕｅｎｚａ',
    '**Influenza**',
    'Influenza (seasonal)',
    'influenza [J11.1]',
    'J11.1 Influenza',
    'Diagnosis: influenza',
    'Primary diagnosis: influenza',
    'probably influenza',
    'Likely influenza',
    'Suspected influenza',
    'influenza is most likely',
    'It is most likely influenza.',
    'You may have the flu.',
    'Based on your symptoms, you probably have influenza.',
    'Based on your symptoms you may have influenza',
    'Given the fever and cough, I think this is influenza.',
    'The patient is suffering from influenza',
    'It appears that you have influenza, likely caused by a virus or by a contact at work.',
    'Influenza, due to a virus',
    'You are currently experiencing influenza, which is likely causing your fever.',
    'Your grandmother has caught the flu, aggravated by the cold weather',
    'You have influenza. Further tests will confirm it.',
    'influenza likely caused by a virus',
    'Influenza based on the fever',
    'Influenza; please rest and drink.',
    'influenza, unspecified',
    'influenza',
    'grippe',
    '流感',
    '流行性感冒。',
    '考虑为流感',
    '考虑流感',
    '诊断：流感',
    '初步诊断为流行性感冒',
    '您可能得了流感',
    '可能是流感',
    '疑似流感',
    '流感可能性大',
    '根据您的症状，考虑为流感。',
    '根据您的症状考虑可能是流感，由病毒感染引起',
    '流感，建议多休息',
    '流感（季节性）',
    'J11.1',
    'j11.1',
    'ICD-10: J11.1',
  ])('%s', async (diagnosis) => {
    expect(await judge(diagnosis)).toBe(1)
  })
})

describe('the gold diagnosis is not named by', () => {
  test.each([
    '',
    '???',
    'pneumonia',
    'I am not sure what you have.',
    'influenza or pneumonia',
    'influenza and pneumonia',
    'influenza, pneumonia',
    'influenza/cold',
    'influenza + cold',
    'influenza; cold; pneumonia',
    'Influenza. Pneumonia.',
    'influenza vs pneumonia',
    'influenza (or pneumonia)',
    'pneumonia (or influenza)',
    'pneumonia or influenza',
    'Differential diagnosis: influenza',
    'one of: influenza, cold',
    'flu-like illness',
    'influenza vaccination',
    'parainfluenza',
    'not influenza',
    'This is not influenza',
    'You do not have influenza',
    "You don't have influenza",
    "It isn't influenza",
    'no influenza',
    'rule out influenza',
    'influenza ruled out',
    'influenza, which was excluded',
    'influenza is unlikely',
    'unlikely influenza',
    'influenza (ruled out)',
    'pneumonia rather than influenza',
    'influenza, which may be pneumonia',
    'influenza, possibly with pneumonia',
    'influenza along with pneumonia',
    'pneumonia likely caused by influenza',
    '流感，肺炎',
    '流感、肺炎',
    '流感或肺炎',
    '流感和感冒',
    '流感/感冒',
    '流感合并肺炎',
    '肺炎，由流感引起',
    '不是流感',
    '不考虑流感',
    '不可能是流感',
    '排除流感',
    '流感已排除',
    '流感（可排除）',
    '并非流感',
    '没有流感',
    '流感可能性小',
    '流感待查',
    'J11.1, J18.9',
    'J11',
    'J11.10',
    'J10.1',
    'incorrect',
  ])('%s', async (diagnosis) => {
    expect(await judge(diagnosis)).toBe(0)
  })
})

describe('words that matter clinically stay', () => {
  test('acute is not chronic, and neither is plain', async () => {
    const chronic = gold({ en: 'Chronic gastritis', zh: '慢性胃炎' })
    expect(await judge('chronic gastritis', chronic)).toBe(1)
    expect(await judge('慢性胃炎', chronic)).toBe(1)
    for (const other of ['acute gastritis', 'gastritis', '急性胃炎', '胃炎'])
      expect(await judge(other, chronic)).toBe(0)
  })

  test('hepatitis A is not hepatitis', async () => {
    expect(await judge('hepatitis', gold({ en: 'Hepatitis A' }))).toBe(0)
    expect(await judge('a hepatitis', gold({ en: 'Hepatitis A' }))).toBe(0)
  })

  test('a cause that is part of the name is not an explanation', async () => {
    const iron = gold({ en: 'Anaemia due to iron deficiency' })
    expect(await judge('anemia due to iron deficiency', iron)).toBe(1)
    expect(await judge('anaemia due to chronic disease', iron)).toBe(0)
    expect(await judge('anaemia', iron)).toBe(0)
  })

  test('brackets may be missing on one side, not different on both', async () => {
    const two = gold({ en: 'Diabetes mellitus (type 2)' })
    expect(await judge('diabetes mellitus', two)).toBe(1)
    expect(await judge('diabetes mellitus type 2', two)).toBe(1)
    expect(await judge('diabetes mellitus (type 1)', two)).toBe(0)
  })

  test('a name that begins with a lead-in word is still itself', async () => {
    expect(await judge('有机磷中毒', gold({ zh: '有机磷中毒' }))).toBe(1)
    expect(await judge('Primary hypertension', gold({ en: 'Primary hypertension' }))).toBe(1)
    expect(await judge('hypertension', gold({ en: 'Primary hypertension' }))).toBe(0)
  })
})

describe('spelling', () => {
  test.each([
    ['gastro-esophageal reflux', 'Gastrooesophageal reflux'],
    ['diarrhea', 'Diarrhoea'],
    ['Crohn disease', 'Crohn’s disease'],
    ['Meniere disease', 'Ménière’s disease'],
    ['community acquired pneumonia', 'Community-acquired pneumonia'],
    ['brain tumor', 'Brain tumour'],
  ])('%s is %s', async (diagnosis, name) => {
    expect(await judge(diagnosis, gold({ en: name }))).toBe(1)
  })
})

test('a recorded sentence as the gold name is met by itself and by the disease in it', async () => {
  const recorded = gold({
    en: 'Based on your symptoms, it appears you may have gastritis, likely caused by stress.',
  })
  expect(await judge('gastritis', recorded)).toBe(1)
  expect(
    await judge(
      'Based on your symptoms, it appears you may have gastritis, likely caused by stress.',
      recorded,
    ),
  ).toBe(1)
  expect(await judge('stress', recorded)).toBe(0)
})

test('a category coded as a whole is named by any of its codes, a full code only by itself', async () => {
  expect(await judge('J18.1', gold({ en: 'Pneumonia' }, ['J18']))).toBe(1)
  expect(await judge('J18', gold({ en: 'Pneumonia' }, ['J18']))).toBe(1)
  expect(await judge('J18', gold({ en: 'Pneumonia' }, ['J18.9']))).toBe(0)
})

test('only the primary diagnosis counts, not a comorbid or an acceptable one', async () => {
  const cold = { ...influenza, id: 'cold', name: { en: 'Common cold' }, aliases: [], codes: [] }
  const more = {
    dx: [{ ...cold, role: 'comorbid' }, influenza],
    acceptable: [{ ...cold, id: 'sinusitis', name: { en: 'Sinusitis' }, credit: 0.9 }],
  }
  expect(await judge('Influenza', more)).toBe(1)
  expect(await judge('Common cold', more)).toBe(0)
  expect(await judge('Sinusitis', more)).toBe(0)
})

test('no diagnosis is 0, not a missing part', async () => {
  expect((await reward(episodeOf([ask()]), truth)).total).toBe(0)
})

test('nothing added after the name with a list word or before it with a denial keeps the match', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(' or ', ' and ', ', ', '/', '、', '，', ' vs ', '或', '；', '\n'),
      fc.constantFrom('pneumonia', 'cold', '肺炎', 'covid-19', 'not a cold'),
      fc.constantFrom('', 'You probably have ', '考虑为', 'Based on your symptoms, you have '),
      async (separator, other, lead) => {
        expect(await judge(`${lead}influenza${separator}${other}`)).toBe(0)
        expect(await judge(`${lead}${other}${separator}influenza`)).toBe(0)
      },
    ),
  ))

test('any text at all is read in bounded time and judged', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 3000 }), async (text) => {
      expect([0, 1]).toContain(await judge(text))
    }),
  ))
