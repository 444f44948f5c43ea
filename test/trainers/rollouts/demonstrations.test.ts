import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/agent.js'
import { oracle } from '../../../src/agents/oracle.js'
import { recordedDoctor } from '../../../src/agents/recorded.js'
import type { Case, PatientView } from '../../../src/case.js'
import { graderView, patientView, primaryDiagnosis } from '../../../src/case.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { mineActionSpace } from '../../../src/cases/importers/mine-action-space.js'
import { importMtmeddialog } from '../../../src/cases/importers/mtmeddialog.js'
import { consultation } from '../../../src/envs/consultation.js'
import { recordExams } from '../../../src/envs/exams/record.js'
import { recordPatient } from '../../../src/envs/patients/recorded/record.js'
import { rulePatient } from '../../../src/envs/patients/rule.js'
import { Fault } from '../../../src/error.js'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import { uniform } from '../../../src/seed.js'
import type { SavedEpisode } from '../../../src/storage/episode-files.js'
import { episodeWriter, readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { StepMetrics } from '../../../src/trainers/events.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { trainSft } from '../../../src/trainers/loops/sft.js'
import type { PlayDemonstrationsOptions } from '../../../src/trainers/rollouts/demonstrations.js'
import {
  playDemonstrations,
  rejectionSample,
} from '../../../src/trainers/rollouts/demonstrations.js'
import type { Action } from '../../../src/turn.js'
import { writeMtmeddialog } from '../../fixtures/mtmeddialog.js'
import { fc } from '../../fixtures/property.js'
import { smallKnowledge } from '../../fixtures/small-knowledge.js'
import { tinyCase } from '../../fixtures/tiny-case.js'
import { consult, words } from '../embedded/play.js'

const knowledge = smallKnowledge()
const casesOf = (count: number): readonly Case[] =>
  Array.from({ length: count }, (_, n) =>
    caseSource(knowledge, { tier: 'easy', split: 'train' })(n),
  )
const makeEnv = () =>
  consultation({
    cases: casesOf(1),
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    maxTurns: 6,
  })
const playing = (over: Partial<PlayDemonstrationsOptions> = {}): PlayDemonstrationsOptions => ({
  agent: oracle({ knowledge }),
  agentName: 'oracle',
  cases: casesOf(12),
  makeEnv,
  ...over,
})

const atOnce: Agent = () => ({ action: words.actions[3] as Action })
const [played] = await Promise.all([consult(atOnce, 0, 0)])
const truth = graderView(tinyCase())

/** A saved episode that says no more than what rejection sampling reads. */
const scored = (
  id: string,
  total: number | null | undefined,
  { caseId = 'case-0', group }: { readonly caseId?: string; readonly group?: string } = {},
): SavedEpisode => ({
  episode: { ...played, id, caseId },
  truth,
  ...(total === undefined ? {} : { score: { total, parts: {} } }),
  ...(group === undefined ? {} : { group }),
})
const idsOf = (kept: readonly SavedEpisode[]): readonly string[] =>
  kept.map(({ episode }) => episode.id)

describe('rejection sampling', () => {
  const saved = [
    scored('a', 0.2, { group: '1/0' }),
    scored('b', 0.9, { group: '1/0' }),
    scored('c', null, { group: '1/0' }),
    scored('d', 0.9, { group: '1/0' }),
    scored('e', 0.5, { group: '1/1' }),
    scored('f', undefined, { group: '1/1' }),
    scored('g', 0.5, { group: '1/1' }),
  ]

  test('keeps what is good enough, in order, and counts the rest by why', async () => {
    const { kept, ...left } = await rejectionSample(saved, { minReward: 0.5 })
    expect(idsOf(kept)).toEqual(['b', 'd', 'e', 'g'])
    expect(left).toEqual({ unavailable: 2, rejected: 1 })
  })

  test('keeps the best of each group, the earlier of equals', async () => {
    const one = await rejectionSample(saved, { bestOf: 1 })
    expect(idsOf(one.kept)).toEqual(['b', 'e'])
    expect(one.rejected).toBe(3)
    expect(idsOf((await rejectionSample(saved, { bestOf: 2 })).kept)).toEqual(['b', 'd', 'e', 'g'])
    const both = await rejectionSample(saved, { bestOf: 1, minReward: 0.6 })
    expect(idsOf(both.kept)).toEqual(['b'])
  })

  test('takes a case for a group where there are none, and no group over two cases', async () => {
    const loose = [
      scored('a', 0.1),
      scored('b', 0.2, { caseId: 'case-1' }),
      scored('c', 0.3),
      scored('d', 0.1, { caseId: 'case-1' }),
    ]
    expect(idsOf((await rejectionSample(loose, { bestOf: 1 })).kept)).toEqual(['b', 'c'])
    const two = [
      scored('a', 1, { group: '1/0' }),
      scored('b', 0, { group: '1/0', caseId: 'case-1' }),
    ]
    expect(idsOf((await rejectionSample(two, { bestOf: 1 })).kept)).toEqual(['a', 'b'])
  })

  test('is what sorting each group would give, and loses nobody', async () => {
    const member = fc.record({
      group: fc.integer({ min: 0, max: 3 }).map(String),
      total: fc.option(fc.integer({ min: 0, max: 4 })),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: -1, max: 5 }),
        async (members, bestOf, minReward) => {
          const all = members.map(({ group, total }, i) => scored(`${i}`, total, { group }))
          const { kept, unavailable, rejected } = await rejectionSample(all, { bestOf, minReward })
          const wanted = ['0', '1', '2', '3'].flatMap((group) =>
            all
              .filter((one) => one.group === group && (one.score?.total ?? -2) >= minReward)
              .sort((a, b) => (b.score?.total ?? 0) - (a.score?.total ?? 0))
              .slice(0, bestOf),
          )
          expect(idsOf(kept)).toEqual([...idsOf(wanted)].sort((a, b) => Number(a) - Number(b)))
          expect(unavailable).toBe(members.filter(({ total }) => total === null).length)
          expect(kept.length + unavailable + rejected).toBe(all.length)
        },
      ),
    )
  })

  test('reads files of saved episodes', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'demonstrations-')), 'saved.jsonl')
    const writer = episodeWriter(file)
    for (const one of saved) await writer.write(one)
    await writer.close()
    const fromFile = await rejectionSample(readSavedEpisodes(file), { bestOf: 1 })
    expect(fromFile).toEqual(await rejectionSample(saved, { bestOf: 1 }))
  })

  test('refuses bounds that bound nothing, and totals that are no numbers', async () => {
    for (const bestOf of [0, -1, 1.5, Number.NaN])
      await expect(rejectionSample(saved, { bestOf })).rejects.toThrow(
        new RangeError(`Expected \`bestOf\` to be a positive integer, got \`${bestOf}\``),
      )
    await expect(rejectionSample(saved, { minReward: Number.NaN })).rejects.toThrow(
      'Expected `minReward` to be a number, got `NaN`',
    )
    await expect(rejectionSample([scored('x', Number.NaN)])).rejects.toThrow(
      'Expected `total` of x to be finite, got `NaN`',
    )
  })
})

describe('a doctor made to play', () => {
  test('gives its consultations in the order of the cases, the same at any concurrency', async () => {
    const one = await playDemonstrations(playing({ concurrency: 1 }))
    const many = await playDemonstrations(playing({ concurrency: 12 }))
    expect(many).toEqual(one)
    expect(one.kept.map(({ episode }) => episode.caseId)).toEqual(casesOf(12).map(({ id }) => id))
    expect(one.kept[3]?.episode).toMatchObject({ id: 'oracle/3/0', agent: 'oracle' })
    expect(one.kept.every(({ score }) => score === undefined)).toBe(true)
    expect(one).toMatchObject({ unavailable: 0, rejected: 0 })
  })

  test('more cases change nothing of those before, and another seed does', async () => {
    const few = await playDemonstrations(playing({ cases: casesOf(3) }))
    const more = await playDemonstrations(playing({ cases: casesOf(6) }))
    expect(more.kept.slice(0, 3)).toEqual(few.kept)
    const other = await playDemonstrations(playing({ cases: casesOf(3), seed: 1 }))
    expect(other.kept.map(({ episode }) => episode.seed)).not.toEqual(
      few.kept.map(({ episode }) => episode.seed),
    )
  })

  test('a policy played some times and the best of each case kept: rejection sampling of itself', async () => {
    const drawing: Agent = async (_, { seed }) => ({
      action: {
        kind: 'diagnose',
        diagnosis: knowledge.diseases[Math.floor(uniform(seed, 'guess') * 6)]?.name.en ?? '',
      },
    })
    const { kept } = await playDemonstrations(
      playing({ agent: drawing, agentName: 'guess', times: 8, reward: diagnosisAccuracy() }),
    )
    expect(kept).toHaveLength(96)
    expect(new Set(kept.map(({ group }) => group)).size).toBe(12)
    for (const { group, episode } of kept)
      expect([group, episode.seed]).toEqual([
        `guess/${episode.id.split('/')[1]}`,
        kept.find((one) => one.group === group)?.episode.seed,
      ])
    const mean = (all: readonly SavedEpisode[]) =>
      all.reduce((sum, { score }) => sum + (score?.total ?? Number.NaN), 0) / all.length
    const best = await rejectionSample(kept, { bestOf: 1 })
    expect(best.kept).toHaveLength(12)
    expect(mean(kept)).toBeLessThan(0.4)
    expect(mean(best.kept)).toBeGreaterThan(mean(kept) + 0.25)
  })

  test('leaves out and counts what the world spoiled, and says where', async () => {
    const faults: string[] = []
    const events = trainingEmitter()
    events.on('fault-met', (fault, where) => faults.push(`${where}: ${fault.message}`))
    const known = (view: PatientView): string =>
      JSON.stringify([view.demographics, view.complaint, ...view.findings.values()])
    const spoiled = known(patientView(casesOf(12)[5]!))
    const patient = rulePatient({ knowledge })
    const { kept, unavailable } = await playDemonstrations(
      playing({
        events,
        makeEnv: () =>
          consultation({
            cases: casesOf(1),
            maxTurns: 6,
            patient: (utterance, context) => {
              if (known(context.view) === spoiled)
                throw new Fault('model-unavailable', 'patient is down')
              return patient(utterance, context)
            },
          }),
      }),
    )
    expect(unavailable).toBe(1)
    expect(kept.map(({ episode }) => episode.id)).not.toContain('oracle/5/0')
    expect(kept).toHaveLength(11)
    expect(faults).toEqual(['demonstration 5 of oracle, time 0: patient is down'])
  })

  test('a doctor who never comes to an end is a fault, and not an empty list', async () => {
    const agent: Agent = () => {
      throw new Error('lost')
    }
    await expect(playDemonstrations(playing({ agent, agentName: 'lost' }))).rejects.toMatchObject({
      code: 'component-failed',
      message: 'lost: none of 12 consultations could be played: lost: lost',
    })
    expect((await playDemonstrations(playing({ cases: [] }))).kept).toEqual([])
  })

  test('refuses to play no time, and stops when its signal is aborted', async () => {
    await expect(playDemonstrations(playing({ times: 0 }))).rejects.toThrow(
      'Expected `times` to be a positive integer, got `0`',
    )
    await expect(
      playDemonstrations(playing({ signal: AbortSignal.abort(new Error('enough')) })),
    ).rejects.toThrow('enough')
  })
})

describe('imported dialogues', () => {
  test('are demonstrations when the recorded doctor plays them, and can be learnt', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'demonstrations-')), 'all.parquet')
    await writeMtmeddialog(file)
    const cases = (await importMtmeddialog(file)).cases.filter(
      ({ chiefComplaint }) => chiefComplaint.text.en,
    )
    const { kept } = await playDemonstrations({
      agent: recordedDoctor(cases),
      agentName: 'recorded',
      cases,
      makeEnv: () => consultation({ cases, patient: recordPatient(), maxTurns: 12 }),
      reward: diagnosisAccuracy(),
    })
    expect(kept.map(({ episode }) => episode.caseId)).toEqual(cases.map(({ id }) => id))
    kept.forEach(({ episode, score }, n) => {
      const recorded = (cases[n] as Case).findings.flatMap(({ question }) => question?.en ?? [])
      const said = episode.turns.map(({ action }) =>
        action.kind === 'ask' ? action.text : action.kind === 'diagnose' ? action.diagnosis : '',
      )
      expect(said).toEqual([...recorded, primaryDiagnosis((cases[n] as Case).gold).name.en])
      expect(score?.total).toBe(1)
    })

    const told: StepMetrics[] = []
    const events = trainingEmitter()
    events.on('step-end', (metrics) => told.push(metrics))
    const demonstrations = kept.map(({ episode }) => episode)
    const actionSpace = mineActionSpace(cases, { language: 'en' })
    const backend = embedded({ actionSpace })
    await trainSft({ backend, demonstrations, adam: { learningRate: 0.1 }, epochs: 120, events })
    const [first, last] = [told[0], told.at(-1)]
    expect(last?.update?.loss).toBeLessThan(0.2 * (first?.update?.loss ?? Number.NaN))
    // A mined vocabulary has no greetings, and so not every recorded utterance as it was said.
    expect(first?.samples.unavailable).toBeGreaterThan(0)
    expect(first?.samples.used).toBeGreaterThan(cases.length)
  })
})
