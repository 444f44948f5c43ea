import { describe, expect, test } from 'vitest'
import type { Patient, Reply } from '../../src/patient.js'
import { runChecks } from '../../src/testing/check.js'
import type { PatientMaterial } from '../../src/testing/patient.js'
import { patientChecks } from '../../src/testing/patient.js'
import { tinyCases, tinyPatient, tinyQuestions } from '../fixtures/tiny.js'

const material: PatientMaterial = { cases: tinyCases, questions: tinyQuestions }

const failing = async (patient: Patient, more: Partial<PatientMaterial> = {}) =>
  (await runChecks(patientChecks(patient, { ...material, ...more }))).failures.map(
    ({ check }) => check,
  )

/** The tiny patient with its replies changed. */
const replying =
  (change: (reply: Reply, utterance: string) => Reply): Patient =>
  async (utterance, context) =>
    change(await tinyPatient(utterance, context), utterance)

describe('the tiny patient keeps the patient contract', () => {
  for (const { name, run } of patientChecks(tinyPatient, material)) test(name, run)
})

describe('exactly the broken promise is reported when a patient', () => {
  const only = (what: string, check: string, patient: Patient) =>
    test(what, async () => expect(await failing(patient)).toEqual([check]))

  let answers = 0
  only(
    'answers in other words the second time',
    'the same inputs give the same reply',
    replying((reply) => ({ ...reply, text: `${reply.text} ${answers++}` })),
  )

  only(
    'tells another state once something was asked before',
    'a finding is told the same whatever was asked before',
    async (utterance, context) => {
      const reply = await tinyPatient(utterance, context)
      const state = context.dialogue.length > 0 ? 'absent' : 'present'
      return { ...reply, told: reply.told.map(({ finding }) => ({ finding, state })) }
    },
  )

  only(
    'contradicts itself when asked again',
    'a finding is told the same whatever was asked before',
    async (utterance, context) => {
      const reply = await tinyPatient(utterance, context)
      const sure = reply.told.map((told) => ({ ...told, state: 'present' }))
      return context.dialogue.length === 1
        ? { ...reply, told: [{ finding: 'fever', state: 'unknown' }] }
        : { ...reply, told: sure }
    },
  )

  only(
    'knows what only an examination shows',
    'only findings that the patient knows are told',
    replying((reply) => ({
      ...reply,
      told: [...reply.told, { finding: 'shadow', state: 'present' }],
    })),
  )

  only(
    'does not know an examination finding, but tells that it exists',
    'only findings that the patient knows are told',
    replying((reply) => ({
      ...reply,
      told: [...reply.told, { finding: 'shadow', state: 'unknown' }],
    })),
  )

  only(
    'denies what was never recorded',
    'only findings that the patient knows are told',
    replying((reply) => ({
      ...reply,
      told: [...reply.told, { finding: 'rash', state: 'absent' }],
    })),
  )

  only(
    'gives the diagnosis away when it is asked for it',
    'no reply names the diagnosis',
    replying((reply, utterance) =>
      utterance.includes('diagnosis') ? { ...reply, text: 'Pneumonia and gastritis.' } : reply,
    ),
  )

  only('throws at silence', 'whatever is said gets a reply', (utterance, context) => {
    if (utterance === '') throw new Error('nothing was said')
    return tinyPatient(utterance, context)
  })

  only(
    'answers with an unknown understanding',
    'replies are plain and well-formed',
    // Not of the union: what a patient in JavaScript may send.
    replying((reply) => ({ ...reply, understood: 'guessed' as Reply['understood'] })),
  )

  only(
    'counts half a question',
    'replies are plain and well-formed',
    replying((reply) => ({ ...reply, questions: 0.5 })),
  )

  only(
    'says nothing at all',
    'replies are plain and well-formed',
    replying((reply) => ({ ...reply, text: '' })),
  )

  only('notes something in its view', 'the context is only read', (utterance, context) => {
    const known = context.view.findings.get('fever')
    // Mutable on purpose: a ReadonlyMap is a promise of the compiler only.
    if (known) (context.view.findings as Map<string, unknown>).set('asked', known)
    return tinyPatient(utterance, context)
  })
})

test('denying what the case implies to be absent is no invention', async () => {
  const patient = replying((reply) => ({
    ...reply,
    told: [...reply.told, { finding: 'rash-site', state: 'absent' }],
  }))
  expect(await failing(patient, { implied: (finding) => finding === 'rash-site' })).toEqual([])
})

test('saying that one does not know what was never recorded is no invention', async () => {
  const honest = replying((reply) => ({
    ...reply,
    told: [...reply.told, { finding: 'rash', state: 'unknown' }],
  }))
  expect(await failing(honest)).toEqual([])
})

test('repeating the name the doctor used is no leak', async () => {
  const questions = [...tinyQuestions, 'Is it pneumonia or gastritis?']
  const echo = replying((reply, utterance) => ({ ...reply, text: `${utterance.slice(0, 60)}?` }))
  expect(await failing(echo, { questions })).toEqual([])
})

test('questions that settle nothing fail instead of passing in silence', async () => {
  expect(await failing(tinyPatient, { questions: ['Nice weather?'] })).toEqual([
    'a finding is told the same whatever was asked before',
  ])
})

test('a patient with a model behind it is not held to sameness', async () => {
  let answers = 0
  const model = replying((reply) => ({ ...reply, text: `${reply.text} ${answers++}` }))
  expect(await failing(model, { deterministic: false })).toEqual([])
})
