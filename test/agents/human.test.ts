import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { humanDoctor } from '../../src/agents/human.js'
import type { Observation } from '../../src/env.js'
import type { Action, Turn } from '../../src/turn.js'

const seen = (turns: readonly Turn[] = [], language: 'zh' | 'en' = 'en'): Observation => ({
  intake: {
    view: 'doctor',
    demographics: {
      age: { v: 8, unit: 'month' },
      sex: 'M',
      speaker: 'caregiver',
      relation: { en: 'mother', zh: '母亲' },
    },
    complaint: { en: 'He coughs.', zh: '孩子咳嗽。' },
  },
  turns,
  turnsLeft: 5 - turns.length,
  spent: { money: 0, minutes: 0 },
  budget: { money: 300, minutes: 60 },
  language,
})
const back = (text: string, kind: 'answered' | 'examined' | 'rejected' = 'answered'): Turn => ({
  action: { kind: 'ask', text: 'Any fever?' },
  outcome: { kind, text },
})

/** A doctor at a pipe: what is written to `input`, and all that was printed. */
function atPipe(script?: string) {
  const input = new PassThrough()
  const output = new PassThrough()
  if (script !== undefined) input.end(script)
  const doctor = humanDoctor({ input, output })
  const act = async (observation: Observation, signal?: AbortSignal): Promise<Action> =>
    (await doctor(observation, { seed: 0, signal })).action
  return { input, act, printed: () => String(output.read() ?? '') }
}

describe('what is typed is what is done', () => {
  test.each<[string, Action]>([
    ['Any fever?', { kind: 'ask', text: 'Any fever?' }],
    ['order chest X-ray', { kind: 'order', exam: 'chest X-ray' }],
    ['Order: chest X-ray', { kind: 'order', exam: 'chest X-ray' }],
    ['检查 胸片', { kind: 'order', exam: '胸片' }],
    ['检查：胸片', { kind: 'order', exam: '胸片' }],
    ['检查过吗？', { kind: 'ask', text: '检查过吗？' }],
    ['Diagnosis was made when?', { kind: 'ask', text: 'Diagnosis was made when?' }],
    ['Question: Any fever?', { kind: 'ask', text: 'Any fever?' }],
    ['quit', { kind: 'give-up' }],
    ['退出', { kind: 'give-up' }],
  ])('%s', async (line, action) => {
    expect(await atPipe(`${line}\n`).act(seen())).toEqual(action)
  })

  test('a diagnosis asks for a recommendation, which may be empty or missing', async () => {
    const diagnosed = { kind: 'diagnose', diagnosis: 'croup' }
    expect(await atPipe('diagnose croup\nCool air.\n').act(seen())).toEqual({
      ...diagnosed,
      recommendation: 'Cool air.',
    })
    expect(await atPipe('诊断 croup\n\n').act(seen())).toEqual(diagnosed)
    expect(await atPipe('Diagnosis: croup').act(seen())).toEqual(diagnosed)
  })

  test('the end of the input gives up, however often it is asked', async () => {
    const { act } = atPipe('')
    expect(await act(seen())).toEqual({ kind: 'give-up' })
    expect(await act(seen())).toEqual({ kind: 'give-up' })
  })

  test('a last line without a newline still counts', async () => {
    expect(await atPipe('Any fever?').act(seen())).toEqual({ kind: 'ask', text: 'Any fever?' })
  })

  test('lines that come early wait, from one turn and one consultation to the next', async () => {
    const { act } = atPipe('Any fever?\norder CT\ndiagnose croup\nrest\nSecond patient?\n')
    const kinds: string[] = []
    for (let n = 0; n < 5; n++) kinds.push((await act(seen())).kind)
    expect(kinds).toEqual(['ask', 'order', 'diagnose', 'ask', 'give-up'])
  })

  test('blank lines, help and a bare command cost no turn', async () => {
    const { act, printed } = atPipe('\n  \nhelp\norder\n诊断\nAny fever?\n')
    expect((await act(seen())).kind).toBe('ask')
    expect(printed()).toContain('For example: order complete blood count')
  })

  test('the last turn asks for the diagnosis, as anything else ends without one', async () => {
    const { act, printed } = atPipe('Any fever?\nAny cough?\n')
    await act({ ...seen(), turnsLeft: 2 })
    expect(printed()).toContain('2 turns left')
    await act({ ...seen(), turnsLeft: 1 })
    expect(printed()).toContain('last turn: give your diagnosis')
  })

  test('an aborted signal ends the wait with a Fault', async () => {
    const { act } = atPipe()
    const waiting = act(seen(), AbortSignal.timeout(50))
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
    await expect(act(seen(), AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('what is shown is what came back', () => {
  test('the intake first, with how to play', async () => {
    const { act, printed } = atPipe('quit\n')
    await act(seen())
    const text = printed()
    expect(text).toContain(
      'Patient: male, 8 months old, a caregiver speaks (mother).\nComplaint: He coughs.',
    )
    expect(text).toContain('order <exam>')
    expect(text).toContain('Doctor (5 turns left)> quit')
  })

  test('in the language of the consultation', async () => {
    const { act, printed } = atPipe('退出\n')
    await act(seen([], 'zh'))
    expect(printed()).toMatch(
      /患者：男，8个月，由家属代述（母亲）。\n主诉：孩子咳嗽。[\s\S]*检查 <名称>[\s\S]*剩余5回合/,
    )
  })

  test('then only the last outcome', async () => {
    const { act, printed } = atPipe('a?\nb?\nc?\n')
    await act(seen([back('No fever.')]))
    expect(printed()).toBe('\nPatient: No fever.\nDoctor (4 turns left)> a?\n')
    await act(seen([back('No fever.'), back('WBC 9.0', 'examined')]))
    expect(printed()).toBe('\nReport: WBC 9.0\nDoctor (3 turns left)> b?\n')
    await act(seen([back('No.'), back('x'), back('Unknown.', 'rejected'), back('y', 'rejected')]))
    expect(printed()).toBe(
      '\nNot done: y\nDoctor (last turn: give your diagnosis, "diagnose <disease>")> c?\n',
    )
  })

  test('without what a terminal would obey', async () => {
    const { act, printed } = atPipe('quit\n')
    await act(seen([back('\u001b[2JNo\u0007 fever.\u009b31m')]))
    expect(printed()).toContain('Patient: [2JNo fever.31m\n')
  })
})
