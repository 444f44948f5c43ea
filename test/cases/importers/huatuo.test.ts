import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatDoctor } from '../../../src/agents/chat.js'
import { huatuo } from '../../../src/agents/grammars/huatuo.js'
import { graderView } from '../../../src/case.js'
import { questionCase } from '../../../src/cases/importers/huatuo.js'
import { importers } from '../../../src/cases/importers/import.js'
import { question } from '../../../src/envs/question.js'
import { rollout } from '../../../src/rollout.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import { parseSavedEpisode } from '../../../src/storage/episode-schema.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-huatuo-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function imported(format: 'huatuo-rl' | 'huatuo-sft', content: unknown, ending = 'json') {
  const path = join(folder, `${files++}.${ending}`)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  await writeFile(path, ending.endsWith('.gz') ? gzipSync(text) : text)
  return importers[format]!(path)
}

const problem = (asked: string, answer: unknown) => ({
  'Open-ended Verifiable Question': asked,
  'Ground-True Answer': answer,
})
const scurvy = problem('What causes scurvy?', 'Vitamin C deficiency')
const rickets = problem('What causes rickets in a 2-year-old?', 'Vitamin D deficiency')

describe('huatuo-rl', () => {
  test('makes a case of a question and its answer', async () => {
    const { cases, report } = await imported('huatuo-rl', [scurvy, rickets])
    expect(cases.map((truth) => caseSchema.parse(truth))).toEqual(cases)
    expect(cases[0]).toMatchObject({
      id: expect.stringMatching(/^huatuo-[0-9a-f]{12}$/),
      chiefComplaint: { text: { en: 'What causes scurvy?' } },
      gold: { dx: [{ name: { en: 'Vitamin C deficiency' }, role: 'primary' }] },
      provenance: { redistributable: false },
    })
    expect(report).toMatchObject({
      ...{ format: 'huatuo-rl', ok: 2, rows: 2, skipped: [], leaks: [], redistributable: false },
      licence: expect.stringContaining('Apache-2.0'),
    })
  })

  test.each([
    ['JSONL', [scurvy, rickets].map((row) => JSON.stringify(row)).join('\n\n'), 'jsonl'],
    ['packed JSON with a mark', `\uFEFF ${JSON.stringify([scurvy, rickets], null, 2)}`, 'json.gz'],
    [
      'the short keys',
      [
        { question: 'What causes scurvy?', answer: 'Vitamin C deficiency' },
        { question: 'What causes rickets in a 2-year-old?', answer: 'Vitamin D deficiency' },
      ],
      'json',
    ],
    [
      'multiple choice beside it',
      [
        { ...scurvy, question: 'Which vitamin?', options: { A: 'C' }, answer: 'C' },
        { ...rickets, question: 'Which vitamin?', options: { A: 'D' }, answer: 'D' },
      ],
      'json',
    ],
  ])('reads %s alike', async (_, content, ending) => {
    const { cases } = await imported('huatuo-rl', content, ending)
    expect(cases).toEqual((await imported('huatuo-rl', [scurvy, rickets])).cases)
  })

  test('knows the language of a question', async () => {
    const { cases } = await imported('huatuo-rl', [problem('坏血病的病因是什么？', '缺乏维生素C')])
    expect(cases[0]?.chiefComplaint.text).toEqual({ zh: '坏血病的病因是什么？' })
    expect(cases[0]?.gold.dx[0]?.name).toEqual({ zh: '缺乏维生素C' })
  })

  test('says what is missing, row by row', async () => {
    const { report } = await imported('huatuo-rl', [
      problem('', 'x'),
      problem('What?', 7),
      { Question: 'What?' },
      'text',
      scurvy,
    ])
    expect(report.ok).toBe(1)
    expect(report.skipped).toEqual([
      { row: 0, path: 'Open-ended Verifiable Question', reason: 'expected text, got ""' },
      { row: 1, path: 'Ground-True Answer', reason: 'expected text, got 7' },
      {
        row: 2,
        path: 'Open-ended Verifiable Question, Ground-True Answer',
        reason: 'expected text, got nothing, nothing',
      },
      { row: 3, path: '', reason: 'expected an object, got "text"' },
    ])
  })

  test('takes a question once, and says whether its answers agree', async () => {
    const again = problem('what causes  SCURVY?', 'Vitamin C deficiency')
    const { report } = await imported('huatuo-rl', [
      scurvy,
      again,
      problem('What causes scurvy?', 'Flu'),
    ])
    expect(report.skipped.map(({ row, reason }) => [row, reason])).toEqual([
      [1, 'the question of row 0, the same answer'],
      [2, 'the question of row 0, another answer'],
    ])
  })

  test('reports questions that hold their answer', async () => {
    const { report, cases } = await imported('huatuo-rl', [
      problem('Is vitamin C deficiency a cause of scurvy?', 'Vitamin C deficiency'),
    ])
    expect(report.leaks).toEqual([
      { case: cases[0]?.id, where: 'doctor.complaint.en', phrase: 'vitamin c deficiency' },
    ])
  })

  test('a broken line is a row that gave nothing; a broken array, or no file, is bad input', async () => {
    const lines = `${JSON.stringify(scurvy)}\n{"Open-ended`
    const { report } = await imported('huatuo-rl', lines, 'jsonl')
    expect(report.skipped).toEqual([
      { row: 1, path: '', reason: expect.stringMatching(/^not JSON: /) },
    ])
    await expect(imported('huatuo-rl', '[{"question":')).rejects.toMatchObject({
      code: 'bad-input',
    })
    await expect(importers['huatuo-rl']!(join(folder, 'none.json'))).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('none.json'),
    })
  })
})

const shown = {
  Question: 'What causes scurvy?',
  Complex_CoT: 'Gums bleed.\n\nSo it is a vitamin.',
  Response: 'Vitamin C deficiency.\n',
}

describe('huatuo-sft', () => {
  test('makes an episode of a row, as a doctor who writes so plays it', async () => {
    const { episodes = [], cases, report } = await imported('huatuo-sft', [shown])
    const [saved] = episodes
    expect(cases).toEqual([])
    expect(report).toMatchObject({ format: 'huatuo-sft', ok: 1, rows: 1, skipped: [] })
    expect(saved?.episode.turns[0]?.text).toBe(
      '## Thinking\n\nGums bleed.\n\nSo it is a vitamin.\n\n## Final Response\n\nVitamin C deficiency.\n',
    )
    const truth = questionCase(shown.Question, shown.Response)
    const text = saved?.episode.turns[0]?.text ?? ''
    const chat = async () => ({ text, usage: { promptTokens: 0, completionTokens: 0 } })
    const played = await rollout(
      question({ cases: [truth] }),
      chatDoctor({ chat, grammar: huatuo() }),
      { id: `${truth.id}/0`, agentName: 'huatuo-sft' },
    )
    expect(saved?.episode).toEqual(played)
    expect(saved?.truth.gold.dx[0]?.name).toEqual(graderView(truth).gold.dx[0]?.name)
    expect(parseSavedEpisode(JSON.parse(JSON.stringify(saved)), 'row 0')).toEqual(saved)
  })

  test('belongs to the case of the same verifiable question', async () => {
    const { episodes = [] } = await imported('huatuo-sft', [shown])
    const { cases } = await imported('huatuo-rl', [scurvy])
    expect(episodes[0]?.episode.caseId).toBe(cases[0]?.id)
  })

  test('says which of the three fields is missing, row by row', async () => {
    const { report } = await imported('huatuo-sft', [
      { ...shown, Question: ' ' },
      { ...shown, Complex_CoT: null },
      { Question: 'What?', Complex_CoT: 'x' },
      {},
      shown,
    ])
    expect(report.ok).toBe(1)
    expect(report.skipped.map(({ row, path }) => [row, path])).toEqual([
      [0, 'Question'],
      [1, 'Complex_CoT'],
      [2, 'Response'],
      [3, 'Question, Complex_CoT, Response'],
    ])
  })

  test('leaves out a row that would not be read as it was written', async () => {
    const { report } = await imported('huatuo-sft', [
      { ...shown, Response: 'Flu\n\n## Final Response\n\nGout' },
      { ...shown, Complex_CoT: 'Hm.\n## Final Response\nGout' },
      { ...shown, Response: '<think>hidden</think>' },
    ])
    expect(report.skipped.map(({ reason }) => reason.match(/that is (.*)/)?.[1])).toEqual([
      'repeated',
      'repeated',
      'disordered',
    ])
  })
})
