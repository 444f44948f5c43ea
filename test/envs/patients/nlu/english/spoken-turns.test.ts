/** What spoken English turns ask: of relatives, of treatment, of what changes a complaint, and of tests done before. */
import { describe, expect, test } from 'vitest'
import {
  checksDuration,
  introduces,
  leadsUp,
  putsAside,
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

  test('put aside what is not asked for', () => {
    expect(putsAside('leaving aside the cough')).toBe(true)
    expect(putsAside('the headache aside')).toBe(true)
    expect(putsAside('not dizzy as such')).toBe(true)
    expect(putsAside('no dizziness')).toBe(false)
    expect(findings('Leaving aside the cough, do you get short of breath?')).toEqual([
      'breathlessness',
    ])
    expect(findings("You've said no fever, but what about shivers?")).toEqual(['chills'])
  })

  test('check how long it has been', () => {
    expect(checksDuration('and is that just over the last six days')).toBe(true)
    expect(checksDuration('so thats when it first started')).toBe(true)
    expect(checksDuration('is it there all day')).toBe(false)
    expect(checksDuration('is that the cough of last week')).toBe(false)
  })

  test('ask what makes it worse, not how it has gone', () => {
    expect(whatChanges('is it worse when you lie down').attributes).toEqual(['aggravating'])
    expect(whatChanges('does anything make it better').attributes).toEqual(['relieving'])
    expect(whatChanges('is it getting worse').attributes).toEqual([])
  })
})

describe('English questions', () => {
  test('ask if a test was done, whatever it was of', () => {
    for (const text of [
      'Have you ever had any tests on your heart, like an ECG?',
      'When was your last blood test?',
      'Have you had an X-ray of your chest before?',
    ])
      expect([findings(text), asides(text)]).toEqual([[], ['tests']])
    expect(asides('When was your last smear test?')).toEqual(['smear-screening'])
  })

  test('ask for the examples of anything else', () => {
    expect(findings('Have you had any other symptoms at the moment, like a rash?')).toEqual([
      'skin-rash',
    ])
    expect(understand(knowledge, 'Anything else like this?').kind).toBe('open')
  })

  test('have small words inside a phrase', () => {
    expect(findings('Have you put on any weight recently?')).toEqual(['weight-gain'])
  })

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
