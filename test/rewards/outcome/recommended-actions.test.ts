import { describe, expect, test } from 'vitest'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import {
  findRecommendedActions,
  indexActions,
} from '../../../src/rewards/outcome/recommended-actions.js'
import { fc } from '../../fixtures/property.js'

const knowledge = loadKnowledge()
const all = [...knowledge.actions].map(([id, text]) => ({ id, text }))
const index = indexActions(all)
const found = (text: string) => [...findRecommendedActions(text, index)].sort()

test('every action of the bank is found in its own words, and no other is', () => {
  for (const { id, text } of all)
    for (const own of [text.en, text.zh, text.en.toUpperCase(), `- ${text.en}`])
      expect([own, found(own)]).toEqual([own, [id]])
})

test('every action is found among all the others', () => {
  expect(found(all.map(({ text }) => text.zh).join(''))).toHaveLength(all.length)
  expect(found(all.map(({ text }) => text.en).join('\n'))).toHaveLength(all.length)
})

test('and not where it is denied', () => {
  for (const { id, text } of all)
    for (const denied of [`Do not: ${text.en}`, `不要${text.zh}`])
      expect([denied, found(denied)]).toEqual([denied, expect.not.arrayContaining([id])])
})

describe('in free words', () => {
  test.each<[string, string[]]>([
    ['You should take an acid blocker for a course of six weeks.', ['acid-blocker']],
    ['Start with oxygen, and monitor the saturation.', ['oxygen-therapy']],
    ['First, rest; second, drink plenty of fluids.', []],
    ['Please rest, and drink plenty of fluids.', ['rest-and-fluids']],
    ['1. Give a sedative\n2. Give strong pain relief', ['sedative', 'strong-pain-relief']],
    ['建议使用镇静药，并给予足量镇痛', ['sedative', 'strong-pain-relief']],
    ['无禁忌时嚼服阿司匹林；立即呼叫急救。', ['aspirin-load', 'call-emergency']],
    // The longer action is not also the shorter one inside it.
    ['Give intensive antibiotic eye drops.', ['eye-antibiotic-drops']],
    ['Stop anti-inflammatory painkillers.', ['stop-painkillers']],
    ['An illness', []],
    ['', []],
  ])('%s', (text, ids) => {
    expect(found(text)).toEqual(ids)
  })
})

describe('what is denied is not recommended', () => {
  test.each<[string, string[]]>([
    ['Do not give a sedative.', []],
    ["Don't ever give a sedative!", []],
    ['Never give a sedative.', []],
    ['Avoid giving a sedative or a beta-blocker.', []],
    ['A sedative should be avoided.', []],
    ['A sedative is contraindicated here.', []],
    ['Give strong pain relief without a sedative.', []],
    ['不要使用镇静药。', []],
    ['避免使用镇静药。', []],
    ['镇静药禁用。', []],
    ['切勿给予镇静药，立即呼叫急救。', ['call-emergency']],
    // A denial goes on through the list behind it, and ends with the next thing to do.
    ['Avoid strong coffee, sedative tablets, and a beta-blocker.', []],
    ['Do not drive, but give a sedative.', ['sedative']],
    ['Do not worry, take an acid blocker.', ['acid-blocker']],
    ['Do not stop there. Give a sedative.', ['sedative']],
    // Twice denied is affirmed.
    ['Do not hesitate to give a sedative.', ['sedative']],
    ['不要停用非甾体止痛药。', ['anti-inflammatory-painkiller']],
    // Conditions are no denials.
    ['Give a sedative unless she is not breathing well.', ['sedative']],
    ['Not only give a sedative but call emergency services.', ['call-emergency', 'sedative']],
  ])('%s', (text, ids) => {
    expect(found(text)).toEqual(ids)
  })
})

test('any text has some of the actions, and a long one is read in no time worth counting', () => {
  const ids = new Set(all.map(({ id }) => id))
  const pieces = fc.array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...all.map(({ text }) => text.en))),
  )
  fc.assert(
    fc.property(pieces, (texts) => {
      for (const id of findRecommendedActions(texts.join(' '), index)) expect(ids).toContain(id)
    }),
  )
})

test('an action without a word of its own is never found', () => {
  const empty = indexActions([
    { id: 'nothing', text: { en: 'the' } },
    { id: 'x', text: {} },
  ])
  expect([...findRecommendedActions('the', empty)]).toEqual([])
})
