import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordedDoctor } from '../../src/agents/recorded.js'
import type { Case } from '../../src/case.js'
import { primaryDiagnosis } from '../../src/case.js'
import { importMtmeddialog } from '../../src/cases/importers/mtmeddialog.js'
import { consultation } from '../../src/envs/consultation.js'
import { recordPatient } from '../../src/envs/patients/recorded/record.js'
import type { Episode } from '../../src/episode.js'
import { diagnosisOf } from '../../src/episode.js'
import { Fault } from '../../src/error.js'
import { rollout } from '../../src/rollout.js'
import { writeMtmeddialog } from '../fixtures/mtmeddialog.js'

const realFile = join(import.meta.dirname, '../../../shared/data/MTMedDialog_sft_val.parquet')
let folder: string
let files: readonly string[]
let cases: readonly Case[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-recorded-'))
  const path = join(folder, 'all.parquet')
  await writeMtmeddialog(path)
  files = [path, ...(existsSync(realFile) ? [realFile] : [])]
  cases = (await importMtmeddialog(path)).cases
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const play = async (truth: Case, known: readonly Case[], maxTurns: number): Promise<Episode> => {
  const language = truth.chiefComplaint.text.en ? 'en' : 'zh'
  await using env = consultation({ cases: [truth], patient: recordPatient(), language, maxTurns })
  return await rollout(env, recordedDoctor(known))
}
const toldIn = (episode: Episode) =>
  episode.turns.flatMap(({ facts }) => facts.told.map(({ finding }) => finding))

describe('the recorded doctor', () => {
  test('learns everything that was recorded and names the recorded disease, in every case', async () => {
    for (const file of files) {
      const all = (await importMtmeddialog(file)).cases
      for (const truth of all) {
        const episode = await play(truth, all, 40)
        expect(toldIn(episode)).toEqual(truth.findings.map(({ id }) => id))
        expect(episode.stop).toBe('diagnosed')
        const { name } = primaryDiagnosis(truth.gold)
        expect(diagnosisOf(episode)).toEqual({
          kind: 'diagnose',
          diagnosis: name.en ?? name.zh,
          recommendation: truth.gold.recommendation?.en ?? truth.gold.recommendation?.zh,
        })
      }
    }
  })

  test('stops asking in time to conclude, however few turns it has', async () => {
    const truth = cases[0] as Case
    for (const maxTurns of [1, 2, 3]) {
      const episode = await play(truth, cases, maxTurns)
      expect(episode.turns.map(({ action }) => action.kind)).toEqual([
        ...new Array(maxTurns - 1).fill('ask'),
        'diagnose',
      ])
      expect(toldIn(episode)).toEqual(truth.findings.slice(0, maxTurns - 1).map(({ id }) => id))
    }
  })

  test('tells two patients of one complaint apart by age and sex', async () => {
    const [one, two] = cases as readonly [Case, Case]
    const same = { ...two, chiefComplaint: one.chiefComplaint }
    expect(diagnosisOf(await play(same, [one, same], 10))?.diagnosis).toBe(
      primaryDiagnosis(two.gold).name.en,
    )
  })

  test('has no answer for a patient it has no record of', async () => {
    const [stranger, ...others] = cases as readonly [Case, ...Case[]]
    const error = await play(stranger, others, 10).catch((thrown: unknown) => thrown)
    expect(Fault.is(error) && error.code).toBe('component-failed')
    expect(String(error)).toContain(`one of ${others.length} recorded cases, got \`My upper belly`)
  })
})
