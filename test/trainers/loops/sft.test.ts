import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/agent.js'
import { oracle } from '../../../src/agents/oracle.js'
import type { Backend } from '../../../src/backend.js'
import type { TrainBatch } from '../../../src/batch.js'
import { normaliserKinds } from '../../../src/batch.js'
import { graderView } from '../../../src/case.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { consultation } from '../../../src/envs/consultation.js'
import { recordExams } from '../../../src/envs/exams/record.js'
import { rulePatient } from '../../../src/envs/patients/rule.js'
import type { Episode } from '../../../src/episode.js'
import { Fault } from '../../../src/error.js'
import {
  actionSpace as actionSpaceOf,
  knowledgeActionSpace,
} from '../../../src/knowledge/action-space.js'
import { tiers } from '../../../src/knowledge/tiers.js'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import { rollout } from '../../../src/rollout.js'
import { Recipe } from '../../../src/runs/recipe.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { StepMetrics } from '../../../src/trainers/events.js'
import type { SftOptions, SftStep } from '../../../src/trainers/loops/sft.js'
import { trainSft } from '../../../src/trainers/loops/sft.js'
import { playDemonstrations } from '../../../src/trainers/rollouts/demonstrations.js'
import type { Action } from '../../../src/turn.js'
import { fc } from '../../fixtures/property.js'
import { smallKnowledge } from '../../fixtures/small-knowledge.js'
import { consult, words } from '../embedded/play.js'

const knowledge = smallKnowledge()
const actionSpace = knowledgeActionSpace(knowledge, 'en')
const tier = tiers.easy
const casesOf = (split: 'train' | 'heldout', count: number) => {
  const make = caseSource(knowledge, { tier: 'easy', split })
  return Array.from({ length: count }, (_, n) => make(n))
}
const makeEnv = () =>
  consultation({
    cases: casesOf('heldout', 1),
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    maxTurns: 6,
    money: tier.money,
    minutes: tier.minutes,
  })

const accuracyOf = async (agent: Agent, count = 200): Promise<number> => {
  const accuracy = diagnosisAccuracy()
  let right = 0
  for (const [seed, truth] of casesOf('heldout', count).entries()) {
    const episode = await rollout(makeEnv(), agent, { seed, options: { case: truth } })
    right += (await accuracy(episode, graderView(truth))).total ?? Number.NaN
  }
  return right / count
}

const oracleEpisodes = async (count: number, concurrency = 16): Promise<readonly Episode[]> => {
  const { atypicality, noise } = tier
  const { kept } = await playDemonstrations({
    agent: oracle({ knowledge, atypicality, noise }),
    agentName: 'oracle',
    cases: casesOf('train', count),
    makeEnv,
    concurrency,
  })
  return kept.map(({ episode }) => episode)
}

const run = async (
  backend: Backend,
  over: Partial<SftOptions> = {},
): Promise<readonly StepMetrics[]> => {
  const { metrics } = await trainSft({
    backend,
    demonstrations: shown,
    episodesPerStep: 16,
    ...over,
  })
  return metrics
}

const saved = async (backend: Backend): Promise<string> => {
  const folder = join(await mkdtemp(join(tmpdir(), 'sft-')), 'x')
  await backend.save(folder)
  return folder
}
const bytesOf = async (backend: Backend): Promise<string> =>
  (await readFile(join(await saved(backend), 'weights.bin'))).toString('base64')

const fresh = () => embedded({ actionSpace })

/** The same backend, telling every episode it is shown and every batch it steps with. */
function watched(): {
  readonly backend: Backend
  readonly ids: string[]
  readonly batches: TrainBatch[]
} {
  const backend = embedded({ actionSpace: words })
  const { demonstrate, step } = backend
  const ids: string[] = []
  const batches: TrainBatch[] = []
  backend.demonstrate = (episode) => {
    ids.push(episode.id)
    return demonstrate?.call(backend, episode) ?? []
  }
  backend.step = (batch) => {
    batches.push(batch)
    return step.call(backend, batch)
  }
  return { backend, ids, batches }
}

const expert: Agent = ({ turns }) => {
  const [fever, , , influenza, angina] = words.actions as readonly Action[]
  const told = turns[0]?.outcome
  const ill = told !== undefined && 'text' in told && told.text.startsWith('Yes')
  return { action: (turns.length === 0 ? fever : ill ? influenza : angina) as Action }
}
/** Says what it always says. */
const blunt: Agent = () => ({ action: words.actions[3] as Action })
const tinyEpisodes = (count: number): Promise<readonly Episode[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => consult(expert, n, 0)))

let shown: readonly Episode[]
let tiny: readonly Episode[]
beforeAll(async () => {
  shown = await oracleEpisodes(64)
  tiny = await tinyEpisodes(7)
})

describe('learns what it is shown', () => {
  test('the oracle, on cases neither has met: from chance to most of its accuracy', async () => {
    const backend = fresh()
    const before = await accuracyOf(backend.sampler({ temperature: 0 }))
    const demonstrations = await oracleEpisodes(600)
    await run(backend, { demonstrations, epochs: 8, episodesPerStep: 32 })
    const after = await accuracyOf(backend.sampler({ temperature: 0 }))
    const { atypicality, noise } = tier
    const ceiling = await accuracyOf(oracle({ knowledge, atypicality, noise }))
    expect(before).toBeLessThan(0.3)
    expect(after).toBeGreaterThan(before + 0.4)
    expect(after).toBeGreaterThan(0.75 * ceiling)
  })

  test('their likelihood rises with every step that sees them all', async () => {
    const told = await run(fresh(), { epochs: 30, episodesPerStep: 64 })
    const losses = told.map(({ update }) => update?.loss ?? Number.NaN)
    expect(losses).toHaveLength(30)
    for (let i = 1; i < losses.length; i++) expect(losses[i]).toBeLessThan(losses[i - 1] as number)
    // A fresh policy finds every open move equally likely.
    expect(losses[0]).toBeGreaterThan(Math.log(actionSpace.actions.length / 2))
    expect(losses[0]).toBeLessThanOrEqual(Math.log(actionSpace.actions.length))
    expect(losses.at(-1)).toBeLessThan(0.5 * (losses[0] as number))
  })

  test('over the epochs in small steps too', async () => {
    const told = await run(fresh(), { epochs: 6 })
    const epochs = Array.from({ length: 6 }, (_, epoch) =>
      told
        .slice(4 * epoch, 4 * epoch + 4)
        .reduce((sum, { update }) => sum + (update?.loss ?? Number.NaN), 0),
    )
    for (let i = 1; i < epochs.length; i++) expect(epochs[i]).toBeLessThan(epochs[i - 1] as number)
  })
})

describe('the same weights', () => {
  test('interrupted in the middle of an epoch and resumed, or not: byte for byte', async () => {
    const straight = fresh()
    await run(straight, { epochs: 3, seed: 5 })
    for (const stop of [3, 4, 6]) {
      const first = fresh()
      const abort = new AbortController()
      const stopping = run(first, {
        epochs: 3,
        seed: 5,
        signal: abort.signal,
        afterStep: async ({ step }) => {
          if (step === stop) abort.abort(new Error('enough'))
        },
      })
      await expect(stopping).rejects.toThrow('enough')
      expect(first.policyVersion).toBe(stop)
      const second = fresh()
      await second.load(await saved(first))
      const told = await run(second, { epochs: 3, seed: 5, firstStep: stop + 1 })
      expect(told[0]?.step).toBe(stop + 1)
      expect(told.at(-1)?.steps).toBe(12)
      expect(await bytesOf(second)).toBe(await bytesOf(straight))
    }
  })

  test('whatever the concurrency at which the demonstrations were played', async () => {
    const [one, many] = [fresh(), fresh()]
    await run(one, { demonstrations: await oracleEpisodes(40, 1) })
    await run(many, { demonstrations: await oracleEpisodes(40, 32) })
    expect(await bytesOf(many)).toBe(await bytesOf(one))
  })

  test('from a list or a source; and other weights with another seed', async () => {
    const [list, source, other] = [fresh(), fresh(), fresh()]
    await run(list)
    await run(source, {
      demonstrations: (async function* () {
        for (const episode of shown) yield episode
      })(),
    })
    await run(other, { seed: 1 })
    expect(await bytesOf(source)).toBe(await bytesOf(list))
    expect(await bytesOf(other)).not.toBe(await bytesOf(list))
  })
})

describe('the order', () => {
  test('shows every demonstration once an epoch, each epoch in another order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat({ max: 1000 }),
        async (count, episodesPerStep, seed) => {
          const { backend, ids } = watched()
          const demonstrations = tiny.slice(0, count)
          await run(backend, { demonstrations, episodesPerStep, seed, epochs: 2 })
          expect(backend.policyVersion).toBe(2 * Math.ceil(count / episodesPerStep))
          const own = demonstrations.map(({ id }) => id)
          // The first is shown once more, to see whether anything can be learnt at all.
          expect(ids.slice(1, 1 + count).sort()).toEqual(own)
          expect(ids.slice(1 + count).sort()).toEqual(own)
        },
      ),
      { numRuns: 25 },
    )
    const { backend, ids } = watched()
    await run(backend, { demonstrations: tiny, epochs: 2 })
    expect(ids.slice(1, 8)).not.toEqual(ids.slice(8))
  })

  test('a step depends on seed and number alone, wherever the run begins or ends', async () => {
    const all = watched()
    await run(all.backend, { demonstrations: tiny, episodesPerStep: 3, steps: 8, seed: 2 })
    const late = watched()
    await run(late.backend, {
      demonstrations: tiny,
      episodesPerStep: 3,
      steps: 7,
      firstStep: 5,
      seed: 2,
    })
    const members = ({ batches }: typeof all) =>
      batches.map(({ step, segments }) => [step, segments.map(({ rolloutId }) => rolloutId)])
    expect(members(all)).toHaveLength(8)
    expect(members(late)).toEqual(members(all).slice(4, 7))
  })
})

describe('the batch', () => {
  test('is cross-entropy and nothing beside it, with the normaliser that was asked for', async () => {
    for (const normaliser of normaliserKinds) {
      const { backend, batches } = watched()
      await run(backend, {
        demonstrations: tiny,
        normaliser,
        steps: 1,
        ...(normaliser === 'dr-grpo' ? { maxTokens: 4 } : {}),
      })
      const [batch] = batches
      expect(batch?.loss).toEqual({ kind: 'cross-entropy', entropy: 0 })
      expect(batch?.normaliser.kind).toBe(normaliser)
    }
    const { backend, batches } = watched()
    await run(backend, { demonstrations: tiny, steps: 1 })
    // Two moves of each of seven.
    expect([...(batches[0]?.normaliser.perSegment ?? [])]).toEqual(new Array(7).fill(1 / 14))
  })

  test('takes two episodes of one name for two', async () => {
    const { backend, batches } = watched()
    const [long] = tiny as readonly [Episode]
    const short = { ...(await consult(blunt, 1, 0)), id: long.id }
    await run(backend, { demonstrations: [long, short], normaliser: 'rollout-mean', steps: 1 })
    // Of two rollouts, the one of two tokens and the one of one; as one rollout of three both would have 1/3.
    expect([...(batches[0]?.normaliser.perSegment ?? [])].sort()).toEqual([1 / 4, 1 / 2])
  })
})

describe('metrics', () => {
  test('count moves, have no score, and say what a step did', async () => {
    const [metrics, ...others] = await run(embedded({ actionSpace: words }), {
      demonstrations: tiny,
      steps: 1,
    })
    expect(others).toEqual([])
    expect(metrics).toMatchObject({
      step: 1,
      steps: 1,
      policyVersion: 1,
      reward: null,
      accuracy: null,
      turns: 2,
      groups: { drawn: 0, formed: 0, zeroVariance: 0, dropped: 0 },
      samples: { used: 14, unavailable: 0, stale: 0, forks: 0 },
    })
    expect(metrics?.update?.tokens).toBe(14)
  })

  test('tell apart the moves that the policy could not have made', async () => {
    const stranger: Agent = (observation, context) =>
      observation.turns.length === 0
        ? { action: { kind: 'ask', text: 'Who sent you?' } }
        : expert({ ...observation, turns: observation.turns.slice(1) }, context)
    const strange = await Promise.all([0, 1, 2].map((n) => consult(stranger, n, 0)))
    const [metrics] = await run(embedded({ actionSpace: words }), {
      demonstrations: [...tiny, ...strange],
      steps: 1,
    })
    expect(metrics?.samples).toEqual({ used: 20, unavailable: 3, stale: 0, forks: 0 })
  })

  test('count a move of several tokens once', async () => {
    const backend = embedded({ actionSpace: words })
    const { demonstrate } = backend
    // As a policy would that says every word twice.
    backend.demonstrate = (episode) =>
      (demonstrate?.call(backend, episode) ?? []).map((segment) => ({
        ...segment,
        tokens: Int32Array.from([...segment.tokens, segment.tokens.at(-1) ?? 0]),
        mask: Uint8Array.of(1, 1),
        logprobs: Float32Array.of(0, 0),
        advantages: Float32Array.of(1, 1),
        policyVersions: Int32Array.of(0, 0),
      }))
    const demonstrations = await Promise.all([0, 1, 2].map((n) => consult(blunt, n, 0)))
    const [metrics] = await run(backend, { demonstrations, steps: 1 })
    expect(metrics?.update?.tokens).toBe(6)
    expect(metrics?.samples).toMatchObject({ used: 3, unavailable: 0 })
  })

  test('a step without a move to learn makes no version, and the run goes on', async () => {
    const mute: Agent = () => ({ action: { kind: 'give-up' } })
    const silent = { ...(await consult(mute, 0, 0)), id: 'silent' }
    const backend = embedded({ actionSpace: words })
    const told = await run(backend, {
      demonstrations: [silent, ...tiny],
      episodesPerStep: 1,
      epochs: 1,
    })
    const idle = told.filter(({ update }) => !update)
    expect(idle).toHaveLength(1)
    expect(idle[0]?.samples).toEqual({ used: 0, unavailable: 4, stale: 0, forks: 0 })
    expect(backend.policyVersion).toBe(7)
  })
})

describe('what a run is told and gives back', () => {
  test('needs a backend and demonstrations', async () => {
    const { backend, batches } = watched()
    const { steps, metrics } = await trainSft({ backend, demonstrations: tiny })
    expect([steps, metrics.length, batches.length]).toEqual([1, 1, 1])
    expect(Recipe.parse({}).training.adam).toMatchObject(batches[0]?.adam ?? {})
    expect(batches[0]?.normaliser.kind).toBe('token-mean')
  })

  test('bounds an episode by its turns, for a normaliser that asks', async () => {
    const { backend, batches } = watched()
    await trainSft({ backend, demonstrations: tiny, normaliser: 'dr-grpo' })
    const longest = Math.max(...tiny.map(({ maxTurns }) => maxTurns))
    expect(batches[0]?.normaliser.perSegment[0]).toBe(1 / (tiny.length * longest))
  })

  test('hands what a step was shown to afterStep', async () => {
    const made: SftStep[] = []
    const { steps, metrics } = await trainSft({
      ...{ backend: watched().backend, demonstrations: tiny, episodesPerStep: 3, steps: 9 },
      afterStep: (one) => {
        made.push(one)
        return one.step === 4 ? 'stop' : undefined
      },
    })
    expect(steps).toBe(4)
    expect(made.map((one) => one.metrics)).toEqual(metrics)
    const ids = (some: readonly Episode[]) => some.map(({ id }) => id).sort()
    expect(ids(made.slice(0, 3).flatMap(({ episodes }) => episodes))).toEqual(ids(tiny))
  })
})

describe('refuses', () => {
  test('a backend that cannot be shown anything, before it reads a demonstration', async () => {
    const { demonstrate: _, ...others } = fresh()
    let read = 0
    const demonstrations = (async function* () {
      read += 1
      yield* shown
    })()
    await expect(run(others, { demonstrations })).rejects.toThrow(
      new TypeError(
        'Expected a backend with `demonstrate`, which fine-tuning learns by, got `embedded`',
      ),
    )
    expect(read).toBe(0)
  })

  test('demonstrations of which the policy could play nothing, naming the first', async () => {
    const gout: Action = { kind: 'diagnose', diagnosis: 'Gout' }
    const backend = embedded({ actionSpace: actionSpaceOf('en', [gout]) })
    const error = await run(backend, { demonstrations: shown }).catch((thrown: unknown) => thrown)
    expect(Fault.is(error) && error.code).toBe('bad-input')
    expect(String(error)).toContain(
      'oracle/0/0: expected a move that embedded can make, got none in this or any other of 64 demonstrations',
    )
    expect(backend.policyVersion).toBe(0)
  })

  test('no demonstrations at all', async () => {
    await expect(run(fresh(), { demonstrations: [] })).rejects.toMatchObject({
      code: 'bad-input',
      message: 'Expected demonstrations, got none',
    })
  })

  test('numbers that are no counts, and two lengths at once', async () => {
    for (const name of ['epochs', 'steps', 'firstStep', 'episodesPerStep'] as const)
      for (const value of [0, -1, 1.5, Number.NaN])
        await expect(run(fresh(), { [name]: value })).rejects.toThrow(
          new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``),
        )
    await expect(run(fresh(), { epochs: 2, steps: 3 })).rejects.toThrow(
      new RangeError('Expected `epochs` or `steps`, got both: `2` and `3`'),
    )
  })

  test('to go on when its signal is aborted, though the backend waits for nothing', async () => {
    const abort = new AbortController()
    setTimeout(() => abort.abort(new Error('enough')), 0)
    const backend = embedded({ actionSpace: words })
    const endless = run(backend, { demonstrations: tiny, steps: 1_000_000, signal: abort.signal })
    await expect(endless).rejects.toThrow('enough')
  })
})

test('with hindsight every turn learns the diagnosis that the demonstration ended with', async () => {
  const { backend, batches } = watched()
  const demonstrations = [await consult(expert, 0, 0), await consult(expert, 1, 0)]
  await trainSft({
    ...{ backend, demonstrations, hindsight: { adam: { learningRate: 0.1 } } },
    ...{ steps: 1, episodesPerStep: 2 },
  })
  const [imitated, taught] = batches.map(({ segments }) =>
    segments.map(({ tokens, promptLength, mask }) =>
      [...mask].flatMap((one, t) => (one ? [tokens[promptLength + t]!] : [])),
    ),
  )
  expect(batches).toHaveLength(2)
  // A question and a diagnosis become that diagnosis twice.
  expect(taught).toEqual(imitated?.map((moves) => moves.map(() => moves.at(-1))))
})
