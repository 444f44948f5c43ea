/** What is said around a question, corrections, sums, and facts apart, put to patients of the shipped base. */
import { describe, expect, test } from 'vitest'
import { patientView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { Reply } from '../../../src/patient.js'
import type { Language } from '../../../src/turn.js'
import { asking, interview } from '../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const sure = { forget: 0, deny: 0, overReport: 0 }
const patient = rulePatientAtOnce({ knowledge, persona: {} })

/** Somebody of the generator with findings as wanted. */
function somebody(
  states: Readonly<Record<string, string>>,
  fits: (age: number, sex: string, speaker: string) => boolean = () => true,
) {
  for (let n = 0; n < 1500; n++) {
    const truth = generateCase(knowledge, { tier: 'standard', seed: 23, n })
    const view = { ...patientView(truth), noise: sure }
    const { age, sex, speaker } = view.demographics
    const has = Object.entries(states).every(
      ([id, state]) => view.findings.get(id)?.state === state,
    )
    if (has && fits(age?.unit === 'year' ? age.v : 0, sex ?? '', speaker ?? 'self')) return view
  }
  throw new Error('Expected somebody to fit, got nobody')
}
const talk = (
  view: ReturnType<typeof somebody>,
  language: Language,
  questions: readonly string[],
): readonly Reply[] =>
  interview(patient, questions, asking(view, { language, seed: 7 })).map(({ reply }) => reply)
const last = (...given: Parameters<typeof talk>): Reply => talk(...given).at(-1)!
const opening = { en: "What's the trouble?", zh: '哪儿不舒服？' } as const

describe('when it began', () => {
  const view = somebody({ cough: 'present', fever: 'present' })

  test.each([
    ['en', 'And since when, my friend?'],
    ['en', 'Could you ask her when the fever began, please?'],
    ['en', 'My question was when the sweats appeared.'],
    ['en', 'Hours, or more like weeks?'],
    ['en', 'Was that two days, a week, a fortnight?'],
    ['zh', '劳驾您问问他，打什么时候起的？'],
    ['zh', '我想问的是烧了几天了？'],
    ['zh', '是几天，还是有几个礼拜了？'],
  ] as const)('%s: %s', (language, question) => {
    const { asked, understood } = last(view, language, [opening[language], question])
    expect(
      asked.some((id) => /duration/.test(id)),
      asked.join(),
    ).toBe(true)
    expect(understood).toBe('answered')
  })
})

describe('a correction asks of its word what was asked before', () => {
  const view = somebody({ cough: 'present', fever: 'present' })

  test.each([
    ['en', 'How long have you had the fever?', 'Sorry, the cough I mean, not the fever.', 'cough'],
    ['en', 'How long has the cough been there?', "I'm talking about the fever.", 'illness'],
    ['zh', '烧了几天了？', '不是，我指的是咳嗽。', 'cough'],
    ['zh', '咳嗽多久了？', '哦，我的意思是发烧。', 'illness'],
  ] as const)('%s: %s %s', (language, before, question, of) => {
    const { asked } = last(view, language, [opening[language], before, question])
    expect(
      asked.some((id) => /duration/.test(id)),
      asked.join(),
    ).toBe(true)
    expect(
      asked.some((id) => id === of || id.startsWith(of)),
      asked.join(),
    ).toBe(true)
  })
})

describe('what they have said', () => {
  const view = somebody({ fatigue: 'present' }, (age, _, speaker) => age > 17 && speaker === 'self')

  test.each([
    ['en', 'Have you felt tired?', 'In what way tired, what do you mean?'],
    ['zh', '您觉得累吗？', '您说的累，指的是什么？'],
  ] as const)('is put in other words: %s %s', (language, before, question) => {
    const [first, second] = talk(view, language, [before, question])
    expect(second!.told).toEqual([{ finding: 'fatigue', state: 'present' }])
    expect(second!.text).not.toContain(first!.text.slice(5))
  })

  test.each([
    ['en', 'What did the penicillin do to you - swelling, a rash, a fever?'],
    ['zh', '青霉素过敏是什么反应，发烧还是起疹子？'],
  ] as const)(
    'of a medicine is the reaction then, not what is there now: %s %s',
    (language, question) => {
      const allergic = somebody({ 'drug-allergy': 'present' })
      const { told, asked } = last(allergic, language, [opening[language], question])
      expect(asked).toContain('drug-allergy')
      expect(told.filter(({ finding }) => finding !== 'drug-allergy')).toEqual([])
    },
  )
})

describe('a sum is heard', () => {
  const view = somebody({ cough: 'present', fever: 'present', 'chest-pain': 'absent' })
  const told = {
    en: ['Do you cough?', 'Any fever?', 'Any pain in the chest?'],
    zh: ['咳嗽吗？', '发烧吗？', '胸口疼吗？'],
  } as const

  test.each([
    ['en', 'So a cough and a fever, no chest pain. A fair picture?'],
    ['en', "Stop me if I'm wrong: a cough, a fever, and no pain in the chest."],
    ['zh', '我给您复述一遍，您听听有没有错：咳嗽，发烧，胸口不疼。'],
    ['zh', '咳嗽，发烧，胸口不疼，该没落下啥吧？'],
  ] as const)('%s: %s', (language, question) => {
    const reply = last(view, language, [...told[language], question])
    expect(reply.told.map(({ finding }) => finding)).toEqual(
      expect.arrayContaining(['cough', 'fever']),
    )
    expect(reply.text).not.toMatch(/not|不对|不是|也不全/i)
  })
})

describe('agreement of somebody else', () => {
  const view = somebody({ 'abdominal-pain': 'present' })

  test.each([
    'We should take some blood and do a scan. Would she be all right with that?',
    'I want to give him an injection. Do they both agree?',
    "I'd like you to see our therapist. Would you be up for trying that?",
  ])('%s', (question) => {
    expect(last(view, 'en', [opening.en, question]).understood).toBe('courtesy')
  })
})

describe('periods are several facts', () => {
  const view = somebody(
    { 'missed-period': 'absent', 'heavy-periods': 'absent' },
    (age, sex) => sex === 'F' && age > 17 && age < 45,
  )

  test.each([
    [
      'en',
      [
        'Are they regular, your periods?',
        'How many days do you bleed?',
        'How often do they come?',
        'And the last one?',
      ],
    ],
    ['zh', ['例假准不准？', '例假来几天？', '隔多久来一回月经？', '最近一次例假几号来的？']],
  ] as const)('in %s', (language, questions) => {
    const said = talk(view, language, questions).map(({ text }) => text)
    expect(new Set(said).size).toBe(said.length)
    expect(said[1]).toMatch(/five|五天/)
    expect(said[2]).toMatch(/twenty-eight|thirty|二十八|三十/)
    expect(said[3]).toMatch(/last week|two weeks ago|礼拜/i)
  })
})

describe('a carer of a grown patient', () => {
  const view = somebody(
    {},
    (age, sex, speaker) => speaker === 'caregiver' && age > 60 && sex === 'M',
  )

  test('means the parents of the patient, and their own mother is his wife', () => {
    const [parents, wife] = talk(view, 'zh', ['父母都还在吗？', '您母亲身体好吗？'])
    expect(parents!.text).toMatch(/^他(?:父母|父亲|母亲)/)
    expect(wife!.text).not.toMatch(/过世|遗传|家里/)
  })
})
