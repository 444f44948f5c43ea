/** Utterances of several questions, sums-up and plans, put to patients of the shipped base. */
import { describe, expect, test } from 'vitest'
import { patientView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { isGrave } from '../../../src/envs/patients/nlg/grave.js'
import { stockSentences } from '../../../src/envs/patients/nlg/stock-sentences.js'
import { rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { Persona } from '../../../src/persona.js'
import type { Language } from '../../../src/turn.js'
import { asking, interview } from '../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const sure = { forget: 0, deny: 0, overReport: 0 }
const cases = Array.from({ length: 150 }, (_, n) =>
  generateCase(knowledge, { tier: 'standard', seed: 7, n }),
)
const having = (
  states: Readonly<Record<string, 'present' | 'absent'>>,
  speaker = 'self',
): (typeof cases)[number] =>
  cases.find(
    ({ demographics, findings }) =>
      demographics.speaker === speaker &&
      Object.entries(states).every(([id, state]) =>
        findings.some((one) => one.id === id && one.state === state),
      ),
  )!
const talk = (
  truth: (typeof cases)[number],
  turns: readonly string[],
  { language = 'en', persona = {} }: { language?: Language; persona?: Persona } = {},
) =>
  interview(
    rulePatientAtOnce({ knowledge, persona }),
    turns,
    asking({ ...patientView(truth), noise: sure }, { language, seed: 3 }),
  ).map(({ reply }) => reply)

const coughing = having({ cough: 'present', fever: 'absent', vomiting: 'absent' })
const complaint = patientView(coughing).complaint.text

describe('of several questions', () => {
  test.each([
    ['en', "How old are you? And what's brought you in?"],
    ['en', 'Can I check your name first? And then what is the problem?'],
    ['zh', '怎么称呼您？今天是什么不舒服？'],
  ] as const)('in %s the one for the complaint is heard: %s', (language, turn) => {
    const { text } = talk(coughing, [turn], { language })[0]!
    expect(text).toContain(complaint[language]!)
    expect(text.length).toBeGreaterThan(complaint[language]!.length)
  })

  test('a question for what was just told is read in its light', () => {
    const [job] = talk(coughing, ['What do you do for a living? Do you smoke? Any fever?'])
    expect(job!.told.map(({ finding }) => finding)).toEqual(['smoking', 'fever'])
    expect(job!.text.split(/[.?!] /).length).toBeGreaterThanOrEqual(3)
  })

  test('the rest is asked for from the fifth on, and from the fourth on by an impatient patient', () => {
    const asks = (turn: string, persona: Persona = {}) => {
      const { text } = talk(coughing, [turn], { persona })[0]!
      return stockSentences['one-at-a-time'].en.some((plea) => text.includes(plea))
    }
    const three = 'Any fever? Any vomiting? Do you smoke?'
    expect([asks(three), asks(three, { impatient: 3 })]).toEqual([false, false])
    const four = 'Any fever, vomiting, cough or chest pain?'
    expect([asks(four), asks(four, { impatient: 3 })]).toEqual([false, true])
  })
})

describe('a summing-up', () => {
  const right = {
    en: [
      'So, a cough and no fever. Is that about right?',
      'Let me sum up: you have a cough, you have no fever. Have I got that right?',
      'Right: a cough, no vomiting, no fever. Correct?',
    ],
    zh: ['我小结一下：咳嗽，没发烧，没吐，对不对？', '咳嗽，没发烧，没有吐。我没记错吧？'],
  } as const
  const wrong = {
    en: [
      'So, a cough and a fever. Is that about right?',
      'You cough, you vomit, no fever. Did I get that right?',
    ],
    zh: ['我归纳一下：咳嗽，发烧，没吐，对吧？'],
  } as const
  const asked = {
    en: ['Any cough?', 'Any fever?', 'Any vomiting?'],
    zh: ['咳嗽吗？', '发烧吗？', '吐过吗？'],
  }

  test.each(['en', 'zh'] as const)(
    'that is right is confirmed and adds nothing, in %s',
    (language) => {
      for (const turn of right[language]) {
        const told = talk(coughing, [...asked[language], turn], { language })
        expect(told.at(-1)!.text, turn).not.toMatch(/Not |不全|不完全|出入|No,/)
        const before = new Set(
          told.slice(0, -1).flatMap((one) => one.told.map(({ finding }) => finding)),
        )
        for (const { finding } of told.at(-1)!.told) expect(before, turn).toContain(finding)
      }
    },
  )

  test.each(['en', 'zh'] as const)('that is wrong is put right, in %s', (language) => {
    for (const turn of wrong[language]) {
      const reply = talk(coughing, [...asked[language], turn], { language }).at(-1)!
      expect(reply.text, turn).toMatch(/^(?:Not |Well, not|不全|也不完全|有点出入)/)
      expect(reply.told.some(({ state }) => state === 'absent')).toBe(true)
    }
  })

  test('of another duration than was told is put right', () => {
    const truth = cases.find(
      ({ findings, demographics }) =>
        demographics.speaker === 'self' &&
        findings.some(({ id, state }) => id === 'illness-duration' && state === 'weeks') &&
        findings.some(({ id, state }) => id === 'fever' && state === 'absent'),
    )!
    const say = (unit: string) =>
      talk(truth, [
        'How long have you been ill?',
        'Any fever?',
        `So it has been going on for some ${unit}, no fever. Have I got that right?`,
      ]).at(-1)!.text
    expect(say('weeks')).not.toMatch(/^(?:Not|Well, not)/)
    expect(say('months')).toMatch(/^(?:Not|Well, not).*week/)
  })

  test('that asks what is missing gets what an open question would, and the rest not twice', () => {
    const replies = talk(coughing, [
      'So you have a cough and no fever. Did I miss anything?',
      'Anything else?',
    ])
    const told = replies.flatMap((one) =>
      one.told.filter(({ state }) => state === 'present').map(({ finding }) => finding),
    )
    expect(new Set(told).size).toBe(told.length)
  })

  test('does not tell more of what was never asked than a question would', () => {
    const many =
      'So no fever, no cough, no vomiting, no diarrhoea, no headache, no chest pain, no rash, no sore throat. Is that right?'
    expect(talk(coughing, [many])[0]!.told.length).toBeLessThanOrEqual(4)
  })
})

describe('a plan', () => {
  test.each([
    ['en', "I'll examine your hands and take blood for your thyroid. Happy with that?"],
    ['en', "I'd like a urine sample from you. How do you feel about that?"],
    ['en', 'I am going to listen to your chest now. Okay?'],
    ['zh', '我待会儿按按肚子，再做个肛门指检，可能有点不舒服，可以吗？'],
    ['zh', '去抽个血查查血糖、甲功，结果出来我再跟您谈，好不？'],
  ] as const)(
    'is met with a yes, a worry or a question, and tells nothing, in %s: %s',
    (language, turn) => {
      const [reply] = talk(coughing, [turn], { language })
      expect(reply).toMatchObject({ understood: 'courtesy', told: [], asked: [] })
    },
  )

  test('for a child is answered for the child', () => {
    const child = having({}, 'caregiver')
    const [reply] = talk(child, ["I'm going to shine a light in her eyes. Will she let me?"])
    expect(reply!.text).toMatch(/\b(?:she|he|her|him|course)\b/i)
  })

  test('is no cloak for a question', () => {
    const [reply] = talk(coughing, ["I'll take some blood. Have you had a fever? Is that okay?"])
    expect(reply!.told).toContainEqual({ finding: 'fever', state: 'absent' })
  })
})

test('relatives and contacts are not the patient', () => {
  for (const turn of [
    'Anyone at school coughing?',
    'Is your husband coughing too?',
    'Any of your colleagues got a cough?',
  ])
    expect(talk(coughing, [turn])[0]!.asked, turn).toEqual(['sick-contact'])
  for (const turn of ['Does anyone in your family have a tremor?', '家里有没有人手抖？'])
    expect(talk(coughing, [turn])[0]!.told, turn).toEqual([])
})

test('no denial contradicts what the patient has', () => {
  let checked = 0
  for (const aside of knowledge.asides) {
    for (const id of aside.unless ?? []) {
      const finding = knowledge.finding.get(id)!
      const truth = cases.find(({ findings }) =>
        findings.some((one) => one.id === id && one.state === 'present'),
      )
      const question = aside.text.en[0]
      if (!truth || question === undefined || finding.stigma > 0) continue
      const [told, reply] = talk(truth, [finding.ask.en[0]!, question])
      if (!told!.told.some((one) => one.finding === id && one.state === 'present')) continue
      checked++
      const denied = aside.denied?.en
      if (denied !== undefined)
        expect(reply!.text, `${aside.id} ${id}`).not.toContain(`no ${denied}`)
    }
  }
  expect(checked).toBeGreaterThan(20)
})

describe('something grave', () => {
  const hurt = generateCase(knowledge, { tier: 'standard', seed: 11, n: 23 })
  const event = 'Did something upsetting happen to you - an accident, an attack?'

  test('is followed by no remark, and by no shrug where more of it is asked', () => {
    const [told, more] = talk(
      hurt,
      [event, "That's terrible. Who was it, if you don't mind me asking?"],
      {
        persona: { impatient: 3, anxious: 3 },
      },
    )
    expect(told!.told).toContainEqual({ finding: 'mind-frightening-event', state: 'present' })
    expect(isGrave(told!.text)).toBe(true)
    expect(told!.text.match(/[.?!]/g)).toHaveLength(1)
    expect(more!.text).toMatch(/upset|hard to talk|details|moment|knew/)
  })
})
