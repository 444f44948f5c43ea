import { describe, expect, test } from 'vitest'
import { removeTag } from '../../../src/rewards/published/doctoragent-rl-texts.js'
import { takestwoPatient } from '../../../src/rewards/published/takestwo-patient.js'
import { flu } from '../../fixtures/influenza-consultations.js'
import { fc } from '../../fixtures/property.js'
import { ask, diagnose, episodeOf } from '../../fixtures/reward-episodes.js'

describe('what stands between tags is removed', () => {
  test('as the released regular expression does it', () => {
    const pieces = ['<think>', '</think>', '<think', '>', 'a', ' ', '\n', '<', '/', 'think', '咳']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
        const text = parts.join('')
        expect(removeTag(text, 'think')).toBe(text.replace(/<think>[\s\S]*?<\/think>/g, ''))
      }),
      { numRuns: 2000 },
    )
  })

  test('in time linear in a text that opens tags and closes none', async () => {
    const reward = takestwoPatient({ parity: true })
    const seconds = async (length: number): Promise<number> => {
      const text = '<think>'.repeat(length / 7)
      const turn = { ...ask(), outcome: { kind: 'answered', text } as const }
      const started = performance.now()
      await reward(episodeOf([turn, diagnose('Influenza')]), flu)
      return (performance.now() - started) / 1000
    }
    await seconds(70_000)
    // The regular expression took more than a minute here.
    expect(await seconds(700_000)).toBeLessThan(1)
  })
})
