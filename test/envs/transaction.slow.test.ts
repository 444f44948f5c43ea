/** 10,000 random interleavings of steps, aborts, retries, calls at once, faults and malformed values. */
import { describe, expect, test } from 'vitest'
import type { Env, Step } from '../../src/env.js'
import { ended } from '../../src/env.js'
import { consultation } from '../../src/envs/consultation.js'
import { vectorize } from '../../src/envs/vectorize.js'
import { timeLimit } from '../../src/envs/wrappers.js'
import type { ExamSimulator } from '../../src/exam.js'
import type { Patient } from '../../src/patient.js'
import type { Action } from '../../src/turn.js'
import { fc } from '../fixtures/property.js'
import { tinyCase } from '../fixtures/tiny-case.js'

/** What the world does at its next call. */
type Mood = 'well' | 'throws' | 'nonsense' | 'hangs'

/** An env whose patient and examiner answer well unless told otherwise, after a few microtasks. */
function world() {
  let mood: Mood = 'well'
  const moody = async <T>(value: T): Promise<T> => {
    const now = mood
    mood = 'well'
    await Promise.resolve()
    if (now === 'throws') throw new Error('503')
    if (now === 'hangs') await new Promise(() => {})
    return now === 'nonsense' ? ('Yes.' as T) : value
  }
  const patient: Patient = (utterance, { dialogue }) =>
    moody({
      text: `${dialogue.length}: ${utterance}`,
      understood: 'answered',
      questions: 1,
      asked: ['fever'],
      told: [{ finding: 'fever', state: 'present' }],
    })
  const exams: ExamSimulator = (order, { done, now }) =>
    moody({
      status: done.length > 0 ? 'repeat' : 'resulted',
      exams: [order],
      text: `${order} at ${now}`,
      told: [],
      money: 30,
      minutes: 7,
    })
  const env = consultation({ cases: [tinyCase()], patient, exams: [exams], money: 100 })
  return {
    env,
    spoil: (next: Mood): void => {
      mood = next
    },
  }
}

const action = fc.oneof<fc.Arbitrary<Action>[]>(
  fc.nat(3).map((n) => ({ kind: 'ask', text: `question ${n}` })),
  fc.nat(2).map((n) => ({ kind: 'order', exam: `exam ${n}` })),
  fc.constant({ kind: 'invalid', text: '?', why: 'unreadable' }),
  // What no type allows.
  fc.constant({ kind: 'ask', text: 5 } as never),
)
const disturbance = fc.constantFrom(
  'abort before',
  'abort during',
  'throws',
  'nonsense',
  'again',
  'other',
  'ahead',
  'reset during',
)
const script = fc.array(
  fc.record({
    action,
    before: fc.array(disturbance, { maxLength: 3 }),
    beside: fc.boolean(),
    indexed: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

const refused = async (call: () => Promise<unknown>): Promise<void> => {
  await expect(call()).rejects.toThrow()
}

/** Disturbs an env before the step at `index`. */
async function disturb(
  { env, spoil }: ReturnType<typeof world>,
  kind: string,
  index: number,
  next: Action,
  taken: readonly (readonly [Action, Step])[],
): Promise<void> {
  const reachesWorld =
    ['ask', 'order'].includes(next.kind) && !('text' in next && typeof next.text !== 'string')
  const controller = new AbortController()
  const { signal } = controller
  switch (kind) {
    case 'abort before':
      controller.abort()
      return refused(() => env.step(next, { signal }))
    case 'abort during': {
      spoil(reachesWorld ? 'hangs' : 'well')
      const step = env.step(next, { signal })
      controller.abort()
      return refused(() => step)
    }
    case 'throws':
    case 'nonsense':
      if (!reachesWorld) return
      spoil(kind)
      return refused(() => env.step(next))
    case 'again': {
      const last = taken.at(-1)
      if (last) expect(await env.step(last[0], { index: index - 1 })).toBe(last[1])
      return
    }
    case 'other':
      if (index > 0) await refused(() => env.step({ kind: 'give-up' }, { index: index - 1 }))
      return
    case 'ahead':
      return refused(() => env.step(next, { index: index + 1 }))
    case 'reset during': {
      if (!reachesWorld) return
      spoil('throws')
      const step = env.step(next)
      await refused(() => env.reset())
      return refused(() => step)
    }
  }
}

async function plainly(env: Env, actions: readonly Action[]): Promise<readonly Step[]> {
  await env.reset({ seed: 3 })
  const steps: Step[] = []
  for (const each of actions) {
    steps.push(await env.step(each))
    if (ended(steps.at(-1) as Step)) break
  }
  return steps
}

describe.each([
  ['a consultation', (env: Env) => env],
  ['a consultation with a time limit', timeLimit(4)],
])('%s', (_, wrapped) => {
  test('has the transcript and the spend of an undisturbed one', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (moves) => {
        const inside = world()
        const disturbed = { ...inside, env: wrapped(inside.env) }
        const expected = await plainly(
          wrapped(world().env),
          moves.map(({ action }) => action),
        )
        await disturbed.env.reset({ seed: 3 })
        const taken: (readonly [Action, Step])[] = []
        for (const [index, move] of moves.slice(0, expected.length).entries()) {
          for (const kind of move.before) await disturb(disturbed, kind, index, move.action, taken)
          const step = disturbed.env.step(move.action, move.indexed ? { index } : {})
          if (move.beside) await refused(() => disturbed.env.step(move.action))
          taken.push([move.action, await step])
        }
        expect(taken.map(([, step]) => step)).toEqual(expected)
      }),
      { numRuns: 5000 },
    )
  }, 120_000)
})

test('a vector of envs has the transcripts of undisturbed ones, whichever fail in between', async () => {
  const size = 3
  const moves = fc.array(
    fc.record({
      actions: fc.array(action, { minLength: size, maxLength: size }),
      spoiled: fc.array(fc.subarray([0, 1, 2]), { maxLength: 2 }),
      beside: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  await fc.assert(
    fc.asyncProperty(moves, async (script) => {
      const worlds = Array.from({ length: size }, world)
      const vector = vectorize(
        worlds.map(
          ({ env }) =>
            () =>
              env,
        ),
        { autoreset: 'next-step' },
      )
      const calm = vectorize(
        Array.from({ length: size }, () => () => world().env),
        { autoreset: 'next-step' },
      )
      expect(await vector.reset({ seed: 1 })).toEqual(await calm.reset({ seed: 1 }))
      for (const { actions, spoiled, beside } of script) {
        let step: Awaited<ReturnType<typeof vector.step>> | undefined
        for (const indices of spoiled) {
          for (const index of indices) worlds[index]?.spoil('throws')
          // It fails where an action reaches a spoiled world; else it is the step itself.
          step ??= await vector.step(actions).catch(() => undefined)
          for (const { spoil } of worlds) spoil('well')
        }
        if (!step) {
          const calls = [
            vector.step(actions),
            beside && refused(() => vector.step(actions)),
          ] as const
          step = (await Promise.all(calls))[0]
        }
        expect(step).toEqual(await calm.step(actions))
      }
    }),
    { numRuns: 2000 },
  )
}, 120_000)
