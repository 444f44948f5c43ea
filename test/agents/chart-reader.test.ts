import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chartReader } from '../../src/agents/chart-reader.js'
import { type Case, primaryDiagnosis } from '../../src/case.js'
import { mineActionSpace } from '../../src/cases/importers/mine-action-space.js'
import { importMtmeddialog } from '../../src/cases/importers/mtmeddialog.js'
import { consultation } from '../../src/envs/consultation.js'
import { recordPatient } from '../../src/envs/patients/recorded/record.js'
import { diagnosisOf, type Episode } from '../../src/episode.js'
import { rollout } from '../../src/rollout.js'
import { actionKey } from '../../src/trainers/embedded/tokenizer.js'
import { writeMtmeddialog } from '../fixtures/mtmeddialog.js'

let folder: string
let cases: readonly Case[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-chart-reader-'))
  const path = join(folder, 'all.parquet')
  await writeMtmeddialog(path)
  cases = (await importMtmeddialog(path)).cases.filter(({ chiefComplaint: { text } }) => text.en)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const patient = recordPatient()
const play = async (truth: Case, maxTurns: number): Promise<Episode> => {
  const actionSpace = mineActionSpace(cases, { language: 'en' })
  await using env = consultation({ cases: [truth], patient, language: 'en', maxTurns })
  return await rollout(env, chartReader({ actionSpace, patient }).forCase(truth))
}

describe('the chart reader', () => {
  test('asks questions of the action space only, each telling something new, then names the recorded disease', async () => {
    const { actions } = mineActionSpace(cases, { language: 'en' })
    const known = new Set(actions.map(actionKey))
    let questions = 0
    for (const truth of cases) {
      const episode = await play(truth, 40)
      for (const { action, facts } of episode.turns) {
        if (action.kind !== 'ask') continue
        questions++
        expect(known.has(actionKey(action))).toBe(true)
        expect(facts.told.length).toBeGreaterThan(0)
      }
      expect(diagnosisOf(episode)?.diagnosis).toBe(primaryDiagnosis(truth.gold).name.en)
    }
    expect(questions).toBeGreaterThan(cases.length)
  })

  test('keeps the last turn for the diagnosis', async () => {
    const [truth] = cases
    for (const maxTurns of [1, 2]) {
      const episode = await play(truth as Case, maxTurns)
      expect([episode.stop, episode.turns.length]).toEqual(['diagnosed', maxTurns])
    }
  })
})
