import { describe, expect, test } from 'vitest'
import { exactVerifier } from '../../../src/rewards/outcome/verifier.js'

const formulary = [
  { id: 'influenza', names: ['Influenza', 'flu', '流感'], codes: [] },
  { id: 'gout', names: ['Gout'], codes: [] },
]
const verifier = exactVerifier({ formulary })
const verified = (reference: string, answer: string) => verifier('', reference, answer)

describe('the exact verifier says', () => {
  test.each([
    ['Vitamin C deficiency', 'vitamin C deficiency.'],
    ['Vitamin C deficiency', 'The most likely diagnosis is vitamin C deficiency.'],
    ['Cefaclor.', 'Cefaclor'],
    ['Cefaclor', 'So the correct answer is: cefaclor.'],
    ['头孢克洛', '答案是：头孢克洛'],
    ['Anaemia', 'anemia'],
    ['Influenza', 'You probably have the flu.'],
    ['Influenza', '流感'],
    ['Influenza', 'Influenza, likely caused by H1N1'],
    ['75%', '75 %'],
    ['10° above the horizontal plane', '10° above the horizontal plane'],
    ['< 7.35', '<7.35'],
    ['1:06', '1:06'],
    ['Rhinocerebral mucormycosis (zygomycosis)', 'Rhinocerebral mucormycosis'],
  ])('yes: %s, %s', async (reference, answer) => {
    expect(await verified(reference, answer)).toBe(1)
  })

  test.each([
    ['Vitamin C deficiency', 'Vitamin D deficiency'],
    ['Influenza', 'Gout'],
    ['Influenza', 'Influenza or gout'],
    ['Influenza', 'It is not influenza.'],
    ['Influenza', 'I thought of influenza first, but it is gout.'],
    ['Influenza', '<think>Influenza</think>Gout'],
    ['Influenza', ''],
    ['25 mg', '2.5 mg'],
    ['2.5', '25'],
    ['-5', '5'],
    ['pH < 7.35', 'pH > 7.35'],
    ['HBsAg +', 'HBsAg -'],
    ['HBsAg -', 'HBsAg +'],
  ])('no: %s, %s', async (reference, answer) => {
    expect(await verified(reference, answer)).toBe(0)
  })
})

test('without a formulary it knows no synonyms', async () => {
  expect(await exactVerifier()('', 'Influenza', 'flu')).toBe(0)
})
