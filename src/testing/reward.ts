/** Conformance checks of a reward (`reward.ts`): bounded, explicit about what it could not judge, read-only. */
import { type Case, graderView } from '../case.js'
import type { Episode } from '../episode.js'
import { deepFreeze } from '../platform/freeze.js'
import type { Part, Reward, Score } from '../reward.js'
import { type Check, type CheckRuns, toChecks } from './check.js'
import { expectAnswer, expectPlain, expectSame, expectThat } from './expect.js'

/** Inputs of {@link rewardChecks}. */
export interface RewardMaterial {
  /** Finished episodes with the case of each; at least one of them must get a total. */
  readonly episodes: readonly { readonly episode: Episode; readonly truth: Case }[]
  /** The same reward with a component that throws a `Fault`; adds the check that no failure becomes a number. */
  readonly faulty?: Reward
  /** False leaves out the determinism check, for a reward with a model judge. @default true */
  readonly deterministic?: boolean
}

const fields: Readonly<Record<Part['status'], readonly string[]>> = {
  ok: ['evidence', 'status', 'value'],
  unavailable: ['reason', 'status'],
  'not-applicable': ['status'],
}

/** Throws unless a score is plain data, with known statuses and finite numbers. */
function expectWellFormed({ total, parts, turns }: Score, { length }: Episode['turns']): void {
  expectThat(total === null || Number.isFinite(total), 'a finite total or null', String(total))
  expectPlain('parts', parts)
  expectThat(Object.keys(parts).length > 0, 'at least one part', parts)
  for (const [name, part] of Object.entries(parts)) {
    const what = `parts.${name}`
    expectThat(Object.hasOwn(fields, part.status), `${what} to have a known status`, part)
    const strange = Object.keys(part).find((key) => !fields[part.status].includes(key))
    expectThat(strange === undefined, `${what} without \`${strange}\``, part)
    if (part.status === 'ok')
      expectThat(Number.isFinite(part.value), `${what} to have a finite value`, part)
    if (part.status === 'unavailable')
      expectThat(part.reason !== '', `${what} to give a reason`, part)
  }
  if (turns === undefined) return
  expectThat(turns.length === length, `one of \`turns\` for each of the ${length} turns`, turns)
  expectThat(turns.every(Number.isFinite), 'finite `turns`', turns)
}

/** Throws for a total without a judged part, or no total where every part was judged. */
function expectMatchingTotal({ total, parts }: Score): void {
  const statuses = Object.values(parts).map(({ status }) => status)
  if (total !== null)
    expectThat(statuses.includes('ok'), 'no total where no part was judged', { total, parts })
  else
    expectThat(
      statuses.some((status) => status !== 'ok'),
      'a total where every part was judged',
      { total, parts },
    )
}

function expectDeclared({ bounds, rewardName, source }: Reward): void {
  const [low, high] = bounds
  expectThat(
    Number.isFinite(low) && Number.isFinite(high) && low <= high,
    'finite bounds, low <= high',
    bounds,
  )
  expectThat(rewardName !== '', 'a `rewardName`', rewardName)
  expectThat(source !== '', 'a `source`', source)
}

function expectWithinBounds({ total }: Score, [low, high]: Reward['bounds']): void {
  // Sums of weights such as .1 + .2 are off by an ulp or two.
  const slack = 1e-9 * Math.max(1, Math.abs(low), Math.abs(high))
  if (total !== null)
    expectThat(
      total >= low - slack && total <= high + slack,
      `a total within [${low}, ${high}]`,
      String(total),
    )
}

function expectNoTotal({ total, parts }: Score): void {
  expectThat(total === null, 'no total where a needed component failed', { total, parts })
  expectThat(
    Object.values(parts).some(({ status }) => status === 'unavailable'),
    'the failed component to be unavailable',
    parts,
  )
}

const determinism = (reward: Reward, episodes: RewardMaterial['episodes']): CheckRuns => ({
  'the same episode gets the same score': async () => {
    for (const { episode, truth } of episodes) {
      const first = await reward(episode, graderView(truth))
      const second = await reward(structuredClone(episode), graderView(truth))
      expectSame(episode.id, second, first)
    }
  },
})

/** Lists every promise of the reward contract as a check, each over all episodes. */
export function rewardChecks(reward: Reward, material: RewardMaterial): readonly Check[] {
  const { episodes, faulty, deterministic = true } = material
  type Use = (score: Score, turns: Episode['turns']) => void
  const scored = (by: Reward, use: Use) => async (): Promise<void> => {
    expectThat(episodes.length > 0, 'at least one episode', 'none')
    for (const { episode, truth } of episodes)
      use(await expectAnswer(episode.id, () => by(episode, graderView(truth))), episode.turns)
  }
  return toChecks({
    'it declares a name, a source and finite bounds': async () => expectDeclared(reward),
    'every total is within the bounds, or null': scored(reward, (score) =>
      expectWithinBounds(score, reward.bounds),
    ),
    'parts are plain and well-formed': scored(reward, expectWellFormed),
    'there is a total exactly where something could be judged': async () => {
      let totals = 0
      await scored(reward, (score) => {
        expectMatchingTotal(score)
        if (score.total !== null) totals++
      })()
      expectThat(totals > 0, '`episodes` to get a total (nothing can be tested otherwise)', 'none')
    },
    ...(deterministic ? determinism(reward, episodes) : {}),
    'the episode and the truth are only read': async () => {
      for (const { episode, truth } of structuredClone(episodes))
        await expectAnswer(`a frozen ${episode.id}`, () =>
          reward(deepFreeze(episode), deepFreeze(graderView(truth))),
        )
    },
    ...(faulty ? { 'a failed component is never a number': scored(faulty, expectNoTotal) } : {}),
  })
}
