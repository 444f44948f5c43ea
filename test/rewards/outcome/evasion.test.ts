import { describe, expect, test } from 'vitest'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { detectEvasion } from '../../../src/rewards/outcome/evasion.js'

const diseases = loadKnowledge().diseases.map(({ name }) => name.en)

describe('an answer that commits', () => {
  test.each([
    ['Gout', 'Gout'],
    ['Gout', 'The most likely diagnosis is gout.'],
    [
      'Gout',
      'Based on fever, swelling, and redness of the toe, the most likely diagnosis is gout.',
    ],
    ['Gout', 'Gout, likely caused by diet.'],
    ['Amoxicillin', 'The treatment is amoxicillin, 500 mg, three times daily.'],
    ['Influenza A or B', 'influenza a or b.'],
    ['Fever, chills and rash', 'fever, rash and chills'],
    ['Proximal jejunum and ileocaecal junction', 'The proximal jejunum and ileocaecal junction'],
    [
      'Gout',
      'Gout. It is caused by urate crystals; stop alcohol or cut it down, and see a doctor.',
    ],
    ['痛风', '最可能的诊断是痛风。'],
    ['Cannot be commented', 'Cannot be commented.'],
    [
      'Gout',
      `The swelling and redness, the night-time onset and the raised urate are typical, and the joint fluid would show crystals. ${'Infection, either of the joint or of the skin, would bring fever, which is absent here. '.repeat(4)}This is gout.`,
    ],
  ])('%s: %s', (reference, answer) => {
    expect(detectEvasion(answer, reference)).toBeUndefined()
  })
})

test.each([
  ['abstains', 'I do not know the answer.'],
  ['abstains', "Sorry, I can't tell."],
  ['abstains', 'Unknown'],
  ['abstains', 'The diagnosis cannot be determined from this.'],
  ['abstains', 'Insufficient information.'],
  ['abstains', '无法确定。'],
  ['hedges', 'Gout or pseudogout'],
  ['hedges', 'Gout, cellulitis, bursitis'],
  ['hedges', 'The diagnosis is gout, cellulitis, or bursitis.'],
  ['hedges', '1. Gout\n2. Cellulitis\n3. Bursitis'],
  ['hedges', 'Gout. Cellulitis. Bursitis.'],
  ['hedges', diseases.join(', ')],
  ['hedges', diseases.map((name, n) => `${n + 1}. ${name}`).join('\n')],
  ['hedges', 'Either gout or cellulitis.'],
  ['hedges', 'Gout is likely. Alternatively, this is cellulitis.'],
  ['hedges', 'The differential diagnosis includes gout and cellulitis.'],
  ['hedges', '痛风或蜂窝织炎'],
  ['hedges', '可能是痛风，也可能是蜂窝织炎'],
  ['too long', 'gout '.repeat(1200)],
])('one that %s: %s', (why, answer) => {
  expect(detectEvasion(answer, 'Gout')).toBe(why)
})
