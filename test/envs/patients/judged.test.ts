import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { findingAttributes } from '../../../src/knowledge/schema.js'
import { clerkingTopics, followUps, judgedQuestions, turnLabels } from '../../fixtures/judged.js'

const knowledge = loadKnowledge()
const asides: { asides: { id: string }[] } = JSON.parse(
  readFileSync(new URL('../../../data/knowledge/asides.json', import.meta.url), 'utf8'),
)
const topicIds = new Set([...asides.asides.map(({ id }) => id), ...Object.keys(clerkingTopics())])
const languages = ['en', 'zh'] as const
// How often is asked for, though the base has no such attribute.
const attributes = new Set<string>([...findingAttributes, 'frequency'])

const unknownFindings = (ids: readonly string[]) => ids.filter((id) => !knowledge.finding.has(id))
const unknownTopics = (ids: readonly string[] = []) => ids.filter((id) => !topicIds.has(id))
const repeated = (texts: readonly string[]) =>
  texts.filter((text, index) => texts.indexOf(text) < index)
const number = (rows: readonly { lang: string }[], language: string) =>
  rows.filter(({ lang }) => lang === language).length

describe('question sets f and g', () => {
  const sets = { f: judgedQuestions('f'), g: judgedQuestions('g') }
  const all = [...sets.f, ...sets.g]

  test.each(['f', 'g'] as const)('set %s has 400 questions a language, of every kind', (set) => {
    for (const language of languages) {
      const own = sets[set].filter(({ lang }) => lang === language)
      expect(own.length).toBeGreaterThanOrEqual(400)
      expect([...new Set(own.map(({ kind }) => kind))].sort()).toEqual([
        'chatter',
        'colloquial',
        'diagnosis',
        'exam',
        'family',
        'list',
        'negation',
        'plain',
        'typo',
      ])
    }
  })

  test('name findings and topics that exist', () => {
    expect(
      all.flatMap(({ findings, also = [] }) => unknownFindings([...findings, ...also])),
    ).toEqual([])
    expect(all.flatMap(({ topics }) => unknownTopics(topics))).toEqual([])
  })

  test('ask for something unless they are small talk or talk about an examination', () => {
    const idle = all.filter(({ findings, topics = [] }) => findings.length + topics.length === 0)
    expect([...new Set(idle.map(({ kind }) => kind))].sort()).toEqual(['chatter', 'exam'])
    expect(all.filter(({ kind, findings }) => kind === 'chatter' && findings.length > 0)).toEqual(
      [],
    )
  })

  test('hold no text twice', () => {
    expect(repeated(all.map(({ text }) => text.toLowerCase().replace(/[\p{P}\s]/gu, '')))).toEqual(
      [],
    )
  })
})

describe('follow-ups', () => {
  const all = followUps()

  test('are 200 a language, with one to three exchanges before the question', () => {
    for (const language of languages) expect(number(all, language)).toBeGreaterThanOrEqual(200)
    expect(all.filter(({ before }) => before.length < 1 || before.length > 3)).toEqual([])
    expect(repeated(all.map(({ before, text }) => JSON.stringify([before, text])))).toEqual([])
  })

  test('name findings, topics and attributes that exist, and ask for one', () => {
    for (const { complaint, before, findings, topics, attribute, text } of all) {
      const told = before.flatMap((turn) => turn.told.map(({ finding }) => finding))
      expect(unknownFindings([complaint, ...told, ...findings]), text).toEqual([])
      expect(unknownTopics(topics), text).toEqual([])
      expect(findings.length + (topics?.length ?? 0), text).toBeGreaterThan(0)
      if (attribute) expect(attributes, text).toContain(attribute)
    }
  })
})

describe('labels of recorded questions', () => {
  const all = turnLabels()

  test('are 300 a language, each of another turn', () => {
    for (const language of languages) expect(number(all, language)).toBeGreaterThanOrEqual(300)
    expect(repeated(all.map(({ lang, id, turn }) => `${lang}/${id}/${turn}`))).toEqual([])
  })

  test('name findings, topics and attributes that exist', () => {
    for (const { id, turn, complaint, findings, topics, attribute } of all) {
      expect(unknownFindings([complaint, ...findings]), `${id}/${turn}`).toEqual([])
      expect(unknownTopics(topics), `${id}/${turn}`).toEqual([])
      if (attribute) expect(attributes, `${id}/${turn}`).toContain(attribute)
    }
  })

  test('hold ids and numbers only, no word of a recording', () => {
    const fields = ['id', 'turn', 'lang', 'complaint', 'kind', 'findings', 'attribute', 'topics']
    for (const label of all) {
      expect(Object.keys(label).filter((field) => !fields.includes(field))).toEqual([])
      expect(JSON.stringify(label)).toMatch(/^[\x21-\x7e]+$/)
    }
  })
})
