/** English questions without what doctors say around them. */
import { describe, expect, test } from 'vitest'
import { removeSpokenFrames } from '../../../../../src/envs/patients/nlu/english/spoken-frames.js'

describe('what is said around a question', () => {
  test.each([
    ['Can I just double-check, do you have a cough?', 'do you have a cough?'],
    ['OK. Can I ask? Do you smoke?', 'OK. Do you smoke?'],
    ["And, if you don't mind me asking, how old are you?", 'And, how old are you?'],
    ['Sorry to ask this, do you drink?', 'do you drink?'],
    ['Are you, John, are you in pain?', 'Are you in pain?'],
    ['Is it, how would you describe it?', 'how would you describe it?'],
    ['Could I have your before we start, could I have your name?', 'Could I have your name?'],
    ['What is it like - sharp?', 'What is it like, sharp?'],
  ])('%s', (said, plain) => {
    expect(removeSpokenFrames(said)).toBe(plain)
  })

  test('an indirect question stays one', () => {
    expect(removeSpokenFrames('Can I just check how old you are?')).toBe('tell me how old you are?')
  })

  test('what is to be checked stays', () => {
    for (const text of ['Can I check your blood pressure?', 'Do you check the door twice?'])
      expect(removeSpokenFrames(text)).toBe(text)
  })

  test('a sentence that tells loses its comma only', () => {
    expect(removeSpokenFrames("What I'd like to do, is listen to your chest.")).toBe(
      "What I'd like to do is listen to your chest.",
    )
  })

  test('a text of nothing else stays', () => {
    expect(removeSpokenFrames('Can I ask?')).toBe('Can I ask?')
  })
})
