import { expect, test } from 'vitest'
import { turnText } from '../../../src/cli/print/consultation-text.js'
import { stating } from '../../fixtures/stating.js'

const same = (text: string): string => text
const paint = new Proxy({}, { get: () => same }) as Parameters<typeof turnText>[3] // every colour is none

const stated = stating('Influenza', {
  confidence: 0.8,
  differential: [{ diagnosis: 'Asthma', p: 0.155 }, { diagnosis: 'Gout' }],
  triage: 2,
  recommendation: 'Rest.',
})

test.each([
  [
    'en',
    /Diagnosis: Influenza\n +Confidence: 80%\n +Differential: Asthma \(15\.5%\); Gout\n +Triage: 2\n +Rec/,
  ],
  ['zh', /诊断：Influenza\n +把握：80%\n +鉴别：Asthma（15\.5%）；Gout\n +分诊：2\n +建议：/],
] as const)('a diagnosis is shown with what was stated beside it: %s', (language, shown) => {
  for (const turn of stated.turns) expect(turnText(turn, 1, language, paint)).toMatch(shown)
})

test('and without what was not', () => {
  for (const turn of stating('Influenza').turns)
    expect(turnText(turn, 1, 'en', paint)).toMatch(/Diagnosis: Influenza$/)
})
