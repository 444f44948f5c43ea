import { expect, test } from 'vitest'
import { diagagentActions } from '../../../src/agents/grammars/diagagent.js'
import type { Action, Turn } from '../../../src/turn.js'
import { seen } from '../../fixtures/consulting.js'

const { parse, render } = diagagentActions()

const order =
  "Based on the patient's initial presentation, the following investigation(s) should be performed:"
const finish = 'The available information is sufficient to make a diagnosis.'

test.each<[string, string, Action]>([
  [
    'as published',
    `Current diagnosis: pneumonia\n${order} Chest X-ray.\nReason: the cough; a CT may be needed: later.`,
    { kind: 'order', exam: 'Chest X-ray' },
  ],
  [
    'with `needed:`, which is looked for first',
    'Current diagnosis: gout\nThis is needed: uric acid\nReason: x',
    { kind: 'order', exam: 'uric acid' },
  ],
  [
    'a dot inside a name',
    `Current diagnosis: anaemia\n${order} Vitamin B.12 level.`,
    { kind: 'order', exam: 'Vitamin B.12 level' },
  ],
  [
    'in a code fence, on another line',
    `\`\`\`\nCurrent diagnosis: sepsis\n\n${order} **Lactate**\n\`\`\``,
    { kind: 'order', exam: 'Lactate' },
  ],
  [
    'a conclusion',
    `${finish}\n\nDiagnosis: Acute appendicitis\nReason: the ultrasound that was performed: inflamed.`,
    { kind: 'diagnose', diagnosis: 'Acute appendicitis' },
  ],
  [
    'a conclusion in one line with its reason',
    `${finish}\nDiagnosis: 急性阑尾炎。 Reason: 超声`,
    { kind: 'diagnose', diagnosis: '急性阑尾炎' },
  ],
])('reads %s', (_, reply, action) => expect(parse(reply)).toEqual(action))

test.each<[string, string, RegExp]>([
  ['no action', 'Current diagnosis: gout. Imaging would help.', /^No action was found/],
  ['a diagnosis without the sentence', 'Diagnosis: gout', /^No action was found/],
  ['both', `Current diagnosis: a\n${order} CT\n${finish}\nDiagnosis: b`, /^More than one/],
  ['two orders', `${order} CT\n${order} MRI`, /^More than one/],
  ['no name', `Current diagnosis: a\n${order}\nReason: b`, /^No examination/],
  ['no diagnosis', `${finish}\n\nReason: gout`, /is missing or empty/],
  ['Chinese without a mark', '我认为是痛风', /^没有找到动作/],
])('refuses %s', (_, reply, why) => {
  expect(parse(reply)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(why) })
})

test('the prompt has the case as bullets, and reports in the published words', () => {
  const turns: readonly Turn[] = [
    {
      action: { kind: 'order', exam: 'Chest X-ray' },
      outcome: { kind: 'examined', text: 'Clear lungs.' },
    },
  ]
  const [system, summary, reply, report] = render(seen(turns))
  expect(system?.content).toContain('at most 10 replies')
  expect(summary?.content).toBe(
    '- Patient Information: female, 30 years old\n- Chief Complaint: I keep coughing.',
  )
  // The published reader takes the name from the second line alone.
  expect(reply?.content.split('\n')[1]?.split('performed:')[1]?.trim()).toBe('Chest X-ray')
  expect(report).toEqual({ role: 'user', content: 'Here is the test result: Clear lungs.' })
})
