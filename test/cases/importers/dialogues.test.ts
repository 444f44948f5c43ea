import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Case, patientView, unrecordedDiagnosis } from '../../../src/case.js'
import { importDialogues } from '../../../src/cases/importers/dialogues.js'
import { importers } from '../../../src/cases/importers/import.js'
import type { ImportResult } from '../../../src/cases/importers/import-report.js'
import { profileDemographics, profileFindings } from '../../../src/cases/importers/profile.js'
import { recordPatient } from '../../../src/envs/patients/recorded/record.js'
import { Fault } from '../../../src/error.js'
import type { Exchange, Reply } from '../../../src/patient.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import type { Language } from '../../../src/turn.js'
import { bareDialogue, chineseDialogue, englishDialogue } from '../../fixtures/dialogues.js'
import { fc } from '../../fixtures/property.js'

let folder: string
let imported: ImportResult
const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const lines = (...rows: readonly unknown[]): string =>
  rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-dialogues-'))
  const rows = lines(chineseDialogue, englishDialogue, '', bareDialogue)
  imported = await importDialogues(await write('all.jsonl', rows))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const caseOf = (id: string | number): Case => {
  const found = imported.cases.find((truth) => truth.id === `dialogue-${id}`)
  if (!found) throw new Error(`no case ${id}`)
  return found
}
const patient = recordPatient()
async function ask(truth: Case, language: Language, ...questions: string[]): Promise<Reply[]> {
  const dialogue: Exchange[] = []
  for (const utterance of questions) {
    const context = { view: patientView(truth), dialogue, seed: 0, language }
    dialogue.push({ utterance, reply: await patient(utterance, context) })
  }
  return dialogue.map(({ reply }) => reply)
}
const said = async (truth: Case, language: Language, question: string): Promise<string> =>
  (await ask(truth, language, question))[0]?.text ?? ''

describe('a file of dialogues', () => {
  test('becomes one case a line, with the report of every importer', () => {
    expect(imported.report).toMatchObject({
      ...{ format: 'dialogues', ok: 3, rows: 3, skipped: [], redistributable: false },
    })
    for (const truth of imported.cases) expect(caseSchema.parse(truth)).toEqual(truth)
    expect(importers.dialogues).toBeDefined()
  })

  test('keeps what doctor and patient said, without directions, offers and words of listening', () => {
    const exchanges = caseOf('7').findings.filter(({ question }) => question)
    expect(exchanges.map(({ question, utterance }) => [question?.zh, utterance?.zh])).toEqual([
      ['您好，哪里不舒服？', '大夫，我这两天头疼得厉害，一跳一跳的。'],
      ['疼了多久了？', '断断续续三年了。这回疼了两天。'],
      ['开灯会不会更难受？', '会，我都拉着窗帘。'],
    ])
    const english = caseOf('knee').findings.filter(({ question }) => question)
    expect(english.map(({ utterance }) => utterance?.en)).toEqual([
      "Hi. It's my big toe, doctor, it has been killing me since Monday.",
      'Bright red, and hot. I cannot bear the sheet on it.',
    ])
    expect(imported.report.warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('knee: 1 exchanges in which the doctor asks nothing'),
    )
  })

  test('takes age, sex and complaint from the profile, or else the complaint from the patient', () => {
    expect(caseOf('7').demographics).toMatchObject({ age: { v: 29, unit: 'year' }, sex: 'F' })
    expect(caseOf('knee').demographics).toMatchObject({ age: { v: 51 }, sex: 'M' })
    expect(caseOf('7').chiefComplaint.text).toEqual({ zh: '反复头疼3年，加重2天。' })
    expect(caseOf(3).chiefComplaint.text.en).toBe('I have had a cough for two weeks now.')
  })

  test('grades by the diagnosis, else by the title, and says so; without either not at all', () => {
    expect(caseOf('knee').gold.dx[0]).toMatchObject({ id: 'gout', name: { en: 'gout' } })
    expect(caseOf('7').gold.dx[0]).toMatchObject({ name: { zh: '偏头痛' } })
    expect(caseOf(3).gold.dx[0]).toMatchObject({ id: unrecordedDiagnosis })
    const warnings = imported.report.warnings.map(({ message }) => message)
    expect(warnings).toContainEqual('7: no diagnosis: the title was taken for it, 偏头痛')
    expect(warnings).toContainEqual(expect.stringContaining('3: no diagnosis: the case can be'))
  })

  test('counts the patient who names the diagnosis as a leak', () => {
    expect(imported.report.leaks).toEqual([
      expect.objectContaining({ case: 'dialogue-knee', phrase: 'gout' }),
    ])
  })
})

describe('the patient of a profile', () => {
  test.each([
    ['您多大了？', '我今年29岁。'],
    ['您是做什么工作的？', '我是小学教师。'],
    ['有没有药物过敏？', '对青霉素过敏。'],
    ['输过血吗？', '没有。'],
    ['有没有发烧？', '没有发烧、吐、肢体麻木。'],
    ['以前有高血压吗？', '没有过高血压、糖尿病。'],
    ['家里人有这样的吗？', '母亲有类似头疼。'],
    ['您最担心什么？', '担心脑子里长东西。'],
    ['您希望我们怎么帮您？', '希望您开点止痛药。'],
    ['抽烟吗？', '不吸烟，偶尔饮酒。'],
  ])('answers "%s" from the section it asks for', async (question, answer) => {
    expect(await said(caseOf('7'), 'zh', question)).toBe(answer)
  })

  test.each([
    ['How old are you?', "I'm 51."],
    ['Have you had a fever?', 'I have no fever.'],
    ['Does anything run in your family?', 'My mother had gout.'],
    ['Are you allergic to anything?', 'No known drug allergies.'],
    ['Do you smoke at all?', 'I smoke ten a day.'],
    ['Any swelling?', 'I have swelling since Monday.'],
  ])('answers "%s" from the text it is about', async (question, answer) => {
    expect(await said(caseOf('knee'), 'en', question)).toBe(answer)
  })

  test('never says what neither the profile nor the dialogue holds', async () => {
    const [cat, blood] = await ask(caseOf('7'), 'zh', '咳嗽吗？', '得过肝炎吗？')
    expect([cat?.understood, blood?.understood]).toEqual(['unknown', 'unknown'])
    expect([cat?.told, blood?.told]).toEqual([[], []])
    const [pressure] = await ask(caseOf('knee'), 'en', 'Have you ever had an operation?')
    expect(pressure).toMatchObject({ understood: 'unknown', told: [] })
  })

  test('tells what else there is, one thing at a time, and then that this is all', async () => {
    const more = Array.from({ length: 8 }, () => '还有别的不舒服吗？')
    const given = await ask(caseOf('7'), 'zh', ...more)
    const told = given.flatMap((reply) => reply.told.map(({ finding }) => finding))
    expect(told.length).toBeGreaterThan(1)
    expect(new Set(told).size).toBe(told.length)
    expect(given.at(-1)).toMatchObject({ told: [] })
  })

  test('says yes to a summing-up of what it has', async () => {
    expect(await ask(caseOf('7'), 'zh', '您就是头疼、恶心，对吗？')).toMatchObject([
      { understood: 'repeated', told: [] },
    ])
  })
})

describe('a profile', () => {
  test('has a state for what it denies, and leaves out what it does not say', () => {
    const findings = profileFindings(chineseDialogue.profile, 'zh')
    const states = new Map(findings.map(({ id, state }) => [id, state]))
    expect(states.get('transfusion-1')).toBe('absent')
    expect(states.get('past-1')).toBe('absent')
    expect(states.get('allergy-1')).toBe('present')
    expect([...states.keys()].filter((id) => id.startsWith('infection'))).toEqual([])
    expect(JSON.stringify(findings)).not.toContain('神经内科')
  })

  test('adds no character of Chinese that no rule has', async () => {
    await fc.assert(
      fc.property(fc.array(fc.constantFrom('甲', '乙', '丙', '丁'), { minLength: 4 }), (signs) => {
        const text = signs.join('')
        const [finding] = profileFindings({ present_illness_history: text }, 'zh')
        expect(finding?.utterance?.zh).toBe(`${text}。`)
      }),
    )
  })

  test.each([
    [
      { age: '8 months', sex: 'male' },
      { age: { v: 8, unit: 'month' }, sex: 'M' },
    ],
    [
      { age: 70, gender: '女' },
      { age: { v: 70, unit: 'year' }, sex: 'F' },
    ],
    ['An elderly woman who fell 3 days ago', { sex: 'F' }],
    ['A 3-day-old boy', { sex: 'M', age: { v: 3, unit: 'day' } }],
    [{}, {}],
  ])('%j has age and sex %j', (profile, demographics) => {
    expect(profileDemographics(profile)).toEqual(demographics)
  })
})

describe('a broken file', () => {
  test('names line, path, what was expected and what was found, and imports the rest', async () => {
    const speaker = {
      ...bareDialogue,
      id: 4,
      turns: [{ speaker: 'nurse', text: 'Hi' }, bareDialogue.turns[1]],
    }
    const short = { ...bareDialogue, id: 5, turns: [bareDialogue.turns[0]] }
    const mute = {
      ...bareDialogue,
      id: 6,
      turns: [bareDialogue.turns[0], { speaker: 'patient', text: ' ' }],
    }
    const rows = lines(bareDialogue, '{"id":', speaker, short, { turns: [] }, bareDialogue, mute)
    const { report } = await importDialogues(await write('broken.jsonl', `\n${rows}`))
    expect(report.ok).toBe(1)
    expect(report.skipped.map(({ row, line, path }) => [row, line, path])).toEqual([
      [1, 3, 'the whole line'],
      [2, 4, 'turns.0.speaker'],
      [3, 5, 'turns'],
      [4, 6, 'id'],
      [5, 7, 'id'],
      [6, 8, 'turns'],
    ])
    expect(report.skipped[1]?.reason).toBe('expected doctor or patient, got "nurse"')
    expect(report.skipped[2]?.reason).toContain('expected at least 2, got [{"speaker"')
    expect(report.skipped[4]?.reason).toBe('expected an id of its own, got "3", which line 2 has')
  })

  test.each([
    ['array.json', '[{"id": 1}]', 'expected JSON lines'],
    ['missing', undefined, 'ENOENT'],
  ])('%s is refused', async (name, text, message) => {
    const path = text === undefined ? join(folder, 'none.jsonl') : await write(name, text)
    const error = await importDialogues(path).catch((thrown: unknown) => thrown)
    if (!Fault.is(error)) throw new Error(`expected a Fault, got ${error}`)
    expect(error.code).toBe('bad-input')
    expect(error.message).toContain(message)
  })
})
