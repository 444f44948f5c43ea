import { describe, expect, test } from 'vitest'
import type { Grammar } from '../../src/agent.js'
import { ended } from '../../src/env.js'
import type { ConsultationOptions } from '../../src/envs/consultation.js'
import { consultation } from '../../src/envs/consultation.js'
import { Fault } from '../../src/error.js'
import type { ExamSimulator } from '../../src/exam.js'
import type { Patient } from '../../src/patient.js'
import { rollout } from '../../src/rollout.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const patient: Patient = (utterance, { dialogue }) => ({
  text: `You asked ${dialogue.length + 1} times: ${utterance}`,
  understood: 'answered',
  questions: 1,
  asked: ['fever'],
  told: [{ finding: 'fever', state: 'present' }],
})

const laboratory: ExamSimulator = (order, { view }) =>
  order === 'blood count'
    ? {
        status: 'resulted',
        exams: ['blood-count'],
        text: view.results.get('blood-count')?.report.en ?? '',
        told: [{ finding: 'white-cells', state: 'raised' }],
        money: 20,
        minutes: 30,
      }
    : undefined

const clinic = (over: Partial<ConsultationOptions> = {}) =>
  consultation({ cases: [tinyCase()], patient, exams: [laboratory], ...over })

const ask = (text: string) => ({ kind: 'ask', text }) as const
const flu = { kind: 'diagnose', diagnosis: 'Influenza' } as const

describe('an episode', () => {
  test('answers, examines, closes, and hands out what happened', async () => {
    const env = clinic()
    const { observation } = await env.reset({ seed: 4 })
    expect(observation).toEqual({
      intake: {
        view: 'doctor',
        demographics: tinyCase().demographics,
        complaint: tinyCase().chiefComplaint.text,
      },
      turns: [],
      turnsLeft: 10,
      spent: { money: 0, minutes: 0 },
      budget: { money: 1000, minutes: 2880 },
      language: 'en',
    })
    const answered = await env.step(ask('Fever?'))
    expect(answered.observation.turns).toEqual([
      { action: ask('Fever?'), outcome: { kind: 'answered', text: 'You asked 1 times: Fever?' } },
    ])
    expect(answered.info.facts).toMatchObject({
      told: [{ finding: 'fever', state: 'present' }],
      minutes: 1,
    })
    const examined = await env.step({ kind: 'order', exam: 'blood count' })
    expect(examined.observation.spent).toEqual({ money: 20, minutes: 31 })
    const last = await env.step(flu)
    expect([last.terminated, last.truncated, last.info.stop]).toEqual([true, false, 'diagnosed'])
    expect(last.info.episode).toMatchObject({
      caseId: 'tiny-1',
      seed: 4,
      stop: 'diagnosed',
      spent: { money: 20 },
    })
    expect(last.info.episode?.turns.map(({ facts }) => facts.exams)).toEqual([
      [],
      ['blood-count'],
      [],
    ])
  })

  test('the doctor never sees the facts', async () => {
    const env = clinic()
    await env.reset()
    const { observation } = await env.step(ask('Fever?'))
    expect(JSON.stringify(observation)).not.toMatch(/facts|told|understood|influenza/i)
  })

  test('one env plays one episode after another, the second like a fresh one', async () => {
    const env = clinic()
    await env.reset()
    await env.step(ask('one'))
    await env.step(flu)
    const again = await env.reset({ seed: 1 })
    expect(again.observation.turns).toEqual([])
    expect((await env.step(ask('two'))).observation.turns[0]?.outcome).toMatchObject({
      text: 'You asked 1 times: two',
    })
  })
})

describe('limits', () => {
  test('the last turn is carried out and then truncates', async () => {
    const env = clinic({ maxTurns: 2 })
    await env.reset()
    expect(ended(await env.step(ask('1')))).toBe(false)
    const last = await env.step(ask('2'))
    expect([last.terminated, last.truncated, last.info.stop]).toEqual([false, true, 'max-turns'])
  })

  test('the clock ends it', async () => {
    const env = clinic({ minutes: 2 })
    await env.reset()
    await env.step(ask('1'))
    expect((await env.step(ask('2'))).info.stop).toBe('budget')
  })

  test.each([
    ['more money than is left', { money: 10 }, /more than the 10 left/],
    ['more minutes than are left', { minutes: 20 }, /20 minutes left/],
  ])('an order that takes %s is rejected and spends no money', async (_, budget, message) => {
    const env = clinic(budget)
    await env.reset()
    const { observation, info } = await env.step({ kind: 'order', exam: 'blood count' })
    expect(observation.turns[0]?.outcome).toMatchObject({
      kind: 'rejected',
      text: expect.stringMatching(message),
    })
    expect(observation.spent.money).toBe(0)
    expect(info.facts?.exams).toEqual([])
  })

  test('an unknown order is rejected by name', async () => {
    const env = clinic({ language: 'zh' })
    await env.reset()
    const { observation } = await env.step({ kind: 'order', exam: '水晶球' })
    expect(observation.turns[0]?.outcome).toMatchObject({
      kind: 'rejected',
      text: expect.stringContaining('水晶球'),
    })
  })

  test('an unknown order costs what was agreed, as far as there is money, and says what it was', async () => {
    const env = clinic({ unknownOrderMoney: 7, money: 10 })
    await env.reset()
    const first = await env.step({ kind: 'order', exam: 'a crystal ball' })
    expect(first.info.facts).toMatchObject({ ordered: 'unknown', money: 7, exams: [] })
    const second = await env.step({ kind: 'order', exam: 'a crystal ball' })
    expect(second.observation.spent.money).toBe(10)
  })

  test('unreadable replies are answered once and then end the episode', async () => {
    const grammar: Grammar = {
      name: 'strict',
      render: () => [],
      parse: (text) => ({ kind: 'invalid', text, why: 'Write Question: …' }),
    }
    const env = clinic({ grammar })
    await env.reset()
    const first = await env.step('blah')
    expect(first.observation.turns[0]?.outcome).toEqual({
      kind: 'rejected',
      text: 'Write Question: …',
    })
    expect((await env.step('blah')).info.stop).toBe('invalid-action')
  })
})

describe('three kinds of trouble', () => {
  test('the programmer: step before reset, after the end, text without a grammar, bad options', async () => {
    const env = clinic()
    await expect(env.step(flu)).rejects.toThrow('Expected reset() before step()')
    await env.reset()
    await expect(env.step('Fever?')).rejects.toThrow('without a `grammar`')
    await env.step(flu)
    await expect(env.step(flu)).rejects.toThrow('after the end')
    expect(() => clinic({ maxTurns: 0 })).toThrow(
      'Expected `maxTurns` to be a positive integer, or the least and the most of a range of them, got `0`',
    )
    expect(() => clinic({ cases: [] })).toThrow('at least one case')
    await expect(env.reset({ seed: -1 })).rejects.toThrow('got `-1`')
  })

  test('the world: a patient that throws is a fault, not an answer', async () => {
    const env = clinic({
      patient: () => {
        throw new Error('503')
      },
    })
    await env.reset()
    const failed = env.step(ask('Fever?'))
    await expect(failed).rejects.toBeInstanceOf(Fault)
    await expect(failed).rejects.toMatchObject({
      code: 'component-failed',
      message: 'patient: 503',
    })
  })

  test('the world: a fault of the agent leaves no episode', async () => {
    const playing = rollout(clinic(), () => {
      throw new Fault('model-unavailable', 'down')
    })
    await expect(playing).rejects.toMatchObject({ code: 'model-unavailable' })
  })
})

describe('cases', () => {
  const many = Array.from({ length: 20 }, (_, n) => tinyCase(`case-${n}`))

  test('a list is drawn from by the seed, and `options.case` overrides it', async () => {
    const env = clinic({ cases: many })
    const draw = async (seed: number) => (await env.reset({ seed })).info.caseId
    const seen = new Set<string>()
    for (let seed = 0; seed < 100; seed++) seen.add(await draw(seed))
    expect(seen.size).toBeGreaterThan(15)
    expect(await draw(3)).toBe(await draw(3))
    const { info } = await env.reset({ seed: 3, options: { case: tinyCase('mine') } })
    expect(info.caseId).toBe('mine')
  })

  test('a function makes the case of that number', async () => {
    const env = clinic({ cases: (n) => tinyCase(`made-${n}`) })
    expect((await env.reset({ seed: 12 })).info.caseId).toBe('made-12')
  })
})

test('the reward is paid on the last step, with its score', async () => {
  const reward = Object.assign(async () => ({ total: 0.5, parts: {} }), {
    rewardName: 'half',
    bounds: [0, 1] as const,
    source: 'test',
  })
  const env = clinic({ reward })
  await env.reset()
  expect((await env.step(ask('1'))).reward).toBe(0)
  const last = await env.step(flu)
  expect(last.reward).toBe(0.5)
  expect(last.info.score).toEqual({ total: 0.5, parts: {} })
})

describe('a step is a transaction', () => {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const slowly: Patient = async (utterance, context) => {
    await wait(5)
    return patient(utterance, context)
  }

  test('one is under way at a time, and calls beside it are refused', async () => {
    const env = clinic({ patient: slowly, maxTurns: 2 })
    await env.reset()
    const first = env.step(ask('1'))
    const busy = /Expected one call at a time, got (step|reset)\(\) while one is under way/
    await expect(env.step(ask('2'))).rejects.toThrow(busy)
    await expect(env.reset()).rejects.toThrow(busy)
    expect((await first).observation.turns).toHaveLength(1)
    expect((await env.step(ask('2'))).observation.turns).toHaveLength(2)
  })

  test('an aborted question is not heard, even by a patient who goes on answering', async () => {
    const heard: number[] = []
    const env = clinic({
      patient: (utterance, context) => {
        heard.push(context.dialogue.length)
        return slowly(utterance, context)
      },
    })
    await env.reset()
    const controller = new AbortController()
    const aborted = env.step(ask('1'), { signal: controller.signal })
    controller.abort()
    await expect(aborted).rejects.toThrow('aborted')
    const retried = env.step(ask('1'))
    await wait(10)
    expect((await retried).observation.turns).toHaveLength(1)
    expect(heard).toEqual([0, 0])
  })

  test('an aborted order costs nothing, and its retry what the first would have', async () => {
    const env = clinic({
      exams: [
        async (order, context) => {
          await wait(5)
          return laboratory(order, context)
        },
      ],
    })
    await env.reset()
    const blood = { kind: 'order', exam: 'blood count' } as const
    const controller = new AbortController()
    const aborted = env.step(blood, { signal: controller.signal })
    controller.abort()
    await expect(aborted).rejects.toThrow('aborted')
    const { info, observation } = await env.step(blood)
    expect(info.facts?.ordered).toBe('resulted')
    expect(observation.spent).toEqual({ money: 20, minutes: 30 })
  })

  test('a reward that fails leaves the last step to be taken again', async () => {
    let calls = 0
    const reward = Object.assign(
      async () => {
        if (calls++ === 0) throw new Fault('model-unavailable', 'judge: 503')
        return { total: 0.5, parts: {} }
      },
      { rewardName: 'flaky', bounds: [0, 1] as const, source: 'test' },
    )
    const env = clinic({ reward })
    await env.reset()
    await expect(env.step(flu)).rejects.toThrow('judge: 503')
    const last = await env.step(flu)
    expect([last.reward, last.observation.turns.length]).toEqual([0.5, 1])
  })

  test('a lost answer is had again by its index, at the end too', async () => {
    const env = clinic()
    await env.reset()
    const first = await env.step(ask('1'), { index: 0 })
    const last = await env.step(flu, { index: 1 })
    expect(await env.step(ask('1'), { index: 0 })).toBe(first)
    expect(await env.step(flu, { index: 1 })).toBe(last)
    await expect(env.step(ask('2'), { index: 0 })).rejects.toThrow(
      'Expected the action that step 0 was taken with, got another',
    )
    await expect(env.step(flu, { index: 2 })).rejects.toThrow('after the end')
    await expect(env.step(flu, { index: 3 })).rejects.toThrow(
      new RangeError('Expected `index` to be at most 2, got `3`'),
    )
  })

  test('what the doctor holds is frozen and no part of the case', async () => {
    const truth = tinyCase()
    const env = clinic({ cases: [truth] })
    const { observation } = await env.reset()
    for (const write of [
      () => Object.assign(observation.budget, { money: 1e9 }),
      () => Object.assign(observation.intake.complaint, { en: 'no complaint' }),
      () => Object.assign(observation.intake.demographics, { sex: 'M' }),
    ])
      expect(write).toThrow(TypeError)
    expect(observation.intake.complaint).not.toBe(truth.chiefComplaint.text)
    expect(Object.isFrozen(truth.chiefComplaint.text)).toBe(false)
  })
})

describe('what comes from outside is parsed', () => {
  test.each([
    [{ kind: 'ask' }, 'Expected `text` to be text, got `undefined`'],
    [{ kind: 'ask', text: 5 }, 'Expected `text` to be text, got `5`'],
    [{ kind: 'nonsense' }, 'Expected `kind` to be one of ask, order, diagnose, give-up, invalid'],
    [null, 'Expected `action` to be an object, got `null`'],
    [
      { kind: 'diagnose', diagnosis: 'x', confidence: 99 },
      'Expected `confidence` to be a finite number from 0 to 1, got `99`',
    ],
    [{ kind: 'diagnose', diagnosis: 'x', triage: 2.5 }, 'Expected `triage` to be an integer'],
  ])('the action %j is the fault of the policy', async (action, why) => {
    const env = clinic()
    await env.reset()
    const step = await env.step(action as never)
    expect(step.observation.turns[0]).toMatchObject({
      action: { kind: 'invalid' },
      outcome: { kind: 'rejected', text: expect.stringContaining(why) },
    })
    expect(ended(step)).toBe(false)
  })

  test('an action that throws when it is read is invalid too', async () => {
    const env = clinic()
    await env.reset()
    const trap = {
      get kind() {
        throw new Error('boo')
      },
    }
    expect((await env.step(trap as never)).observation.turns[0]?.action.kind).toBe('invalid')
  })

  test('a probability that rounding carried above 1 is 1', async () => {
    const env = clinic()
    await env.reset()
    const { observation } = await env.step({ ...flu, confidence: 1 + Number.EPSILON })
    expect(observation.turns[0]?.action).toEqual({ ...flu, confidence: 1 })
  })

  test.each([
    ['Yes.', 'patient: Expected `reply` to be an object, got `Yes.`'],
    [{ text: 'Yes.' }, 'patient: Expected `understood` to be one of answered,'],
    [
      { text: 'Yes.', understood: 'answered', questions: -1, asked: [], told: [] },
      'patient: Expected `questions` to be a finite number of at least 0, got `-1`',
    ],
    [
      { text: 'Yes.', understood: 'answered', questions: 1, asked: [], told: [{ finding: 'f' }] },
      'patient: Expected `state` to be text, got `undefined`',
    ],
  ])('the reply %j is the fault of the patient', async (reply, message) => {
    const env = clinic({ patient: () => reply as never })
    await env.reset()
    await expect(env.step(ask('1'))).rejects.toMatchObject({
      code: 'component-failed',
      message: expect.stringContaining(message),
    })
  })

  test.each([
    [{ money: undefined }, 'Expected `money` to be a finite number of at least 0, got `undefined`'],
    [{ money: Number.NaN }, 'Expected `money` to be a finite number of at least 0, got `NaN`'],
    [{ money: -5 }, 'Expected `money` to be a finite number of at least 0, got `-5`'],
    [
      { minutes: Infinity },
      'Expected `minutes` to be a finite number of at least 0, got `Infinity`',
    ],
    [{ exams: 'blood-count' }, 'Expected `exams` to be a list, got `blood-count`'],
    [
      { status: 'done' },
      'Expected `status` to be one of resulted, repeat, unavailable, got `done`',
    ],
  ])('a report with %j is the fault of the exam simulator', async (wrong, message) => {
    const exams: ExamSimulator = (order, context) =>
      ({ ...laboratory(order, context), ...wrong }) as never
    const env = clinic({ exams: [exams] })
    const { observation } = await env.reset()
    await expect(env.step({ kind: 'order', exam: 'blood count' })).rejects.toMatchObject({
      code: 'component-failed',
      message: `exam simulator: ${message}`,
    })
    expect(observation.spent.money).toBe(0)
  })

  test('members that a patient adds to its reply come back in its dialogue', async () => {
    const seen: unknown[] = []
    const env = clinic({
      patient: (utterance, context) => {
        seen.push(context.dialogue.map(({ reply }) => Reflect.get(reply, 'mood')))
        return Object.assign({}, patient(utterance, context), { mood: context.dialogue.length })
      },
    })
    await env.reset()
    await env.step(ask('1'))
    await env.step(ask('2'))
    expect(seen).toEqual([[], [0]])
  })

  test('a move that is none is a fault of the agent', async () => {
    const playing = rollout(clinic(), (() => 'Question: Fever?') as never, { agentName: 'chatty' })
    await expect(playing).rejects.toMatchObject({
      code: 'component-failed',
      message: expect.stringContaining('chatty: Expected a move'),
    })
  })
})

test('no id reaches the patient or the examiner', async () => {
  const seen: string[] = []
  const env = clinic({
    cases: [tinyCase('twin-of-influenza')],
    patient: (utterance, context) => {
      seen.push(JSON.stringify(context))
      return patient(utterance, context)
    },
    exams: [
      (order, context) => {
        seen.push(JSON.stringify(context))
        return laboratory(order, context)
      },
    ],
  })
  const { observation } = await env.reset()
  await env.step(ask('1'))
  await env.step({ kind: 'order', exam: 'blood count' })
  expect([...seen, JSON.stringify(observation)].join()).not.toContain('twin')
  expect(seen).toHaveLength(2)
})

describe('an episode goes on in another env', () => {
  const script = [ask('1'), { kind: 'order', exam: 'blood count' } as const, ask('2'), flu]

  test('from JSON, with the same transcript and spend', async () => {
    const whole = clinic()
    await whole.reset({ seed: 4 })
    const steps = []
    for (const action of script) steps.push(await whole.step(action))
    for (let at = 0; at < script.length; at++) {
      const first = clinic()
      let { observation } = await first.reset({ seed: 4 })
      for (const action of script.slice(0, at)) observation = (await first.step(action)).observation
      const saved = JSON.parse(JSON.stringify(first.save?.()))
      const second = clinic({ cases: [tinyCase('another')] })
      expect((await second.restore?.(saved))?.observation).toEqual(observation)
      for (const [t, action] of script.slice(at).entries())
        expect(await second.step(action)).toEqual(steps[at + t])
    }
  })

  test('answers its last step again, and says of earlier ones that they are not known', async () => {
    const first = clinic()
    await first.reset()
    await first.step(ask('1'))
    const last = await first.step(ask('2'))
    const second = clinic()
    await second.restore?.(first.save?.())
    expect((await second.step(ask('2'), { index: 1 })).observation).toEqual(last.observation)
    await expect(second.step(ask('1'), { index: 0 })).rejects.toThrow(
      'Expected the index of the last step, 1',
    )
  })

  test('is saved only while it runs', async () => {
    const env = clinic()
    expect(() => env.save?.()).toThrow('Expected save() of an episode that runs')
    await env.reset()
    await env.step(flu)
    expect(() => env.save?.()).toThrow('Expected save() of an episode that runs')
    await expect(env.restore?.({ schema: 'x' })).rejects.toThrow('Expected a saved visit')
  })
})
