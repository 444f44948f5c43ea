import { describe, expect, test } from 'vitest'
import { loadKnowledge } from '../../src/knowledge/load.js'
import {
  openingPolarity,
  replyOpenings,
  withOpening,
  withoutOpening,
} from '../../src/text/reply-openings.js'

const languages = ['en', 'zh'] as const
const said = loadKnowledge()
  .findings.filter(({ knownBy }) => knownBy === 'patient')
  .flatMap(({ say }) => Object.values(say))

test.each([
  ['en', 'Yes, I keep coughing.', 'yes', 'I keep coughing.'],
  ['en', 'No, my throat is fine.', 'no', 'My throat is fine.'],
  ['en', 'Nobody I know has been ill.', undefined, undefined],
  ['zh', '有，头挺疼的。', 'yes', '头挺疼的。'],
  ['zh', '没有，不烧。', 'no', '不烧。'],
  ['zh', '疼，眼珠子里头疼。', undefined, undefined],
  ['zh', '没有痰，是干的。', undefined, undefined],
] as const)('in %s "%s" opens with %s', (language, sentence, polarity, core) => {
  expect(openingPolarity(sentence, language)).toBe(polarity)
  expect(withoutOpening(sentence, language)).toBe(core)
})

describe.each(languages)('every opening in %s', (language) => {
  const openings = Object.values(replyOpenings).flatMap((of) => of[language])

  test('comes off again from every sentence of the base', () => {
    for (const text of said.flatMap((of) => of[language])) {
      const core = withoutOpening(text, language) ?? text
      for (const opening of openings)
        expect(withoutOpening(withOpening(opening, core, language), language)).toBe(core)
    }
  })

  test('ends before a sentence, not within a word', () => {
    for (const opening of openings) expect(opening).toMatch(language === 'en' ? /[ ]$/ : /，$/)
  })
})
