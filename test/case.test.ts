import { describe, expect, expectTypeOf, test } from 'vitest'
import type { ExaminerView, PatientView } from '../src/case.js'
import {
  doctorView,
  examinerView,
  graderView,
  patientView,
  primaryDiagnosis,
  textInLanguage,
} from '../src/case.js'
import type { ExamContext, ExamSimulator } from '../src/exam.js'
import type { Patient, PatientContext } from '../src/patient.js'
import type { Reward } from '../src/reward.js'
import { caseSchema } from '../src/storage/case-schema.js'
import { tinyExams, tinyLung, tinyPatient, tinyReward } from './fixtures/tiny.js'

/** Everything a view holds, as text. */
const contents = (view: object): string =>
  JSON.stringify(view, (_, value) => (value instanceof Map ? [...value] : value))

const minimal = {
  schema: 'bedside-case/1',
  id: 'a',
  provenance: { source: 'x', license: 'y', synthetic: true, redistributable: false },
  demographics: {},
  chiefComplaint: { text: { en: 'It hurts.' }, findings: [] },
  findings: [],
  exams: [],
  examDefault: 'normal',
  gold: { dx: [{ id: 'd', name: { zh: '病' }, role: 'primary' }] },
}

describe('a view', () => {
  test('of the doctor holds who the patient is and the complaint, nothing else', () => {
    expect(doctorView(tinyLung)).toEqual({
      view: 'doctor',
      demographics: tinyLung.demographics,
      complaint: tinyLung.chiefComplaint.text,
    })
  })

  test('of the patient holds what the patient knows, nothing else', () => {
    const { findings, ...rest } = patientView(tinyLung)
    expect([...findings.keys()]).toEqual(['cough', 'fever', 'heartburn'])
    expect(findings.get('fever')).toEqual(tinyLung.findings[1])
    expect(rest).toEqual({
      view: 'patient',
      persona: {},
      demographics: tinyLung.demographics,
      complaint: tinyLung.chiefComplaint,
      noise: { forget: 0, deny: 0, overReport: 0 },
    })
  })

  test('of the examiner holds what examinations find, and the history without the diagnosis', () => {
    const { findings, results, history, ...rest } = examinerView(tinyLung)
    expect([...findings.keys()]).toEqual(['shadow'])
    expect([...results.entries()]).toEqual([['chest-film', tinyLung.exams[0]]])
    expect([...history.keys()]).toEqual(['cough', 'fever', 'heartburn'])
    expect(rest).toEqual({
      view: 'examiner',
      complaint: tinyLung.chiefComplaint.text,
      demographics: tinyLung.demographics,
      examDefault: 'unavailable',
    })
  })

  test('are shared by siblings, so that nobody can write to them', () => {
    const [one, other] = [examinerView(tinyLung), examinerView({ ...tinyLung })]
    for (const name of ['findings', 'results', 'history'] as const) {
      const map = one[name] as Map<string, unknown>
      expect(other[name]).toBe(map)
      for (const write of [() => map.set('x', {}), () => map.delete('shadow'), () => map.clear()])
        expect(write).toThrow(TypeError)
    }
    expect(one.findings.size).toBe(1)
    const changed = patientView({ ...tinyLung, findings: tinyLung.findings.slice(1) })
    expect([...changed.findings.keys()]).toEqual(['fever', 'heartburn'])
  })

  for (const view of [doctorView, patientView, examinerView])
    test(`${view.name} names no diagnosis`, () => {
      expect(contents(view(tinyLung))).not.toMatch(
        /pneumonia|lung infection|肺炎|肺部感染|J18|gold/i,
      )
    })

  test('of the grader alone holds the diagnosis', () => {
    expect(graderView(tinyLung).gold).toBe(tinyLung.gold)
  })

  test('holds nothing that a later version of a case adds', () => {
    const later = { ...tinyLung, secret: 'pneumonia' }
    for (const view of [doctorView, patientView, examinerView, graderView])
      expect(contents(view(later))).not.toContain('secret')
  })
})

describe("another reader's view does not compile", () => {
  const patientContext = { dialogue: [], seed: 0, language: 'en' } as const
  const examContext = { done: [], now: 0, seed: 0, language: 'en' } as const

  test("a patient with the grader's or the examiner's", () => {
    expectTypeOf<Parameters<Patient>[1]['view']>().toEqualTypeOf<PatientView>()
    // @ts-expect-error the grader's view holds the diagnosis
    const graders: PatientContext = { ...patientContext, view: graderView(tinyLung) }
    // @ts-expect-error the examiner's view holds results
    const examiners: PatientContext = { ...patientContext, view: examinerView(tinyLung) }
    // @ts-expect-error the doctor's view knows too little
    const doctors: PatientContext = { ...patientContext, view: doctorView(tinyLung) }
    // @ts-expect-error the case is everybody's view at once
    const truths: PatientContext = { ...patientContext, view: tinyLung }
    expect([graders, examiners, doctors, truths]).toHaveLength(4)
    expect(
      tinyPatient('Do you cough?', { ...patientContext, view: patientView(tinyLung) }),
    ).toBeDefined()
  })

  test("an exam simulator with the grader's or the patient's", () => {
    expectTypeOf<Parameters<ExamSimulator>[1]['view']>().toEqualTypeOf<ExaminerView>()
    // @ts-expect-error the grader's view holds the diagnosis
    const graders: ExamContext = { ...examContext, view: graderView(tinyLung) }
    // @ts-expect-error the patient's view holds no results
    const patients: ExamContext = { ...examContext, view: patientView(tinyLung) }
    expect([graders, patients]).toHaveLength(2)
    expect(tinyExams('chest-film', { ...examContext, view: examinerView(tinyLung) })).toBeDefined()
  })

  test("a reward with anything but the grader's", () => {
    expectTypeOf<Parameters<Reward>[1]['view']>().toEqualTypeOf<'grader'>()
    type Episode = Parameters<Reward>[0]
    // @ts-expect-error the patient's view holds no gold standard
    const wrong = (episode: Episode) => tinyReward(episode, patientView(tinyLung))
    expect(wrong).toBeTypeOf('function')
  })
})

describe('the schema', () => {
  test('fills in what a case leaves out', () => {
    expect(caseSchema.parse(minimal)).toMatchObject({
      demographics: { speaker: 'self' },
      noise: { forget: 0, deny: 0, overReport: 0 },
      gold: { dx: [{ aliases: [], codes: [] }], acceptable: [], redFlags: [], actions: [] },
    })
  })

  test('gives back from JSON what it gave', () => {
    const parsed = caseSchema.parse(minimal)
    expect(caseSchema.parse(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed)
    expect(caseSchema.parse(JSON.parse(JSON.stringify(tinyLung)))).toEqual(tinyLung)
  })

  const refuses = (what: string, change: object, path: string) =>
    test(`refuses ${what}`, () => {
      const { success, error } = caseSchema.safeParse({ ...minimal, ...change })
      expect(success).toBe(false)
      expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(path)
    })

  refuses('another schema', { schema: 'bedside-case/2' }, 'schema')
  refuses('a case without a diagnosis', { gold: { dx: [] } }, 'gold.dx')
  refuses(
    'a complaint in no language',
    { chiefComplaint: { text: {}, findings: [] } },
    'chiefComplaint.text',
  )
  refuses(
    'an impossible age',
    { demographics: { age: { v: 200, unit: 'year' } } },
    'demographics.age.v',
  )
  refuses('a probability above 1', { noise: { forget: 1.5 } }, 'noise.forget')
  refuses('an unknown policy for other examinations', { examDefault: 'guess' }, 'examDefault')
})

describe('inLanguage', () => {
  test('gives the language, or the other one where it is not written', () => {
    expect(textInLanguage({ zh: '病', en: 'ill' }, 'zh')).toBe('病')
    expect(textInLanguage({ en: 'ill' }, 'zh')).toBe('ill')
    expect(textInLanguage({ zh: '病' }, 'en')).toBe('病')
    expect(textInLanguage({}, 'en')).toBe('')
  })
})

describe('primary', () => {
  const dx = (id: string, role: 'primary' | 'comorbid') => ({
    id,
    role,
    name: { en: id },
    aliases: [],
    codes: [],
  })

  test('is the diagnosis of that role, wherever it stands', () => {
    const gold = { ...tinyLung.gold, dx: [dx('diabetes', 'comorbid'), dx('gout', 'primary')] }
    expect(primaryDiagnosis(gold).id).toBe('gout')
  })

  test('is the first where no one has that role', () => {
    expect(primaryDiagnosis({ ...tinyLung.gold, dx: [dx('diabetes', 'comorbid')] }).id).toBe(
      'diabetes',
    )
  })
})
