import { describe, expect, test } from 'vitest'
import { oracle } from '../../../src/agents/oracle.js'
import { random } from '../../../src/agents/random.js'
import type { Case } from '../../../src/case.js'
import { graderView } from '../../../src/case.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { knowledgeActionSpace } from '../../../src/knowledge/action-space.js'
import { clinic } from '../../../src/knowledge/knowledge.js'
import { tiers } from '../../../src/knowledge/tiers.js'
import { otherwise, weigh } from '../../../src/rewards/combinators/compose.js'
import { namedReward } from '../../../src/rewards/named.js'
import {
  informationGain,
  informationPotentials,
} from '../../../src/rewards/process/information-gain.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import { consult } from '../../fixtures/consulting.js'
import { familyKnowledge } from '../../fixtures/family-knowledge.js'
import { fc } from '../../fixtures/property.js'
import { diagnose, episodeOf } from '../../fixtures/reward-episodes.js'
import { tinyCase } from '../../fixtures/tiny-case.js'

const knowledge = familyKnowledge()
const tier = tiers.standard
const reward = informationGain({ knowledge, tier })
const make = caseSource(knowledge, { tier: 'standard', split: 'heldout' })
const playing = { knowledge, tier: 'standard', count: 40 } as const

const { episodes: asked } = await consult(oracle({ knowledge, ...tier }), playing)
const { episodes: guessed } = await consult(
  random({ actionSpace: knowledgeActionSpace(knowledge, 'en') }),
  playing,
)
const material = [...asked, ...guessed].map((episode, i) => ({ episode, truth: make(i % 40) }))
const scoreOf = async ({ episode, truth }: (typeof material)[number]) =>
  (await reward(episode, graderView(truth))).total ?? Number.NaN

describe('information gain', () => {
  const down = () => {
    throw new Error('down')
  }
  const faulty = weigh({ mine: [1, otherwise(reward, 0)], judge: [1, down] })
  for (const { name, run } of rewardChecks(reward, { episodes: material })) test(name, run)

  test('composes, and is off by default', async () => {
    const failed = await faulty(material[0]!.episode, graderView(material[0]!.truth))
    expect(failed.total).toBeNull()
    const both = weigh({ gain: [1, reward], nothing: [1, () => 0] })
    const { total } = await both(material[0]!.episode, graderView(material[0]!.truth))
    expect(total).toBeCloseTo((await scoreOf(material[0]!)) / 2, 12)
    expect(Object.keys(namedReward('default').weights ?? {})).not.toContain('information')
    expect(namedReward('information-gain', { knowledge, tier }).bounds).toEqual([-1, 1])
  })

  test('is the sum of the differences of potentials that lie within 0 and 1', async () => {
    for (const one of material) {
      const potentials =
        informationPotentials(one.episode, graderView(one.truth), { knowledge, tier }) ?? []
      expect(potentials).toHaveLength(one.episode.turns.length + 1)
      for (const potential of potentials) {
        expect(potential).toBeGreaterThanOrEqual(0)
        expect(potential).toBeLessThanOrEqual(1 + 1e-12)
      }
      const steps = potentials.slice(1).map((potential, t) => potential - potentials[t]!)
      const sum = steps.reduce((total, step) => total + step, 0)
      expect(await scoreOf(one)).toBeCloseTo(sum, 12)
    }
  })

  test('pays who asks well more than who asks at random, and who asks nothing nothing', async () => {
    const scores = await Promise.all(material.map(scoreOf))
    const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length
    expect(mean(scores.slice(0, 40))).toBeGreaterThan(1.5 * mean(scores.slice(40)))
    const silent = {
      ...material[0]!,
      episode: { ...material[0]!.episode, turns: [diagnose('flu')] },
    }
    expect(await scoreOf(silent)).toBe(0)
  })

  test('pays nothing for being told the same again', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(39), fc.nat(3), async (n, times) => {
        const one = material[n]!
        const turns = one.episode.turns.flatMap((turn) => Array(times + 1).fill(turn))
        const longer = { ...one, episode: { ...one.episode, turns } }
        expect(await scoreOf(longer)).toBe(await scoreOf(one))
      }),
    ))

  test('reaches from the bottom to the top for a diagnosis nobody thought of that is sure in the end', async () => {
    for (const least of [0.5, 0.1, 1e-3]) {
      const { total } = await informationGain({ knowledge, tier, least })(
        material[0]!.episode,
        graderView(material[0]!.truth),
      )
      expect(Math.abs(total ?? 2)).toBeLessThanOrEqual(1)
    }
    for (const least of [0, 1, -1, Number.NaN])
      expect(() => informationGain({ least })).toThrow(`got \`${least}\``)
  })

  test('does not apply to a disease of another knowledge base, and takes the world of each case', async () => {
    const strange = await reward(episodeOf([diagnose('x')]), graderView(tinyCase()))
    expect(strange).toEqual({
      total: null,
      parts: { 'information-gain': { status: 'not-applicable' } },
    })
    const chest = clinic(knowledge, ['chest'])
    const worlds: string[] = []
    const each = informationGain({
      worldOf: ({ caseId }) => {
        worlds.push(caseId)
        return { knowledge: chest, tier }
      },
    })
    const one = material.find(({ truth }: { truth: Case }) =>
      chest.disease.has(truth.gold.dx[0]!.id),
    )!
    expect((await each(one.episode, graderView(one.truth))).total).not.toBe(await scoreOf(one))
    expect(worlds).toEqual([one.truth.id])
  })
})
