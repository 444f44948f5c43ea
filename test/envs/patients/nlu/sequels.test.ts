import { describe, expect, test } from 'vitest'
import { type PatientView, patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, Reply } from '../../../../src/patient.js'
import type { Language } from '../../../../src/turn.js'
import { asking } from '../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })

/** The first generated patient who fits. */
function patientWho(fits: (view: PatientView) => boolean): PatientView {
  for (let n = 0; n < 600; n++) {
    const view = patientView(generateCase(knowledge, { tier: 'standard', seed: 3, n }))
    if (fits(view)) return { ...view, noise: { forget: 0, deny: 0, overReport: 0 } }
  }
  throw new Error('Expected a patient who fits, got none')
}

const says =
  (slot: string, words: RegExp) =>
  ({ biography }: PatientView): boolean =>
    words.test(biography?.[slot]?.en ?? '')
const has =
  (finding: string) =>
  ({ findings, demographics }: PatientView): boolean =>
    findings.get(finding)?.state === 'present' && demographics.speaker === 'self'

/** The replies to questions one after the other. */
function converse(view: PatientView, texts: readonly string[], language: Language = 'en') {
  const dialogue: Exchange[] = []
  for (const utterance of texts) {
    const reply: Reply = patient(utterance, asking(view, { dialogue: [...dialogue], language }))
    dialogue.push({ utterance, reply })
  }
  return dialogue.map(({ reply }) => reply)
}

const teacher = patientWho(says('job', /^I'm a teacher/))
const father = patientWho(says('children', /a boy at school/))
const childless = patientWho(says('children', /^No, no children/))
const withDog = patientWho(says('pets', /a dog/))
const smoker = patientWho(has('smoking'))
const fainted = patientWho(has('fainting'))

describe('a question after a part of the patient’s life goes on about it', () => {
  test.each([
    ['years in a job', teacher, 'job-years', ['What do you do for a living?', 'How long for?']],
    [
      'more of a job',
      teacher,
      'job-view',
      ["What's your job?", 'How long for?', 'Do you like it?'],
    ],
    ['ages', father, 'children-ages', ['Do you have children?', 'How old is he?']],
    ['a name', withDog, 'pet-name', ['Do you have any pets?', "What's its name?"]],
  ])('%s', (_, view, slot, texts) => {
    expect(converse(view, ['What brings you in?', ...texts]).at(-1)?.text).toBe(
      view.biography?.[slot]?.en,
    )
  })

  test.each([
    ['years in a job', teacher, 'job-years', ['您做什么工作？', '几年了？']],
    ['ages', father, 'children-ages', ['您有孩子吗？', '多大了？']],
  ])('in Chinese: %s', (_, view, slot, texts) => {
    expect(converse(view, ['您怎么了？', ...texts], 'zh').at(-1)?.text).toBe(
      view.biography?.[slot]?.zh,
    )
  })

  test('and says no again where there is nothing to go on about', () => {
    const replies = converse(childless, ['Do you have any children?', 'How old are they?'])
    expect(replies[1]?.text).toBe(childless.biography?.children?.en)
  })

  test('but the illness is asked for by its own words', () => {
    for (const text of ['How long has this been going on?', 'When did it start?']) {
      const [, , reply] = converse(teacher, ['What brings you in?', 'What do you do?', text])
      expect(reply?.asked).toContain('illness-duration')
    }
  })
})

describe('a question after a finding', () => {
  test.each([
    ['a habit', smoker, 'smoking', 'smoking-stop', ['Do you smoke?', 'Ever tried to stop?']],
    ['a habit', smoker, 'smoking', 'smoking-more', ['Do you smoke?', 'How many?']],
    [
      'an event',
      fainted,
      'fainting',
      'event-witness',
      ['Did you faint?', 'Was anyone with you at the time?'],
    ],
    [
      'an event',
      fainted,
      'fainting',
      'event-witness',
      ['Did you faint?', 'Did you hurt yourself when you fell?', 'Who saw it?'],
    ],
  ])('goes on about %s', (_, view, finding, slot, texts) => {
    const reply = converse(view, texts).at(-1)
    expect(reply?.text).toBe(view.biography?.[slot]?.en)
    expect(reply?.asked).toEqual([finding])
    expect(reply?.told).toEqual([])
  })

  test('asks who came along where there was no such event', () => {
    const view = patientWho((one) => says('companion', /^I came/)(one) && !has('fainting')(one))
    const replies = converse(view, ['Have you fainted?', 'Is anyone with you today?'])
    expect(replies[1]?.text).toBe(view.biography?.companion?.en)
  })
})
