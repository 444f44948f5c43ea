import { describe, expect, test } from 'vitest'
import { doctorView, examinerView, patientView } from '../../../src/case.js'
import { drawBiography } from '../../../src/cases/generator/biography.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import { containsPhrase } from '../../../src/text/phrase-search.js'

const knowledge = loadKnowledge()
const cases = Array.from({ length: 300 }, (_, n) => caseSource(knowledge, { tier: 'hard' })(n))
const draw = (age: number, sex: 'F' | 'M', seed: number) =>
  drawBiography(knowledge, { age, sex, seed }, new Map()).biography!

describe('a biography', () => {
  test('is drawn with every case, in both languages, and survives the schema', () => {
    for (const truth of cases) {
      expect(Object.keys(truth.biography!).length).toBeGreaterThan(50)
      for (const { zh, en } of Object.values(truth.biography!)) {
        expect(zh).toMatch(/\p{Script=Han}/u)
        expect(en).toMatch(/^[A-Z]/)
      }
    }
    expect(caseSchema.parse(cases[0]).biography).toEqual(cases[0]!.biography)
  })

  test('is known to the patient alone', () => {
    const [truth] = cases
    expect(patientView(truth!).biography).toBe(truth!.biography)
    expect(doctorView(truth!)).not.toHaveProperty('biography')
    expect(examinerView(truth!)).not.toHaveProperty('biography')
  })

  test('names no disease, alias or code of the knowledge base', () => {
    const names = knowledge.diseases
      .flatMap(({ name, aliases }) => [name.zh, name.en, ...aliases.zh, ...aliases.en])
      .map((name) => name.toLowerCase())
    const whole = knowledge.biography
      .flatMap(({ of }) => of.flatMap(({ text }) => [text.zh, text.en]))
      .join('\n')
      .toLowerCase()
    expect(names.filter((name) => name.length > 1 && containsPhrase(whole, name))).toEqual([])
  })

  test('fits age and sex: a child goes to school, a man has no periods, the old are retired', () => {
    for (let seed = 0; seed < 60; seed++) {
      expect(draw(8, 'F', seed).job!.en).toMatch(/school/)
      expect(draw(8, 'M', seed).children!.en).toMatch(/^No/)
      expect(draw(40, 'M', seed).periods!.en).toMatch(/I'm a man/)
      expect(draw(80, 'F', seed).job!.en).toMatch(/retired/)
    }
  })

  test('agrees with itself: nobody single lives with a wife or a husband', () => {
    for (let seed = 0; seed < 200; seed++) {
      const { partner, home } = draw(35, 'F', seed)
      if (/single/.test(partner!.en!)) expect(home!.en).not.toMatch(/two of us|my partner|family/)
    }
  })

  test('is keyed by seed and slot: another slot moves no draw', () => {
    const fewer = { ...knowledge, biography: knowledge.biography.slice(0, 4) }
    for (let seed = 0; seed < 50; seed++) {
      const all = drawBiography(knowledge, { age: 30, sex: 'F', seed }, new Map()).biography!
      const some = drawBiography(fewer, { age: 30, sex: 'F', seed }, new Map()).biography!
      for (const slot of Object.keys(some)) expect(some[slot]).toBe(all[slot])
    }
  })

  test('is left out where the knowledge base has none', () => {
    expect(
      drawBiography({ ...knowledge, biography: [] }, { age: 1, sex: 'F', seed: 1 }, new Map()),
    ).toEqual({})
  })
})
