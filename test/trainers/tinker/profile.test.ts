import { describe, expect, test } from 'vitest'
import { chooseDialect, getProfile, profileNames } from '../../../src/trainers/tinker/profile.js'
import { assertData, assertLoss } from '../../../src/trainers/tinker/run-pass.js'

describe('what is known of a server', () => {
  test('has a name each, and only ours was run against', () => {
    expect(new Set(profileNames).size).toBe(profileNames.length)
    const run = profileNames.filter((name) => getProfile(name).checked === 'run')
    expect(run).toEqual(['bedside'])
    for (const name of profileNames) expect(getProfile(name).name).toBe(name)
  })

  test('is asked for by name, and unknown names list the known', () => {
    expect(() => getProfile('tinkr')).toThrow(
      'Expected a server of bedside, tinker, skyrl-fsdp, skyrl-jax, verl-tinker, tuft, got `tinkr`',
    )
  })

  test('says which dialect is spoken', () => {
    expect(chooseDialect(getProfile('bedside'))).toBe('protobuf')
    expect(chooseDialect(getProfile('bedside'), 'json')).toBe('json')
    expect(chooseDialect(getProfile('verl-tinker'))).toBe('json')
    expect(() => chooseDialect(getProfile('verl-tinker'), 'protobuf')).toThrow(
      'Expected a dialect of verl-tinker: json, got `protobuf`',
    )
  })
})

describe('before anything is sent', () => {
  const { name, losses } = getProfile('tinker')

  test('a loss that the server does not know is refused', () => {
    expect(() => assertLoss({ name: 'gspo' }, { name, losses }, undefined)).toThrow(
      'Expected a loss of tinker (cross_entropy, importance_sampling, ppo, cispo, dro), got `gspo`',
    )
    const own = { name: 'bedside', extension: true }
    expect(() => assertLoss(own, { name, losses }, undefined)).toThrow(
      'Expected an extension loss of tinker (it has none), got `bedside`',
    )
    expect(() => assertLoss(own, { name, losses }, ['bedside'])).not.toThrow()
  })

  test("a clipped loss never runs with the server's bounds", () => {
    const low = { name: 'cispo', config: { clip_low_threshold: 0 } }
    expect(() => assertLoss(low, { name, losses }, undefined)).toThrow(
      'Expected `clip_high_threshold` in the config of cispo, because servers\' defaults differ, got {"clip_low_threshold":0}',
    )
    const both = { name: 'cispo', config: { clip_low_threshold: 0, clip_high_threshold: 4 } }
    expect(() => assertLoss(both, { name, losses }, undefined)).not.toThrow()
  })

  test('a config with what is no number is refused', () => {
    const dro = { name: 'dro', config: { beta: Number.NaN } }
    expect(() => assertLoss(dro, { name, losses }, undefined)).toThrow(
      'Expected a finite `beta` in the config of dro, got NaN',
    )
  })

  test('data that are no data are refused by their place', () => {
    const tokens = Int32Array.of(1, 2)
    expect(() => assertData([])).toThrow('Expected data, got none')
    expect(() => assertData([{ tokens: new Int32Array(), inputs: {} }])).toThrow(
      'data[0]: expected tokens, got none',
    )
    expect(() => assertData([{ tokens, inputs: { weights: new Float32Array(3) } }])).toThrow(
      'data[0]: expected weights of length 2 or 1, got 3',
    )
    const advantages = Float32Array.of(0, Number.NaN)
    expect(() => assertData([{ tokens, inputs: { advantages } }])).toThrow(
      'data[0]: expected finite advantages, got NaN at 1',
    )
    expect(() =>
      assertData([{ tokens, inputs: { temperature: Float32Array.of(1) } }]),
    ).not.toThrow()
  })
})
