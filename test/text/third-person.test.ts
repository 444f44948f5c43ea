import { describe, expect, test } from 'vitest'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { Pronoun } from '../../src/text/third-person.js'
import { pronounForSex, standaloneSentences, toThirdPerson } from '../../src/text/third-person.js'

const both: readonly Pronoun[] = ['he', 'she']

describe('in English', () => {
  test.each([
    ['I keep coughing.', 'He keeps coughing.', 'She keeps coughing.'],
    ['Yes, I have had a fever.', 'Yes, he has had a fever.', 'Yes, she has had a fever.'],
    ["I've thrown up.", "He's thrown up.", "She's thrown up."],
    ["No, I'm not dizzy.", "No, he's not dizzy.", "No, she's not dizzy."],
    ["I haven't slept.", "He hasn't slept.", "She hasn't slept."],
    ["I don't smoke.", "He doesn't smoke.", "She doesn't smoke."],
    ['I go every few days.', 'He goes every few days.', 'She goes every few days.'],
    ['I do carry a puffer.', 'He does carry a puffer.', 'She does carry a puffer.'],
    ['My head hurts.', 'His head hurts.', 'Her head hurts.'],
    ['It wakes me up.', 'It wakes him up.', 'It wakes her up.'],
    ['A friend of mine has it.', 'A friend of his has it.', 'A friend of hers has it.'],
    ['I cut myself.', 'He cuts himself.', 'She cuts herself.'],
    ['I hardly ever drink.', 'He hardly ever drinks.', 'She hardly ever drinks.'],
    [
      "I can't rest when I lie flat.",
      "He can't rest when he lies flat.",
      "She can't rest when she lies flat.",
    ],
    [
      'Whatever I do, my back aches.',
      'Whatever he does, his back aches.',
      'Whatever she does, her back aches.',
    ],
    ['I was well. I fainted.', 'He was well. He fainted.', 'She was well. She fainted.'],
    ['I’ve a rash.', "He's a rash.", "She's a rash."],
    ["I'd rather not.", "He'd rather not.", "She'd rather not."],
    ['The vitamin did nothing.', 'The vitamin did nothing.', 'The vitamin did nothing.'],
    ['mine hurts', 'His hurts', 'Hers hurts'],
  ])('"%s"', (own, he, she) => {
    expect(toThirdPerson(own, 'en', 'he')).toBe(he)
    expect(toThirdPerson(own, 'en', 'she')).toBe(she)
  })
})

describe('in Chinese', () => {
  test.each([
    ['我一直在咳。', '他一直在咳。', '她一直在咳。'],
    ['没有，我不抽烟。', '没有，他不抽烟。', '没有，她不抽烟。'],
    ['不疼。', '不疼。', '不疼。'],
    ['我们家没有。', '我们家没有。', '我们家没有。'],
    ['我妈血糖高。', '他妈妈血糖高。', '她妈妈血糖高。'],
    ['我爸爸也有。', '他爸爸也有。', '她爸爸也有。'],
  ])('"%s"', (own, he, she) => {
    expect(toThirdPerson(own, 'zh', 'he')).toBe(he)
    expect(toThirdPerson(own, 'zh', 'she')).toBe(she)
  })
})

test('somebody of no known sex is spoken of as he', () => {
  expect([
    pronounForSex('F'),
    pronounForSex('M'),
    pronounForSex('X'),
    pronounForSex(undefined),
  ]).toEqual(['she', 'he', 'he', 'he'])
})

describe('every patient-known sentence of the shipped knowledge base', () => {
  const said = loadKnowledge()
    .findings.filter(({ knownBy }) => knownBy === 'patient')
    .flatMap(({ say }) => Object.values(say))

  test('says nothing of oneself any more, and is still a sentence', () => {
    for (const text of said.flatMap(({ en }) => en))
      for (const pronoun of both) {
        const spoken = toThirdPerson(text, 'en', pronoun)
        const ofPatient = spoken.replace(/\bas far as I (?:know|remember)\b/, '')
        expect(ofPatient, text).not.toMatch(/\b(?:I|me|my|mine|myself)\b/i)
        expect(spoken, text).toMatch(/^[A-Z0-9].*[.!]$/)
        expect(spoken, text).not.toMatch(/\b(?:he|she) (?:am|have|do|don't|haven't)\b/i)
      }
  })

  test('keeps what the speaker knows their own', () => {
    expect(toThirdPerson('My heart has been fine as far as I know.', 'en', 'she')).toBe(
      'Her heart has been fine as far as I know.',
    )
  })

  test('differs in Chinese by the person alone', () => {
    for (const text of said.flatMap(({ zh }) => zh))
      for (const [pronoun, word] of [
        ['he', '他'],
        ['she', '她'],
      ] as const) {
        const spoken = toThirdPerson(text, 'zh', pronoun)
        expect(spoken).not.toMatch(/我(?!们)|他妈(?!妈)/)
        const plain = text.replace(/我([妈爸])(?!\1)/g, '我$1$1')
        expect([...spoken].length).toBe([...plain].length)
        expect(
          [...spoken].every(
            (c, i) => c === [...plain][i] || (c === word && [...plain][i] === '我'),
          ),
        ).toBe(true)
      }
  })
})

describe('sentences that need no question', () => {
  test('are preferred, and replies lose their yes where there are no others', () => {
    expect(standaloneSentences(['Yes, it burns.', 'It burns.'])).toEqual(['It burns.'])
    expect(standaloneSentences(['有，小便像针刺一样。'])).toEqual(['小便像针刺一样。'])
    expect(standaloneSentences(['Yes, it burns.'])).toEqual(['It burns.'])
    expect(standaloneSentences(['没有，小便挺好。'])).toEqual(['没有，小便挺好。'])
  })
})
