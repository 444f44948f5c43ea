import { describe, expect, test } from 'vitest'
import type { Episode, EpisodeTurn } from '../../../src/episode.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { plainLanguage, technicalTerms } from '../../../src/rewards/process/plain-language.js'
import { findPhrases, normaliseText, phraseTree } from '../../../src/text/phrase-search.js'
import type { Understanding } from '../../../src/turn.js'
import { ask, diagnose, episodeOf, truthOf } from '../../fixtures/reward-episodes.js'

const saying = (
  text: string,
  understood: Understanding = 'answered',
  answer = 'Yes.',
): EpisodeTurn => ({
  ...ask([], { understood }),
  action: { kind: 'ask', text },
  outcome: { kind: 'answered', text: answer },
})
const judge = async (
  turns: readonly EpisodeTurn[],
  more: Partial<Episode> = {},
  reward = plainLanguage(),
) => (await reward(episodeOf([...turns, diagnose('flu')], more), truthOf())).total

test.each([
  ['Do you get short of breath?', 1],
  ['Do you have dyspnoea?', 0],
  ['Any Haemoptysis, orthopnoea?', 0],
  ['Do you have a productive cough?', 0],
  ['您喘不上气吗？', 1],
  ['您有端坐呼吸吗？', 0],
  ['有没有咯血？', 0],
  ['', 1],
])('%j', async (text, value) => {
  expect(await judge([saying(text)])).toBe(value)
})

test('a word the patient used first is theirs, from then on', async () => {
  const complaint = { en: 'I have dysuria.' }
  const intake = { view: 'doctor', demographics: { speaker: 'self' }, complaint } as const
  expect(await judge([saying('Is the dysuria bad?')], { intake })).toBe(1)
  const told = saying('What did they call it?', 'answered', 'Haematuria, they said.')
  expect(await judge([told, saying('Since when the haematuria?')])).toBe(1)
  expect(await judge([saying('Any haematuria?'), told])).toBe(0.5)
})

test('thanks do not thin hard words out, and a long text is not plain', async () => {
  const hard = saying('Any tenesmus?')
  const thanks = saying('Thank you, that helps.', 'courtesy')
  expect(await judge([hard, ...new Array<EpisodeTurn>(8).fill(thanks)])).toBe(0)
  expect(await judge([thanks, saying('Tell me the diagnosis', 'refused')])).toBe(0)
  expect(await judge([saying('Do you cough? '.repeat(100))])).toBe(0)
  expect(await judge([])).toBe(0)
})

describe('its words', () => {
  const knowledge = loadKnowledge()

  test('are those of the knowledge base too, where it is given', async () => {
    const turns = [saying('Any cephalalgia or pack years?'), saying('您有包年吗？')]
    expect(await judge(turns.slice(1))).toBe(1)
    expect(await judge(turns, {}, plainLanguage({ knowledge }))).toBe(0)
  })

  test('are in none of the first questions it asks', () => {
    const tree = phraseTree(technicalTerms.map((term) => [term, term] as const))
    const first = knowledge.findings
      .filter(({ knownBy }) => knownBy === 'patient')
      .flatMap(({ ask: put }) => [put.zh[0] ?? '', put.en[0] ?? ''])
    expect(
      first.flatMap((text) => findPhrases(tree, normaliseText(text)).map(({ value }) => value)),
    ).toEqual([])
  })

  test('can be replaced', async () => {
    const reward = plainLanguage({ terms: ['sneeze'] })
    expect(await judge([saying('Do you sneeze?'), saying('Any dyspnoea?')], {}, reward)).toBe(0.5)
  })
})
