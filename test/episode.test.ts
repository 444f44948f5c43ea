import { describe, expect, test } from 'vitest'
import { diagnosisOf } from '../src/episode.js'
import { rollout } from '../src/rollout.js'
import type { Action } from '../src/turn.js'
import { tinyActions, tinyEnv } from './fixtures/tiny.js'

const play = (actions: readonly Action[]) =>
  rollout(tinyEnv(), ({ turns }) => ({ action: actions[turns.length] ?? { kind: 'give-up' } }))

describe('diagnosisOf', () => {
  test('is the diagnosis the doctor committed to, with its recommendation', async () => {
    expect(diagnosisOf(await play(tinyActions))).toEqual(tinyActions[2])
  })

  test('is none where the doctor gave up, or ran out of turns', async () => {
    expect(diagnosisOf(await play([{ kind: 'give-up' }]))).toBeUndefined()
    const ask: Action = { kind: 'ask', text: 'Is it pneumonia?' }
    expect(diagnosisOf(await play(Array(5).fill(ask)))).toBeUndefined()
  })
})
