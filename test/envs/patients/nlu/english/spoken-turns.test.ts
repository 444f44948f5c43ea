/** What spoken English turns ask: of relatives, of treatment, of what changes a complaint, and of tests done before. */
import { describe, expect, test } from 'vitest'
import {
  introduces,
  leadsUp,
  seeksAgreement,
  whatChanges,
} from '../../../../../src/envs/patients/nlu/english/spoken-turns.js'
import { understand } from '../../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const findings = (text: string) => understand(knowledge, text).topics.map(({ finding }) => finding)
const asides = (text: string) => understand(knowledge, text).asides

describe('clauses of a spoken turn', () => {
  test('lead up to a question, or are what it is about', () => {
    expect(leadsUp('so you told me it hurts')).toBe(true)
    expect(leadsUp('with the pain')).toBe(false)
    expect(introduces('if ive got this straight')).toBe(true)
    expect(introduces('if you press on it')).toBe(false)
  })

  test('seek agreement to a plan, or check a fact', () => {
    expect(seeksAgreement(['drink plenty', 'ok'])).toBe(true)
    expect(seeksAgreement(['you have a cough', 'ok'])).toBe(false)
    expect(seeksAgreement(['you need to go more often', 'right'])).toBe(false)
  })

  test('ask what makes it worse, not how it has gone', () => {
    expect(whatChanges('is it worse when you lie down').attributes).toEqual(['aggravating'])
    expect(whatChanges('does anything make it better').attributes).toEqual(['relieving'])
    expect(whatChanges('is it getting worse').attributes).toEqual([])
  })
})

describe('English questions', () => {
  test('name a symptom beside what they ask', () => {
    expect(findings('What have you taken so far for the cough?')).toEqual([])
    expect(asides('What have you taken so far for the cough?')).toEqual(['tried'])
    expect(asides('Are you worried about the rash?')).toEqual(['concerns'])
    expect(asides('Have you had a chest X-ray?')).toEqual(['tests'])
    expect(findings('Do you have thoughts of harming yourself?')).toEqual(['self-harm-thoughts'])
  })

  test('are about relatives where these are named', () => {
    expect(findings('Do your sisters get migraines as well?')).toEqual(['family-headache'])
    expect(asides("Any cancer on your mother's side?")).toEqual(['family-cancer'])
    expect(asides('Any family history of medical problems?')).toEqual(['family-health'])
  })

  test('ask for both of two habits', () => {
    expect(findings('Do you smoke or drink?')).toEqual(['smoking', 'heavy-drinking'])
  })

  test('are understood where words are spelt as they sound', () => {
    expect(findings('any flegm with it')).toEqual(findings('any phlegm with it'))
    expect(findings('do u have a sore throte')).toEqual(['sore-throat'])
  })
})
