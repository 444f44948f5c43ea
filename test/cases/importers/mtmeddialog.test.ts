import { existsSync } from 'node:fs'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { doctorView, primaryDiagnosis } from '../../../src/case.js'
import { importers } from '../../../src/cases/importers/import.js'
import type { ImportResult } from '../../../src/cases/importers/import-report.js'
import { importMtmeddialog } from '../../../src/cases/importers/mtmeddialog.js'
import { diagnosisTerms, headTerm } from '../../../src/cases/importers/recorded-gold.js'
import { Fault } from '../../../src/error.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import {
  type Consultation,
  consultations,
  rowsOf,
  shuffledRows,
  writeMtmeddialog,
} from '../../fixtures/mtmeddialog.js'

const realFile = join(import.meta.dirname, '../../../shared/data/MTMedDialog_sft_val.parquet')

/** All but the one whose diagnosis names no disease. */
const made = consultations.length - 1
let folder: string
let imported: ImportResult
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-mtmeddialog-'))
  const path = join(folder, 'all.parquet')
  await writeMtmeddialog(path)
  imported = await importMtmeddialog(path)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const about = (complaint: string, { cases } = imported): Case => {
  const found = cases.find((truth) =>
    Object.values(truth.chiefComplaint.text).some((text) => text?.startsWith(complaint)),
  )
  if (!found) throw new Error(`no case about ${complaint}`)
  return found
}
const importRows = async (name: string, rows: readonly object[]): Promise<ImportResult> => {
  const path = join(folder, `${name}.parquet`)
  await writeMtmeddialog(path, rows)
  return importMtmeddialog(path)
}
const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.catch((thrown: unknown) => thrown)
  if (!Fault.is(error)) throw new Error(`expected a Fault, got ${error}`)
  return error
}

describe('an MTMedDialog file', () => {
  test('becomes one case per consultation, however its rows are mixed', async () => {
    const sorted = await importRows('sorted', consultations.flatMap(rowsOf))
    const ids = (list: readonly Case[]) => list.map(({ id }) => id).sort()
    expect(imported.cases).toHaveLength(made)
    expect(ids(sorted.cases)).toEqual(ids(imported.cases))
    expect(imported.report).toMatchObject({
      format: 'mtmeddialog',
      ok: made,
      rows: shuffledRows().length,
      redistributable: false,
    })
  })

  test('groups rows by content, so that row numbers in place of case numbers change nothing', async () => {
    const numbered = shuffledRows().map((row, i) => ({ ...row, extra_info: { index: BigInt(i) } }))
    const { cases } = await importRows('numbered', numbered)
    expect(cases).toEqual(imported.cases)
  })

  test('gives cases that the schema reads back unchanged', () => {
    for (const truth of imported.cases)
      expect(caseSchema.parse(JSON.parse(JSON.stringify(truth)))).toEqual(truth)
  })

  test('keeps recorded exchanges as findings with the joined words of both sides', () => {
    const { findings, exams, examDefault } = about('My upper belly burns')
    expect(findings.map(({ id }) => id)).toEqual(['exchange-1', 'exchange-2', 'exchange-3'])
    expect(findings[0]).toMatchObject({
      kind: 'symptom',
      state: 'present',
      knownBy: 'patient',
      weight: 1,
      question: { en: 'Hello, how long has it burned?' },
      utterance: { en: 'Hello, About three weeks.' },
    })
    expect({ exams, examDefault }).toEqual({ exams: [], examDefault: 'unavailable' })
  })

  test('leaves out an exchange without an answer, keeps the numbers of the others, and warns', () => {
    const truth = about('Loose stools')
    expect(truth.findings.map(({ id }) => id)).toEqual(['exchange-1', 'exchange-3'])
    expect(imported.report.warnings).toContainEqual({
      row: 1,
      message: `${truth.id}: exchange-2 has no recorded answer and was left out`,
    })
  })

  test('takes sex and age out of the description, in years or months, and the instructions off it', () => {
    expect(doctorView(about('Pain low on the right side'))).toMatchObject({
      complaint: { en: 'Pain low on the right side, worse when I walk.' },
      demographics: { sex: 'M', age: { v: 23, unit: 'year' } },
    })
    expect(about('My baby').demographics).toMatchObject({ sex: 'M', age: { v: 8, unit: 'month' } })
    expect(about('I have had a runny nose').demographics.age).toEqual({ v: 19, unit: 'year' })
  })

  test('takes the last of two tags, and none where there is none, with a warning each', () => {
    expect(about('For my mother').demographics).toMatchObject({ sex: 'F', age: { v: 58 } })
    expect(about('I have gastritis').demographics).toEqual({ speaker: 'self' })
    const warnings = imported.report.warnings.map(({ message }) => message).join('\n')
    expect(warnings).toContain(`${about('For my mother').id}: the description gives sex and age 2`)
    expect(warnings).toContain(`${about('I have gastritis').id}: the description gives neither`)
  })

  test('writes a Chinese consultation in Chinese, and one with Chinese leftovers in English', () => {
    const chinese = about('胃胀两周')
    expect(chinese.chiefComplaint.text).toEqual({ zh: '胃胀两周，饭后更明显' })
    expect(chinese.demographics).toMatchObject({ sex: 'F', age: { v: 33, unit: 'year' } })
    expect(primaryDiagnosis(chinese.gold).name).toEqual({ zh: '慢性胃炎' })
    expect(about('My baby').findings[1]?.utterance).toEqual({ en: 'Formula 加 rice cereal.' })
  })

  test('names the disease, keeps the sentence as an alias and the advice as the recommendation', () => {
    const { gold } = about('My upper belly burns')
    expect(primaryDiagnosis(gold)).toMatchObject({
      role: 'primary',
      name: { en: 'chronic superficial gastritis' },
      aliases: [consultations[0]?.diagnosis],
    })
    expect(gold.acceptable).toMatchObject([{ name: { en: 'gastritis' }, credit: 0.5 }])
    expect(gold.recommendation).toEqual({ en: consultations[0]?.recommendation })
  })

  test('gives half the credit to what is named beside the primary disease or instead of it', () => {
    const beside = about('Stomach cramps').gold
    expect(beside.dx.map(({ role, name }) => [role, name.en])).toEqual([
      ['primary', 'gastritis'],
      ['comorbid', 'enteritis'],
    ])
    expect(beside.acceptable).toMatchObject([{ name: { en: 'enteritis' }, credit: 0.5 }])
    expect(about('Hard stools').gold.acceptable).toMatchObject([{ name: { en: 'hemorrhoids' } }])
  })

  test('refuses a diagnosis that names no disease, and counts those cut out of a sentence', () => {
    const sentence = consultations.find(({ description }) => description.startsWith('I feel sick'))
    const reason = `expected a diagnosis that names a disease, got ${JSON.stringify(sentence?.diagnosis)}`
    expect(imported.report.skipped).toEqual([
      { row: expect.any(Number), path: 'reward_model.ground_truth.diagnosis', reason },
    ])
    // Of those made, one is the bare name.
    expect(imported.report.warnings.map(({ message }) => message)).toContain(
      `${made - 1} diagnoses were sentences and were cut to the diseases they name`,
    )
  })

  test('flags every place where the doctor reads or hears a gold diagnosis, and no other', () => {
    const { id } = about('I have gastritis')
    expect(imported.report.leaks).toEqual([
      { case: id, where: 'doctor.complaint.en', phrase: 'gastritis' },
      { case: id, where: 'patient.findings.exchange-1.utterance.en', phrase: 'gastritis' },
    ])
  })

  test('skips broken rows with their number, place and reason, and imports the rest', async () => {
    const [good = [], other = []] = consultations.map(rowsOf)
    const gold = { diagnosis: 'The diagnosis is enteritis.', recommendation: 'Rest.' }
    const { cases, report } = await importRows('broken', [
      ...good,
      { ...other[0], reward_model: { ground_truth: gold, patient_information: [] } },
      {
        ...other[0],
        reward_model: { ...other[0]?.reward_model, ground_truth: { ...gold, diagnosis: ' ' } },
      },
      { ...other[0], prompt: [{ role: 'user', content: 'Hello' }] },
      {
        ...other[0],
        reward_model: {
          ground_truth: gold,
          patient_information: [{ doctor_question: ['Any pain?'], patient_response: null }],
        },
      },
    ])
    expect(cases).toHaveLength(1)
    expect(report.ok).toBe(1)
    expect(report.skipped.map(({ row, path }) => [row - good.length, path])).toEqual([
      [0, 'reward_model.patient_information'],
      [1, 'reward_model.ground_truth.diagnosis'],
      [2, 'prompt'],
      [3, 'reward_model.patient_information'],
    ])
    for (const { reason } of report.skipped) expect(reason).not.toBe('')
  })

  test('reads the single templated message of the reinforcement-learning file as well', async () => {
    const [row] = rowsOf(consultations[3] as Consultation, 0)
    const content = `<|im_start|>user\nRules.\nPatient's description: Pain low on the right side, worse when I walk (male, 23 years old).\n\n\nDecide next action:\nAlways output<|im_end|>\n<|im_start|>assistant\n<think>`
    const { cases } = await importRows('rl', [{ ...row, prompt: [{ role: 'user', content }] }])
    expect(cases[0]?.chiefComplaint.text.en).toBe('Pain low on the right side, worse when I walk.')
    expect(cases[0]?.id).toBe(about('Pain low on the right side').id)
  })

  test('is imported under its format name', async () => {
    const path = join(folder, 'named.parquet')
    await writeMtmeddialog(path, shuffledRows())
    expect(await importers.mtmeddialog?.(path)).toEqual(await importMtmeddialog(path))
  })
})

describe('a file that is no MTMedDialog file is refused before any case is made', () => {
  test('a missing column is named, with what was found and what was expected', async () => {
    const path = join(folder, 'column.parquet')
    await writeMtmeddialog(path, shuffledRows(), { drop: ['reward_model'] })
    const { code, message } = await faultOf(importMtmeddialog(path))
    expect(code).toBe('bad-input')
    expect(message).toContain(`${path}: column \`reward_model\` is missing`)
    expect(message).toContain('expected prompt.role, prompt.content, reward_model.ground_truth')
    expect(message).toContain('found data_source, prompt, extra_info, response')
  })

  test('a text file, a torn file and a missing file are told apart', async () => {
    const text = join(folder, 'text.parquet')
    await writeFile(text, '{"not":"parquet"}\n')
    expect((await faultOf(importMtmeddialog(text))).message).toContain('not a whole parquet file')
    const torn = join(folder, 'torn.parquet')
    await writeMtmeddialog(torn)
    await truncate(torn, 2000)
    expect((await faultOf(importMtmeddialog(torn))).message).toContain('expected PAR1 at both ends')
    const missing = await faultOf(importMtmeddialog(join(folder, 'none.parquet')))
    expect([missing.code, missing.message]).toEqual([
      'bad-input',
      expect.stringContaining('ENOENT'),
    ])
  })

  test('a damaged footer is a fault of the file', async () => {
    const path = join(folder, 'footer.parquet')
    await writeFile(path, `PAR1${'\u0001'.repeat(40)}\u0010\u0000\u0000\u0000PAR1`)
    expect((await faultOf(importMtmeddialog(path))).message).toContain(
      'the parquet file is damaged',
    )
  })
})

describe('the disease in a recorded diagnosis', () => {
  test.each([
    ['The diagnosis is appendicitis.', ['appendicitis']],
    ['Migraine', ['migraine']],
    ['Gastritis, Enteritis', ['gastritis', 'enteritis']],
    ['Based on your cough, fever and chills, it appears you may have pneumonia.', ['pneumonia']],
    ['Based on what you say you have tonsillitis', ['tonsillitis']],
    ['Your father is currently diagnosed with gout, likely linked to his diet.', ['gout']],
    ['It’s likely that you’re coming down with a cold.', ['cold']],
    ['You have enteritis, an inflammation of the gut.', ['enteritis']],
    ['This appears to be a mild case of otitis media, triggered by swimming.', ['otitis media']],
    ['The site of your pain suggests a case of appendicitis.', ['appendicitis']],
    ['You have asthma, eczema, and a cold.', ['asthma', 'eczema', 'cold']],
    [
      'You have a cold, likely accompanied by sinusitis due to the blocked nose.',
      ['cold', 'sinusitis'],
    ],
    ['It is highly unlikely that you have cirrhosis.', []],
    ['You do not meet the criteria of gout, but you may have bursitis.', ['bursitis']],
    ['You are experiencing side effects from your tablets.', []],
    ['初步诊断：急性肠炎，由不洁饮食引起', ['急性肠炎']],
    ['您可能患有感冒', ['感冒']],
    ['胃炎合并胆囊炎', ['胃炎', '胆囊炎']],
    ['没有阑尾炎的表现', []],
  ])('"%s" names %j', (sentence, named) => {
    expect(diagnosisTerms(sentence).named).toEqual(named)
  })

  test('alternatives and closer wordings are kept apart from what is certain', () => {
    expect(
      diagnosisTerms('You may have bronchitis or pneumonia, caused by smoking or dust.'),
    ).toEqual({ named: ['bronchitis'], alternatives: ['pneumonia'], variants: [] })
    expect(diagnosisTerms('You may have angina, reflux, or costochondritis.')).toMatchObject({
      named: ['angina'],
      alternatives: ['reflux', 'costochondritis'],
    })
    expect(
      diagnosisTerms('You have migraine (hemicrania), specifically migraine with aura.'),
    ).toEqual({
      named: ['migraine'],
      alternatives: [],
      variants: ['hemicrania'],
    })
    expect(
      diagnosisTerms('You have gastritis, specifically chronic erosive gastritis.').variants,
    ).toEqual(['chronic erosive gastritis'])
    expect(diagnosisTerms('You have gout. It is specifically uric arthritis.').variants).toEqual([])
    expect(diagnosisTerms('考虑胃炎，不排除胃溃疡').alternatives).toEqual(['胃溃疡'])
  })

  test('the head of a term has no qualifiers', () => {
    expect(headTerm('chronic superficial gastritis')).toBe('gastritis')
    expect(headTerm('gastric ulcer')).toBe('gastric ulcer')
    expect(headTerm('慢性浅表性胃炎')).toBe('胃炎')
  })
})

describe('counts hold on the fixture, and on the published file where it is present', () => {
  test('every row is read, every case has a question, and nearly all have a disease', async () => {
    const files = [join(folder, 'all.parquet'), ...(existsSync(realFile) ? [realFile] : [])]
    for (const path of files) {
      const { cases, report } = await importMtmeddialog(path)
      const [ok, rows] = path === realFile ? [99, 549] : [made, shuffledRows().length]
      expect([report.ok, cases.length, report.rows]).toEqual([ok, ok, rows])
      expect(report.skipped).toHaveLength(1)
      expect(new Set(cases.map(({ id }) => id)).size).toBe(ok)
      for (const truth of cases) {
        expect(truth.findings.length).toBeGreaterThan(0)
        expect(Object.values(primaryDiagnosis(truth.gold).name).join().length).toBeLessThan(60)
      }
    }
  })
})

describe('the JSON formats', () => {
  const asJson = consultations.map(({ description, exchanges, diagnosis, recommendation }) => ({
    self_report: description,
    dialogue: exchanges.map(({ doctor, patient }) => ({
      doctor_question: doctor,
      patient_response: patient,
    })),
    ...{ diagnosis, recommendation, enhanced_description: 'SECRET', category: 'Digestive' },
  }))
  const importJson = async (name: string, text: string): Promise<ImportResult> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return importMtmeddialog(path)
  }
  const oneALine = asJson.map((row) => JSON.stringify(row)).join('\n')

  test('an array and lines give the cases of the Parquet file, with its ids and its report', async () => {
    const byId = (cases: readonly Case[]) => [...cases].sort((a, b) => (a.id < b.id ? -1 : 1))
    const files = [
      await importJson('test.json', JSON.stringify(asJson, null, 2)),
      await importJson('rows.jsonl', oneALine),
    ]
    for (const { cases, report } of files) {
      expect(byId(cases)).toEqual(byId(imported.cases))
      expect(report.rows).toBe(consultations.length)
      expect(report.skipped.map(({ path }) => path)).toEqual(['diagnosis'])
      expect(report.leaks).toEqual(imported.report.leaks)
      expect(JSON.stringify(cases)).not.toContain('SECRET')
    }
  })

  test('a broken line is skipped with its number and reason', async () => {
    const bad = JSON.stringify({ ...asJson[0], dialogue: [] })
    const { cases, report } = await importJson('bad.jsonl', `${oneALine}\n{"self\n${bad}`)
    expect(cases).toHaveLength(made)
    const last = report.skipped.slice(-2)
    expect(last.map(({ row, path }) => [row, path])).toEqual([
      [consultations.length, ''],
      [consultations.length + 1, 'dialogue'],
    ])
    expect(last[0]?.reason).toContain('not JSON')
  })

  test('rows of another format are refused with the keys found, and what to do', async () => {
    const converted = { messages: [], extra_info: { chief_complaint: 'x' } }
    const { code, message } = await faultOf(importJson('mrlx.jsonl', JSON.stringify(converted)))
    expect(code).toBe('bad-input')
    expect(message).toContain('found messages, extra_info')
    expect(message).toContain('import the Parquet file it was made from')
    const other = await faultOf(importJson('other.json', '[{"question": 1}]'))
    expect(other.message).toContain('expected rows with self_report, dialogue')
  })
})

describe('what is corrected', () => {
  const importOne = async (
    name: string,
    self_report: string,
    ...dialogue: readonly (readonly [string, string])[]
  ) => {
    const path = join(folder, `${name}.jsonl`)
    const exchanges = dialogue.map(([doctor, patient]) => ({
      ...{ doctor_question: [doctor], patient_response: [patient] },
    }))
    const row = { self_report, dialogue: exchanges, diagnosis: 'The diagnosis is a cold.' }
    await writeFile(path, JSON.stringify(row))
    return importMtmeddialog(path)
  }

  test('an exchange in which the translation swapped doctor and patient is left out', async () => {
    const { cases, report } = await importOne(
      'swapped',
      'My baby has a runny nose',
      ['How old is the child?', '10 months old'],
      ['What should we do if the child refuses medicine?', 'You should give it slowly.'],
    )
    expect(cases[0]?.findings.map(({ id }) => id)).toEqual(['exchange-1'])
    expect(report.warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('exchange-2 has its speakers swapped'),
    )
    expect(cases[0]?.demographics).toEqual({ age: { v: 10, unit: 'month' }, speaker: 'caregiver' })
  })
})
