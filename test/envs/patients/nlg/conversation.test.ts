import { describe, expect, test } from 'vitest'
import { type Case, patientView } from '../../../../src/case.js'
import { caseSource } from '../../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, Reply } from '../../../../src/patient.js'
import type { Language } from '../../../../src/turn.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const source = caseSource(knowledge, { tier: 'easy' })
const cases = Array.from({ length: 400 }, (_, n) => source(n))
const adult = cases.find(({ demographics }) => demographics.speaker === 'self')!
const having = (complaint: string): Case =>
  cases.find(
    ({ chiefComplaint, demographics }) =>
      chiefComplaint.findings.includes(complaint) && demographics.speaker === 'self',
  )!

function talk(truth: Case, questions: readonly string[], language: Language = 'en'): Reply[] {
  const dialogue: Exchange[] = []
  const view = { ...patientView(truth), persona: {}, noise: { forget: 0, deny: 0, overReport: 0 } }
  for (const utterance of questions)
    dialogue.push({ utterance, reply: patient(utterance, { view, dialogue, seed: 3, language }) })
  return dialogue.map(({ reply }) => reply)
}
const say = (truth: Case, text: string, language: Language = 'en') =>
  talk(truth, [text], language)[0]!

describe('what no finding answers', () => {
  test('is denied by name where it is a symptom or an illness', () => {
    const reply = say(adult, 'Do you get nosebleeds?')
    expect(reply).toMatchObject({ understood: 'answered', asked: [], told: [] })
    expect(reply.text).toMatch(/nosebleeds/)
    expect(say(adult, '您流过鼻血吗？', 'zh').text).toContain('没流过鼻血')
  })

  test('is answered from the biography', () => {
    expect(say(adult, 'What do you do for a living?').text).toBe(adult.biography!.job!.en)
    expect(say(adult, '您是做什么工作的？', 'zh').text).toBe(adult.biography!.job!.zh)
  })

  test('is told for a child by who has brought it, in the third person', () => {
    const child = cases.find(
      ({ demographics: { age, speaker } }) =>
        age?.unit === 'year' && age.v >= 6 && age.v < 14 && speaker === 'caregiver',
    )!
    expect(say(child, 'Is she at school?').text).not.toMatch(/\bI\b/)
  })

  test('is denied in general where nothing is known of it, and never understood where it is no language', () => {
    expect(say(adult, 'Have you ever kept bees in the garden?').understood).toBe('unknown')
    expect(say(adult, 'Quux zyzzy?').understood).toBe('unclear')
  })

  test.each([
    ['Can you hear me OK?', /hear|clear/],
    ['Do you have any questions for me?', /\?$|No|Not/],
    ['Mm-hmm.', /^(?:Yes|Mm|Right|That's it, yes|Yeah)\.$/],
    [
      'So I would like to examine your tummy now, if that is OK.',
      /go ahead|please do|no problem|fine|by all means|whenever/i,
    ],
    ['I will send a prescription to the pharmacy for you.', /right|Okay|see|sense|fine/i],
    ['Bye bye.', /bye|Thank/i],
  ])('an act of conversation is answered as people do: %s', (text, answer) => {
    const reply = say(adult, text)
    expect(reply.understood).toBe('courtesy')
    expect(reply.text).toMatch(answer)
  })
})

describe('a follow-up', () => {
  test('about "the pain" is about the pain the patient came with, not what was volunteered', () => {
    const truth = having('headache')
    for (const [language, open, where] of [
      ['en', 'Anything else?', 'Where exactly is the pain?'],
      ['zh', '还有别的不舒服吗？', '是怎么个疼法？'],
    ] as const) {
      const [, reply] = talk(truth, [open, where], language)
      expect(reply!.asked.every((id) => id.startsWith('headache'))).toBe(true)
      expect(reply!.understood).toBe('answered')
    }
  })

  test('is about the last topic of the doctor that the patient has', () => {
    const truth = cases.find(
      ({ findings, chiefComplaint, demographics }) =>
        demographics.speaker === 'self' &&
        !chiefComplaint.findings.includes('fever') &&
        findings.some(({ id, state }) => id === 'fever' && state === 'present'),
    )!
    const [, reply] = talk(truth, ['Have you had a fever?', 'How did it come on, suddenly?'])
    expect(reply!.asked).toEqual(['fever-onset'])
  })

  test('about what is not modelled gets the same fact whenever it is asked', () => {
    const truth = having('palpitations')
    const constant = /most of the time|(?<!not )all the time/
    const said = talk(truth, [
      'Are they constant, or do they come and go?',
      'Do you smoke?',
      'Do they come and go?',
    ])
    expect(constant.test(said[0]!.text)).toBe(constant.test(said[2]!.text))
  })
})

describe('a recap', () => {
  test('is confirmed where it is right, and put right where it is not', () => {
    const truth = having('cough')
    const state = truth.findings.find(({ id }) => id === 'fever')!.state
    const [right, wrong] =
      state === 'absent'
        ? ['So no fever, right?', 'So you have a fever, right?']
        : ['So you have a fever, right?', 'So no fever, right?']
    expect(say(truth, right).text).toMatch(/right|that's it/i)
    expect(say(truth, wrong).text).toMatch(/^(?:Not quite|Well, not exactly|Not all of that)\./)
    expect(say(truth, wrong).told).toEqual([{ finding: 'fever', state }])
  })
})

test('the complaint is confirmed in any plain word for it', () => {
  for (const [complaint, words] of [
    ['skin-rash', ['Do you have a rash?', 'Have you got a rash anywhere?', 'Any rash?']],
    ['cough', ['Do you have a cough?', 'Are you coughing?']],
    ['headache', ['Do you have a headache?', 'Does your head hurt?']],
    ['chest-pain', ['Do you have chest pain?', 'Does your chest hurt?']],
    ['abdominal-pain', ['Is your tummy sore?', 'Do you have belly pain?']],
  ] as const)
    for (const text of words)
      expect(say(having(complaint), text).told, text).toContainEqual({
        finding: complaint,
        state: 'present',
      })
})

test('no two confessions of not understanding are the same in a consultation', () => {
  const said = talk(adult, ['Quux zyzzy?', 'Zib zab?', 'Florp?', 'Gnarl gnorl?', 'Blix?']).map(
    ({ text }) => text,
  )
  expect(new Set(said).size).toBe(said.length)
})

describe('a carer', () => {
  const carers = cases.filter(({ demographics }) => demographics.speaker === 'caregiver')
  const child = carers.find(({ demographics }) => demographics.relation?.en === 'mother')!

  test('says who they are', () => {
    expect(say(child, 'Are you her mum?').text).toMatch(/^I'm (?:his|her) mother\.$/)
    expect(say(child, '您是孩子的什么人？', 'zh').text).toBe('我是孩子妈妈。')
  })

  test('speaks of their own fears and hopes, not of the child’s', () => {
    for (const truth of carers.slice(0, 20))
      for (const text of ['What are your main concerns?', 'What were you hoping for today?'])
        expect(say(truth, text).text, text).not.toMatch(
          /\b(?:he|she) (?:worries|hopes|would|just)\b/i,
        )
  })
})

test('what age or sex rules out is answered as people do', () => {
  const man = cases.find(({ demographics: { sex, speaker } }) => sex === 'M' && speaker === 'self')!
  expect(say(man, 'Is your period late?').text).toMatch(/\bman\b/)
  const small = cases.find(
    ({ demographics: { age, speaker } }) =>
      speaker === 'caregiver' && (age?.unit === 'month' || (age?.v ?? 99) < 10),
  )!
  expect(say(small, 'Does she smoke?').text).toMatch(/young|age|child/)
  expect(say(small, '孩子抽烟吗？', 'zh').text).toMatch(/小|才/)
})

test('a terse patient gives the bare fact of their life', () => {
  const wordy = cases.find(
    ({ demographics, biography }) =>
      demographics.speaker === 'self' && biography!.job!.en!.includes(', '),
  )!
  const view = { ...patientView(wordy), persona: { terse: 3 } }
  const { text } = patient('What do you do for a living?', {
    ...{ view, dialogue: [], seed: 3, language: 'en' as const },
  })
  expect(wordy.biography!.job!.en!.startsWith(text.slice(0, -1))).toBe(true)
  expect(text).not.toContain(',')
})

test('an anxious patient has a question in the end, whatever the biography says', () => {
  const content = cases.find(
    ({ demographics, biography }) =>
      demographics.speaker === 'self' && biography!.question!.en!.startsWith('No'),
  )!
  const ask = (persona: object) =>
    patient('Do you have any questions for me?', {
      ...{ view: { ...patientView(content), persona }, dialogue: [] },
      ...{ seed: 3, language: 'en' as const },
    }).text
  expect(ask({})).toMatch(/^No/)
  expect(ask({ anxious: 3 })).toMatch(/\?$/)
})
