import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { mineActionSpace } from '../../../src/cases/importers/mine-action-space.js'
import { importMtmeddialog } from '../../../src/cases/importers/mtmeddialog.js'
import { Fault } from '../../../src/error.js'
import type { ActionSpace } from '../../../src/knowledge/action-space.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import { consultations, writeMtmeddialog } from '../../fixtures/mtmeddialog.js'
import { fc } from '../../fixtures/property.js'

let folder: string
let cases: readonly Case[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-mine-'))
  const path = join(folder, 'all.parquet')
  await writeMtmeddialog(path)
  cases = (await importMtmeddialog(path)).cases
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Dialogue {
  readonly asks: readonly string[]
  readonly dx: string
  readonly advice?: string
  readonly language?: 'zh' | 'en'
}
const dialogue = ({ asks, dx, advice, language = 'en' }: Dialogue, n: number): Case =>
  caseSchema.parse({
    schema: 'bedside-case/1',
    id: `case-${n}`,
    provenance: { source: 'test', license: 'CC0-1.0', synthetic: true, redistributable: true },
    demographics: {},
    chiefComplaint: { text: { [language]: `complaint ${n}` }, findings: [] },
    findings: asks.map((text, i) => ({
      id: `exchange-${i + 1}`,
      kind: 'symptom',
      state: 'present',
      knownBy: 'patient',
      question: { [language]: text },
      utterance: { [language]: 'yes' },
    })),
    exams: [],
    examDefault: 'unavailable',
    gold: {
      dx: [{ id: dx, name: { [language]: dx }, role: 'primary' }],
      ...(advice ? { recommendation: { [language]: advice } } : {}),
    },
  })
const asked = ({ actions }: ActionSpace) =>
  actions.flatMap((action) => (action.kind === 'ask' ? action.text : []))
const concluded = ({ actions }: ActionSpace) =>
  actions.flatMap((action) => (action.kind === 'diagnose' ? action : []))

describe('a mined vocabulary', () => {
  test('asks each kind of question once, the most frequent first, without greetings', () => {
    const mined = mineActionSpace(
      [
        { asks: ['Hello, do you have a fever?', 'Any cough?'], dx: 'flu' },
        { asks: ['Do you have a fever? Any rash on the skin?'], dx: 'flu' },
        { asks: ['Okay. Do you have a fever?', 'Do you have a cough?'], dx: 'cold' },
      ].map(dialogue),
      { language: 'en' },
    )
    expect(asked(mined)).toEqual(['Do you have a fever?', 'Any cough?', 'Any rash on the skin?'])
  })

  test('says nothing that is no question', () => {
    const mined = mineActionSpace(
      [
        dialogue(
          { asks: ['Please rest. Thank you.', 'Hello?', 'Take this. Any pain?'], dx: 'flu' },
          0,
        ),
      ],
      { language: 'en' },
    )
    expect(asked(mined)).toEqual(['Any pain?'])
  })

  test('concludes every diagnosis once, the most frequent first, with its commonest advice', () => {
    const mined = mineActionSpace(
      [
        { asks: [], dx: 'cold', advice: 'Rest.' },
        { asks: [], dx: 'flu', advice: 'Drink.' },
        { asks: [], dx: 'flu', advice: 'Sleep.' },
        { asks: [], dx: 'flu', advice: 'Sleep.' },
        { asks: [], dx: 'asthma' },
      ].map(dialogue),
      { language: 'en' },
    )
    expect(concluded(mined)).toEqual([
      { kind: 'diagnose', diagnosis: 'flu', recommendation: 'Sleep.' },
      { kind: 'diagnose', diagnosis: 'asthma' },
      { kind: 'diagnose', diagnosis: 'cold', recommendation: 'Rest.' },
    ])
  })

  test('is the same, to its fingerprint, in whatever order the cases come', () => {
    const { fingerprint } = mineActionSpace(cases, { language: 'en' })
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...cases], { minLength: cases.length }),
        (order) => mineActionSpace(order, { language: 'en' }).fingerprint === fingerprint,
      ),
      { numRuns: 30 },
    )
  })

  test('of the fixture asks no more than its limit, orders nothing, and speaks one language', () => {
    const whole = mineActionSpace(cases, { language: 'en' })
    const short = mineActionSpace(cases, { language: 'en', maxQuestions: 5, maxDiagnoses: 2 })
    expect(asked(whole).length).toBeGreaterThan(15)
    expect(asked(whole)[0]).toBe('Do you have a fever?')
    expect(asked(short)).toEqual(asked(whole).slice(0, 5))
    expect(concluded(short)).toEqual(concluded(whole).slice(0, 2))
    expect(whole.actions.some(({ kind }) => kind === 'order')).toBe(false)
    expect(whole.actions.every((action) => !/\p{Script=Han}/u.test(JSON.stringify(action)))).toBe(
      true,
    )
    const chinese = mineActionSpace(cases, { language: 'zh' })
    expect(concluded(chinese).map(({ diagnosis }) => diagnosis)).toEqual(['慢性胃炎'])
    expect([...asked(chinese)].sort()).toEqual(['喝酒吗？', '平时吃辣吗？', '有反酸吗？'].sort())
  })

  test('holds the primary term of every training case in its language', () => {
    const names = new Set(
      concluded(mineActionSpace(cases, { language: 'en' })).map((a) => a.diagnosis),
    )
    expect(names.size).toBeLessThan(consultations.length)
    for (const { gold } of cases)
      if (gold.dx[0]?.name.en) expect(names).toContain(gold.dx[0].name.en)
  })

  test('cannot be mined from cases of another language, or from none', () => {
    const english = cases.filter(({ chiefComplaint }) => chiefComplaint.text.en)
    for (const list of [english, []]) {
      const mine = () => mineActionSpace(list, { language: 'zh' })
      expect(mine).toThrow(`a diagnosis in zh, got ${list.length} cases and none with one`)
      expect(mine).toThrow(Fault)
    }
  })
})
