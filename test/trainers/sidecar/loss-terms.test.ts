import { expect, test } from 'vitest'
import { lossTerms } from '../../../src/backend.js'
import { linearisedTerms, servedTerms } from '../../../src/trainers/sidecar/loss-terms.js'
import type { SidecarCapabilities } from '../../../src/trainers/tinker/handshake.js'

const settings: SidecarCapabilities['lossSettings'][string] = {
  ...({ dual: 'number', kl_ratio: 'number', correction_scale: 'number' } as const),
  ...({ off_policy_threshold: 'number', entropy_per_token: 'number' } as const),
  correction_level: ['token', 'sequence', 'geometric'],
}

test('a server has the terms whose settings it takes', () => {
  expect(servedTerms({ lossSettings: { bedside: settings } })).toEqual(lossTerms)
  const { kl_ratio: _, ...less } = settings
  const older = { ...less, correction_level: ['token', 'sequence'] }
  expect(servedTerms({ lossSettings: { bedside: older } })).toEqual(
    lossTerms.filter((term) => term !== 'kl-ratio' && term !== 'geometric-correction'),
  )
})

test('a server that says nothing of its settings has none of them', () => {
  expect(servedTerms({ lossSettings: {} })).toEqual([])
})

test('a linearised loss has all but the entropy bonus', () => {
  expect(linearisedTerms).toEqual(lossTerms.filter((term) => term !== 'entropy-over-tokens'))
})
