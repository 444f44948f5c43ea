import { describe, expect, test } from 'vitest'
import { patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { understandInContext } from '../../../../src/envs/patients/nlu/follow-ups/follow-up.js'
import { textReader } from '../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import { asking } from '../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const reader = textReader(knowledge)

/** What a question is about after the complaint was told. */
function askedAfter(complaint: string, text: string): string | undefined {
  const truth = generateCase(knowledge, {
    tier: 'standard',
    seed: 11,
    n: 1,
    change: { findings: { [complaint]: 'present' } },
  })
  const view = patientView(truth)
  const context = asking(
    { ...view, complaint: { ...view.complaint, findings: [complaint] } },
    {
      dialogue: [
        {
          utterance: 'What brings you in?',
          reply: {
            text: '…',
            understood: 'open',
            questions: 1,
            asked: [],
            told: [{ finding: complaint, state: 'present' }],
          },
        },
      ],
    },
  )
  return understandInContext(knowledge, text, context, reader).topics[0]?.finding
}

describe('a part of the body alone', () => {
  test.each([
    ['breathlessness', 'And the legs?', 'ankle-swelling'],
    ['breathlessness', '脚呢？', 'ankle-swelling'],
    ['yellow-eyes', 'And your water?', 'liver-dark-urine'],
    ['yellow-eyes', '小便呢？', 'liver-dark-urine'],
    ['vomiting', 'And the other end?', 'diarrhoea'],
    ['feeling-cold', 'And your skin?', 'dry-skin'],
    ['skin-itch', '晚上呢？', 'itch-night'],
    ['skin-itch', 'How about the rest of the family?', 'itch-household'],
    ['fever', '家里其他人呢？', 'sick-contact'],
    ['tingling-hands', '脚呢？', 'tingling-hands'],
  ])('after %s, "%s" asks for what goes with it there', (complaint, text, finding) => {
    expect(askedAfter(complaint, text)).toBe(finding)
  })

  test.each([
    ['poor-sleep', 'Sleep?'],
    ['runny-nose', 'Through your nose?'],
  ])('after %s, "%s" asks for the complaint itself', (complaint, text) => {
    expect(askedAfter(complaint, text)).toBe(complaint)
  })

  test('a whole question is read as it stands', () => {
    expect(askedAfter('breathlessness', 'Have your eyes gone yellow?')).toBe('yellow-eyes')
  })
})
