/** What the shipped knowledge base understands of lists, of what was only mentioned and of habits that are taken for granted. */
import { expect, test } from 'vitest'
import { understand } from '../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()

test.each([
  [
    'Has he had any knocks to the head, or a fever or a stiff neck?',
    ['fever', 'neck-stiffness'],
    ['head-injury'],
  ],
  ['恶心吐不吐？', ['nausea', 'vomiting'], []],
  ['渡子疼不疼？', ['abdominal-pain'], []],
  ['Have you ever tried giving up the cigarettes?', [], ['smoking-stop']],
  ['青霉素过敏是哪年的事？', [], ['allergy-when']],
  ['Does anything bring it on, for example dust, pets, cold air?', ['breathing-trigger'], []],
])('%s', (text, findings, asides) => {
  const parsed = understand(knowledge, text)
  expect(parsed.topics.map(({ finding }) => finding)).toEqual(findings)
  expect(parsed.asides).toEqual(asides)
})

test('asks of the symptom that was only mentioned, and not back which one is meant', () => {
  const text = 'Double vision, you say. Does it go away if you cover one eye?'
  expect(understand(knowledge, text)).toMatchObject({ kind: 'unmodelled', of: 'double-vision' })
})
