import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { writeMtmeddialog } from '../../fixtures/mtmeddialog.js'
import { bedside, chatServer, document } from '../terminal.js'

let folder: string
let recorded: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-consult-'))
  const parquet = join(folder, 'recorded.parquet')
  recorded = join(folder, 'recorded.jsonl')
  await writeMtmeddialog(parquet)
  await bedside(['cases', 'import', parquet, '--format', 'mtmeddialog', '--out', recorded])
})
afterAll(() => rm(folder, { recursive: true }))

describe('colours', () => {
  const argv = ['consult', '--agent', 'random', '--case', 'easy-heldout-0-0']
  const forced = { env: { FORCE_COLOR: '1' } }

  test('are there with FORCE_COLOR=1, and go with --no-color wherever it stands', async () => {
    expect((await bedside(argv, forced)).stdout).toContain('\u001b[')
    const plain = (await bedside(argv)).stdout
    expect(plain).not.toContain('\u001b[')
    for (const given of [
      [...argv, '--no-color'],
      ['--no-color', ...argv],
    ])
      expect((await bedside(given, forced)).stdout).toBe(plain)
  })

  test('of an error follow the same rules', async () => {
    const wrong = ['consult', '--agent', 'random', '--case', 'seven']
    expect((await bedside(wrong, forced)).stderr).toContain('\u001b[31merror:')
    expect((await bedside([...wrong, '--no-color'], forced)).stderr).toMatch(/^error: /m)
  })
})

describe('at the keyboard', () => {
  test('questions, orders and a diagnosis are typed, and the truth and the score come last', async () => {
    const input = 'Do you have a fever?\norder full blood count\ndiagnose influenza\nrest\n'
    const { code, stdout } = await bedside(['consult', '--case', 'easy-heldout-0-0'], { input })
    expect(code).toBe(0)
    const places = [
      'Complaint: ',
      'turns left)> ',
      'Report: ',
      'Ended: diagnosed',
      'Truth: ',
      'Score ',
    ].map((text) => stdout.indexOf(text))
    expect(Math.min(...places)).toBeGreaterThanOrEqual(0)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(stdout.slice(0, stdout.indexOf('Ended'))).not.toContain('Common cold')
  })

  test('in Chinese as well', async () => {
    const input = '有发热吗？\n诊断 流感\n\n'
    const { code, stdout } = await bedside(['consult', '--lang', 'zh'], { input })
    expect(code).toBe(0)
    for (const text of ['主诉：', '患者：', '结束：已作出诊断', '真实诊断：', '得分'])
      expect(stdout).toContain(text)
  })

  test('with --json the prompts are on stderr and stdout is the document', async () => {
    const { stdout, stderr } = await bedside(['consult', '--json'], {
      input: 'diagnose influenza\n\n',
    })
    expect(JSON.parse(stdout)).toMatchObject({ agent: 'human', stop: 'diagnosed' })
    expect(stderr).toContain('Doctor (10 turns left)')
  })

  test('the end of the input gives up', async () => {
    expect(await document(['consult'])).toMatchObject({ stop: 'gave-up' })
  })

  test('Ctrl-C ends it with 130 and the command that begins it again', async () => {
    const stop = new AbortController()
    const { code, stdout, stderr } = await bedside(['consult', '--seed', '4'], {
      input: 'Do you have a cough?\n',
      signal: stop.signal,
      onText: (text) => {
        if (text.includes('9 turns left')) stop.abort()
      },
    })
    expect(code).toBe(130)
    expect(stdout).not.toContain('Truth')
    expect(stderr).toContain('npx bedside consult --case easy-heldout-4-0 --lang en --seed 4')
  })
})

describe('an agent', () => {
  test('is shown turn by turn, and its episode with its score is one document', async () => {
    const argv = ['consult', '--agent', 'checklist', '--case', 'standard-heldout-2-5']
    const shown = await bedside(argv)
    expect(shown.stdout).toMatch(/\n 1 Doctor {4}\S.*\n {3}Patient {3}\S/)
    const episode = await document(argv)
    expect(episode).toMatchObject({
      agent: 'checklist',
      caseId: 'standard-heldout-2-5',
      maxTurns: 15,
      score: { total: expect.any(Number), parts: { diagnosis: { status: 'ok' } } },
    })
  })

  test('gives the same bytes for the same seed, and another patient for another', async () => {
    const argv = ['consult', '--agent', 'random', '--json', '--seed', '8']
    const [once, again] = [await bedside(argv), await bedside(argv)]
    expect(again.stdout).toBe(once.stdout)
    const other = await bedside([...argv.slice(0, -1), '9'])
    expect(JSON.parse(other.stdout)).toMatchObject({ caseId: 'easy-heldout-9-0' })
  })

  test.each(['jsonl', 'parquet'])(
    'is saved to a .%s file that can be read back',
    async (format) => {
      const path = join(folder, `episode.${format}`)
      const episode = await document(['consult', '--agent', 'random', '--save', path])
      const saved = []
      for await (const one of readSavedEpisodes(path)) saved.push(one)
      expect(saved).toHaveLength(1)
      expect({ ...saved[0]?.episode, score: saved[0]?.score }).toEqual(episode)
    },
  )

  test('plays recorded cases, found by their ids', async () => {
    const argv = ['consult', '--agent', 'recorded', '--cases', recorded]
    const first = await document(argv)
    expect(first).toMatchObject({
      agent: 'recorded',
      caseId: expect.stringMatching(/^mtmeddialog-/),
    })
    const { caseId } = first as { caseId: string }
    expect(await document([...argv, '--case', caseId])).toMatchObject({ caseId })
    const wrong = await bedside([...argv, '--case', 'nobody'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain(`${recorded} (mtmeddialog-`)
  })

  test('can be a chat model, and so can the patient', async () => {
    await using server = await chatServer((messages) =>
      messages > 4 ? 'Diagnosis: Influenza\nRecommendation: Rest.' : 'Question: Do you cough?',
    )
    const chat = ['--model', 'm', '--base-url', server.url]
    const doctor = await document(['consult', '--agent', 'chat', ...chat])
    expect(doctor).toMatchObject({ agent: 'chat', stop: 'diagnosed' })
    await using patient = await chatServer(() => 'I could not say.')
    const both = ['--patient', 'free', '--model', 'm', '--base-url', patient.url]
    const { stdout } = await bedside(['consult', '--agent', 'checklist', ...both])
    expect(stdout).toContain('Patient   I could not say.')
  })
  test('lets the user be the patient, who is told what to know, and talks with a served doctor', async () => {
    await using server = await chatServer((messages) =>
      messages > 6
        ? 'Final diagnosis: Influenza'
        : messages > 4
          ? '<reason>So what?</reason>Order: chest X-ray'
          : '<reason>A cough?</reason>Do you cough?',
    )
    const doctor = ['--agent', 'chat', '--model', 'm', '--base-url', server.url]
    const argv = ['consult', ...doctor, '--grammar', 'grpodx', '--patient', 'human']
    const path = join(folder, 'human-patient.jsonl')
    const input = 'Yes, since Monday.\n\nI said so!\n'
    const { code, stdout } = await bedside([...argv, '--save', path], { input })
    expect(code).toBe(0)
    // The card, the question, what was typed, and an order that the patient only hears of.
    expect(stdout).toMatch(
      /You came because: [\s\S]*Doctor: Do you cough\?\nYou, the patient> Yes, since Monday\.\n[\s\S]*orders chest X-ray[\s\S]*Diagnosis: Influenza/,
    )
    expect(stdout).not.toContain('A cough?')
    expect(stdout.match(/Yes, since Monday\./g)).toHaveLength(1)
    for await (const { episode } of readSavedEpisodes(path))
      expect(episode.turns.map(({ outcome }) => ('text' in outcome ? outcome.text : ''))).toEqual([
        ...['Yes, since Monday.', 'I said so!', expect.any(String), ''],
      ])
    // Somebody who leaves has not answered.
    const left = await bedside(argv, { input: 'Yes.\n' })
    expect(left.code).toBe(1)
    expect(left.stderr).toContain('the end of the input')
    const alone = await bedside(['consult', '--patient', 'human'])
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--agent')])
  })
})
