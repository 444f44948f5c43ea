/** Cases of your own: one JSON object a line. What the patient says is yours; nobody else's data is needed. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Case } from 'bedside'
import { make } from 'bedside'
import { readCases, writeCases } from 'bedside/cases'
import { recordPatient } from 'bedside/envs'
import { diagnosisAccuracy } from 'bedside/rewards'

const mine: Case = {
  schema: 'bedside-case/1',
  id: 'my-clinic-1',
  provenance: { source: 'my clinic', license: 'private', synthetic: true, redistributable: false },
  demographics: { age: { v: 52, unit: 'year' }, sex: 'M', speaker: 'self' },
  chiefComplaint: { text: { en: 'My big toe hurts.' }, findings: ['toe-pain'] },
  findings: [
    {
      id: 'onset',
      kind: 'symptom',
      state: 'present',
      knownBy: 'patient',
      salience: 0.5,
      stigma: 0,
      question: { en: 'When did the pain start?' },
      utterance: { en: 'It woke me up last night, and it is red and hot.' },
    },
  ],
  exams: [],
  examDefault: 'unavailable',
  persona: {},
  noise: { forget: 0, deny: 0, overReport: 0 },
  gold: {
    dx: [
      {
        id: 'gout',
        name: { en: 'Gout' },
        aliases: ['acute gout', 'gouty arthritis'],
        codes: [{ system: 'icd10', code: 'M10' }],
        role: 'primary',
      },
    ],
    acceptable: [],
    redFlags: [],
    actions: [],
  },
}

const file = join(tmpdir(), `my-cases-${process.pid}.jsonl`)
await writeCases(file, [mine])
const cases = await readCases(file)

const env = make('consultation', { cases, patient: recordPatient(), reward: diagnosisAccuracy() })
await env.reset()
const { observation } = await env.step('Question: When did it start?')
console.log(observation.turns[0]?.outcome)
const { reward } = await env.step('Diagnosis: Acute gout\nRecommendation: Rest the foot.')
console.log('reward', reward)
await env.close()
