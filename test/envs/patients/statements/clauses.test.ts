import { describe, expect, test } from 'vitest'
import { readClauses } from '../../../../src/envs/patients/statements/clauses.js'
import type { Language } from '../../../../src/turn.js'

const read = (text: string, language: Language) =>
  readClauses(text, language).map(({ tokens, stance, bare, unsure }) =>
    [[...tokens].join(' '), stance, bare, unsure ? 'unsure' : undefined].filter(Boolean).join('|'),
  )

describe('readClauses', () => {
  test.each([
    ["I've been coughing a lot.", ['cough|said']],
    ["I haven't had a fever, but my throat hurts.", ['fever|denied', 'throat hurt|said']],
    ['My temperature is normal.', ['temperatur|well']],
    ["There's nothing wrong with my throat.", ['throat|well']],
    ["My breathing isn't fine.", ['breath|troubled']],
    ['I have lost my appetite.', ['appetit|denied']],
    ['No fever and no chills.', ['fever|denied', 'chil|denied']],
    ['Well, you know, doctor, I mean it.', ['said', 'said', 'said']],
    ["I can't say I've had a rash.", ['rash|denied']],
  ])('%s', (text, expected) => expect(read(text, 'en')).toEqual(expected))

  test.each([
    ['我老是咳嗽。', ['咳 嗽|said']],
    ['没发烧，就是嗓子疼。', ['发 烧|denied', '嗓 子 疼|said']],
    ['体温正常。', ['体 温|well']],
    ['耳朵不堵也不闷。', ['耳 朵 堵|denied', '闷|denied']],
    ['不好意思，差不多吧。', ['said', 'said']],
  ])('%s', (text, expected) => expect(read(text, 'zh')).toEqual(expected))

  test('a bare answer is a yes or a no, and talk is neither', () => {
    const bare = (text: string, language: Language) =>
      readClauses(text, language).flatMap((clause) => clause.bare ?? [])
    expect(bare('Yes.', 'en')).toEqual(['yes'])
    expect(bare('I do.', 'en')).toEqual(['yes'])
    expect(bare('Not at all.', 'en')).toEqual(['no'])
    expect(bare('As I said, I see what you mean.', 'en')).toEqual([])
    expect(bare('有的。', 'zh')).toEqual(['yes'])
    expect(bare('没有。', 'zh')).toEqual(['no'])
    expect(bare('嗯，医生。', 'zh')).toEqual([])
  })

  test('not knowing is neither saying nor denying', () => {
    for (const text of ["I don't know.", "I couldn't tell you.", 'No idea, sorry.', 'Hard to say.'])
      expect(readClauses(text, 'en').some(({ unsure }) => unsure)).toBe(true)
    for (const text of ['不知道。', '我也说不清。', '没怎么注意。', '记不清了。'])
      expect(readClauses(text, 'zh').some(({ unsure }) => unsure)).toBe(true)
    expect(readClauses('没注意到有疹子。', 'zh').some(({ unsure }) => unsure)).toBe(false)
  })
})
