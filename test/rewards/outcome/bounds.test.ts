/** What every reward of an outcome promises, over arbitrary consultations and over statements that no schema lets in. */

import { describe, expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import type { Reward } from '../../../src/reward.js'
import { calibration } from '../../../src/rewards/outcome/calibration.js'
import {
  differentialAgreement,
  differentialBrier,
  differentialF1,
  differentialSpherical,
} from '../../../src/rewards/outcome/differential.js'
import { discountedRank, reciprocalRank, topK } from '../../../src/rewards/outcome/ranked.js'
import { treatment } from '../../../src/rewards/outcome/treatment.js'
import { triage } from '../../../src/rewards/outcome/triage.js'
import { noContraindicated } from '../../../src/rewards/safety/safety.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import { fc } from '../../fixtures/property.js'
import { among, formulary, givingUp, stating } from '../../fixtures/stating.js'
import { tinyCase } from '../../fixtures/tiny-case.js'
import { anyCase, anyPlay, anyText } from '../arbitrary.js'

const rewards: readonly Reward[] = [
  topK({ formulary }),
  reciprocalRank({ formulary }),
  discountedRank({ formulary }),
  differentialF1({ formulary }),
  differentialF1({ formulary, grave: true }),
  differentialBrier({ formulary }),
  differentialSpherical({ formulary }),
  differentialAgreement({ formulary }),
  calibration({ formulary }),
  triage(),
  triage({ frequency: [1, 2, 3, 4, 5] }),
  treatment(),
  noContraindicated(),
]

const wild = fc.oneof(fc.double(), fc.constantFrom(0.1, 0.5, 1))
const name = fc.oneof(fc.constantFrom(...formulary.map(({ id }) => id)), anyText)
const statement = fc.record({
  confidence: wild,
  differential: fc.array(fc.record({ diagnosis: name, p: wild }), { maxLength: 15 }),
  triage: wild,
  recommendation: anyText,
})

const full = tinyCase('full', {
  gold: {
    ...tinyCase().gold,
    differential: [
      { id: 'influenza', p: 0.7 },
      { id: 'pneumonia', p: 0.3 },
    ],
    triage: { scale: 'local5', level: 3 },
    actions: [
      { id: 'a', text: { en: 'Give an acid blocker.' }, polarity: 'recommend', weight: 1 },
      { id: 'b', text: { en: 'Give a sedative.' }, polarity: 'contraindicated', weight: 1 },
    ],
  },
})
const episodes = [
  stating('flu', {
    confidence: 0.6,
    differential: among('pneumonia@0.3', 'gout'),
    triage: 2,
    recommendation: 'Give an acid blocker.',
  }),
  stating('gout', { recommendation: 'Give a sedative.', triage: 5 }),
  givingUp,
].map((episode) => ({ episode, truth: full }))

describe.each(rewards.map((reward, i) => [`${reward.rewardName} (${i})`, reward] as const))(
  '%s',
  (_, reward) => {
    for (const { name: claim, run } of rewardChecks(reward, { episodes })) test(claim, run)

    const within = (value: number | null) => {
      if (value === null) return
      expect(value).toBeGreaterThanOrEqual(reward.bounds[0])
      expect(value).toBeLessThanOrEqual(reward.bounds[1])
    }

    test('stays within its bounds on any consultation, and whether it applies is the case’s', async () => {
      await fc.assert(
        fc.asyncProperty(anyPlay, async ({ episode, truth }) => {
          const { total } = await reward(episode, truth)
          within(total)
          expect(total === null).toBe((await reward(givingUp, truth)).total === null)
        }),
        { numRuns: 150 },
      )
    })

    test('and on any statement, probabilities that are none among them', async () => {
      await fc.assert(
        fc.asyncProperty(anyCase, name, statement, async (truth, diagnosis, beside) => {
          const { total } = await reward(stating(diagnosis, beside), graderView(truth))
          within(total)
        }),
        { numRuns: 150 },
      )
    })
  },
)
