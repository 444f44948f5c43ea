/** Our estimators against what verl, TRL and slime themselves gave for the inputs in test/golden. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { KlPenalty } from '../../../src/batch.js'
import type { AdvantageEstimator, BatchEstimator } from '../../../src/group.js'
import { gae, reinforcePlusPlus } from '../../../src/trainers/advantages/gae.js'
import {
  gdpoAdvantages,
  litePpoAdvantages,
  opoAdvantages,
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../../../src/trainers/advantages/per-batch.js'
import {
  drGrpoAdvantages,
  grpoAdvantages,
  grpoVariants,
  passKAdvantages,
  remaxAdvantages,
  rlooAdvantages,
} from '../../../src/trainers/advantages/per-group.js'
import {
  klPenalisedRewards,
  terminalReward,
} from '../../../src/trainers/advantages/token-rewards.js'
import { whitenTokens } from '../../../src/trainers/advantages/whiten.js'

type Rows = readonly (readonly number[])[]

interface Batch {
  readonly group: readonly string[]
  readonly reward: readonly number[]
  readonly second_reward: readonly number[]
  readonly response_mask: Rows
  readonly old_log_prob: Rows
  readonly log_prob: Rows
  readonly ref_log_prob: Rows
  readonly value: Rows
}

interface Case {
  readonly name: string
  readonly kind: string
  readonly batch: string
  readonly inputs: {
    readonly token_level_rewards?: Rows
    readonly reward_baselines?: readonly number[]
    readonly rewards_per_function?: readonly (readonly (number | null)[])[]
  }
  readonly outputs: { readonly [name: string]: Rows | readonly number[] }
}

interface Golden {
  readonly batches: { readonly [name: string]: Batch }
  readonly cases: readonly Case[]
}

const read = (name: string): Golden =>
  // The shape is the generators', in the same folder.
  JSON.parse(readFileSync(new URL(`../../golden/${name}.json`, import.meta.url), 'utf8')) as Golden
const golden = { verl: read('verl'), trl: read('trl'), slime: read('slime') }

function lookUp(library: keyof typeof golden, name: string) {
  const found = golden[library].cases.find((one) => one.name === name)
  const batch = found && golden[library].batches[found.batch]
  if (!found || !batch) throw new Error(`test/golden/${library}.json has no case ${name}`)
  return { ...found, batch, masks: batch.response_mask.map((row) => Uint8Array.from(row)) }
}

/** An output by token, or by member. */
const rowsOf = ({ outputs }: Case | ReturnType<typeof lookUp>, name: string): Rows =>
  // Which of the two an output is follows from its name.
  outputs[name] as Rows
const listOf = ({ outputs }: ReturnType<typeof lookUp>, name: string): readonly number[] =>
  outputs[name] as readonly number[]

const nearly = (got: number | undefined, expected: number | undefined, where: string) => {
  const tolerance = 1e-6 * Math.max(1, Math.abs(expected ?? 0))
  expect(Math.abs((got ?? Number.NaN) - (expected ?? Number.NaN)), where).toBeLessThan(tolerance)
}

/** Equal where drawn, 0 where masked; what upstream leaves at masked tokens is never used. */
function sameTokens(
  got: readonly ArrayLike<number>[],
  expected: Rows,
  masks: readonly Uint8Array[],
  rows: readonly number[] = masks.map((_, i) => i),
) {
  expect(rows.length).toBeGreaterThan(0)
  for (const i of rows)
    masks[i]!.forEach((drawn, t) => {
      if (drawn) nearly(got[i]?.[t], expected[i]?.[t], `row ${i}, token ${t}`)
      else expect(got[i]?.[t]).toBe(0)
    })
}

const spread = (values: readonly number[], masks: readonly Uint8Array[]): Float64Array[] =>
  masks.map((mask, i) => Float64Array.from(mask, (drawn) => (drawn ? values[i]! : 0)))

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)

/** Where the members of each group stand, in order of their groups. */
const groupsOf = (names: readonly string[]): number[][] =>
  [...new Set(names)].map((name) => names.flatMap((own, i) => (own === name ? [i] : [])))

/** One number per row, from an estimator of one group. */
function byGroup(
  names: readonly string[],
  totals: readonly number[],
  estimate: AdvantageEstimator,
) {
  const out = totals.map(() => 0)
  for (const rows of groupsOf(names)) {
    const values = estimate(rows.map((i) => totals[i]!))
    rows.forEach((i, n) => {
      out[i] = values[n]!
    })
  }
  return out
}

/** One number per row, from an estimator of a batch. */
function together(
  names: readonly string[],
  {
    totals,
    parts,
    tokens,
  }: {
    readonly totals: readonly number[]
    readonly parts?: readonly Readonly<Record<string, number>>[]
    readonly tokens?: readonly number[]
  },
  estimate: BatchEstimator,
) {
  const places = groupsOf(names)
  const estimated = estimate(
    places.map((rows) => ({
      totals: rows.map((i) => totals[i]!),
      ...(parts ? { parts: rows.map((i) => parts[i]!) } : {}),
      ...(tokens ? { tokens: rows.map((i) => tokens[i]!) } : {}),
    })),
  )
  const out = totals.map(() => 0)
  places.forEach((rows, g) => {
    rows.forEach((i, n) => {
      out[i] = estimated[g]![n]!
    })
  })
  return out
}

/** verl gives a group of one its raw total, over 1 + epsilon where it divides; ours gives 0. The rest can be compared. */
const orRaw =
  (estimate: AdvantageEstimator, divisor = 1): AdvantageEstimator =>
  (totals) =>
    totals.length < 2 ? totals.map((total) => total / divisor) : estimate(totals)

describe('verl', () => {
  const epsilon = grpoVariants.verl.epsilon
  for (const [name, estimate, raw] of [
    ['grpo/ragged/std', grpoAdvantages(grpoVariants.verl), 0.7 / (1 + epsilon)],
    ['grpo/ragged/no-std', drGrpoAdvantages(), 0.7],
    ['grpo/aborted/std', grpoAdvantages(grpoVariants.verl), 0.7 / (1 + epsilon)],
    ['grpo/aborted/no-std', drGrpoAdvantages(), 0.7],
    ['grpo/even/std', grpoAdvantages(grpoVariants.verl), undefined],
    ['grpo/even/no-std', drGrpoAdvantages(), undefined],
    ['rloo/ragged', rlooAdvantages(), 0.7],
    ['rloo/aborted', rlooAdvantages(), 0.7],
    ['rloo/even', rlooAdvantages(), undefined],
    ['grpo_passk/even/std', passKAdvantages(), undefined],
    ['grpo_passk/even/no-std', passKAdvantages({ std: 'none' }), undefined],
  ] as const)
    test(`${name}: the same but for a group of one`, () => {
      const found = lookUp('verl', `advantage/${name}`)
      const totals = found.inputs.token_level_rewards!.map(sum)
      const ours = byGroup(found.batch.group, totals, estimate)
      const theirs = rowsOf(found, 'advantages')
      const alone = found.batch.group.indexOf('c')
      const rows = totals.flatMap((_, i) => (raw !== undefined && i === alone ? [] : [i]))
      sameTokens(spread(ours, found.masks), theirs, found.masks, rows)
      if (raw === undefined) return
      expect(ours[alone]).toBe(0)
      nearly(theirs[alone]?.[0], raw, 'the raw total')
    })

  test.each(['ragged', 'aborted', 'even'])('opo/%s: the same but for a group of one', (name) => {
    const found = lookUp('verl', `advantage/opo/${name}`)
    const { group } = found.batch
    const totals = found.inputs.token_level_rewards!.map(sum)
    const tokens = found.masks.map((mask) => sum([...mask]))
    const places = groupsOf(group)
    const estimated = opoAdvantages()(
      places.map((rows) => ({
        totals: rows.map((i) => totals[i]!),
        tokens: rows.map((i) => tokens[i]!),
      })),
    )
    const ours = totals.map(() => 0)
    places.forEach((rows, g) => {
      rows.forEach((i, n) => {
        ours[i] = estimated[g]![n]!
      })
    })
    const together = totals.flatMap((_, i) => {
      const alone = group.filter((one) => one === group[i]).length === 1
      if (alone) expect(ours[i]).toBe(0)
      return alone ? [] : [i]
    })
    sameTokens(spread(ours, found.masks), rowsOf(found, 'advantages'), found.masks, together)
  })

  test('remax/ragged', () => {
    const found = lookUp('verl', 'advantage/remax/ragged')
    const ours = found.batch.reward.map(
      (total, i) => remaxAdvantages(found.inputs.reward_baselines![i]!)([total])[0]!,
    )
    sameTokens(spread(ours, found.masks), rowsOf(found, 'advantages'), found.masks)
  })

  for (const [name, gamma] of [
    ['ragged/gamma=1.0', 1],
    ['ragged/gamma=0.9', 0.9],
    ['aborted/gamma=1.0', 1],
    ['aborted/gamma=0.9', 0.9],
    ['even/gamma=1.0', 1],
    ['ragged/token-rewards', 0.9],
  ] as const)
    test(`reinforce_plus_plus/${name}`, () => {
      const found = lookUp('verl', `advantage/reinforce_plus_plus/${name}`)
      const rows = found.masks.map((mask, i) => ({
        mask,
        // verl loses rewards of masked tokens without a word; ours refuses them.
        rewards: Float64Array.from(mask, (drawn, t) =>
          drawn ? found.inputs.token_level_rewards![i]![t]! : 0,
        ),
      }))
      const ours = reinforcePlusPlus(rows, { gamma })
      for (const what of ['advantages', 'returns'] as const)
        sameTokens(
          ours.map((row) => row[what]),
          rowsOf(found, what),
          found.masks,
        )
    })

  for (const name of ['ragged', 'aborted', 'even'])
    test(`reinforce_plus_plus/${name}/gamma=1.0, by episodes`, () => {
      const found = lookUp('verl', `advantage/reinforce_plus_plus/${name}/gamma=1.0`)
      const tokens = found.batch.response_mask.map(sum)
      const totals = found.inputs.token_level_rewards!.map(sum)
      const ours = together(found.batch.group, { totals, tokens }, reinforcePlusPlusAdvantages())
      sameTokens(spread(ours, found.masks), rowsOf(found, 'advantages'), found.masks)
    })

  test('reinforce_plus_plus_baseline/even, whitened over tokens', () => {
    const found = lookUp('verl', 'advantage/reinforce_plus_plus_baseline/even')
    const tokens = found.batch.response_mask.map(sum)
    const scored = { totals: found.batch.reward, tokens }
    const ours = together(found.batch.group, scored, reinforcePlusPlusBaselineAdvantages())
    sameTokens(spread(ours, found.masks), rowsOf(found, 'advantages'), found.masks)
  })

  for (const name of ['ragged', 'aborted'])
    test(`reinforce_plus_plus_baseline/${name}, with the raw total of a group of one`, () => {
      const found = lookUp('verl', `advantage/reinforce_plus_plus_baseline/${name}`)
      const totals = found.inputs.token_level_rewards!.map(sum)
      const centred = byGroup(found.batch.group, totals, orRaw(drGrpoAdvantages()))
      const values = spread(centred, found.masks)
      const ours = whitenTokens(values.map((row, i) => ({ values: row, mask: found.masks[i]! })))
      sameTokens(ours, rowsOf(found, 'advantages'), found.masks)
    })

  test('gdpo/even', () => {
    const found = lookUp('verl', 'advantage/gdpo/even/weights=1.0,0.5')
    const { reward, second_reward, response_mask, group } = found.batch
    const parts = reward.map((first, i) => ({ first, second: second_reward[i]! }))
    const ours = together(
      group,
      { totals: reward, parts, tokens: response_mask.map(sum) },
      gdpoAdvantages({ weights: { first: 1, second: 0.5 } }),
    )
    sameTokens(spread(ours, found.masks), rowsOf(found, 'advantages'), found.masks)
  })

  for (const weight of ['1.0', '0.5'])
    test(`gdpo/ragged with weights 1.0 and ${weight}, with the raw parts of a group of one`, () => {
      const found = lookUp('verl', `advantage/gdpo/ragged/weights=1.0,${weight}`)
      const { reward, second_reward, group } = found.batch
      const white = orRaw(grpoAdvantages(grpoVariants.verl), 1 + grpoVariants.verl.epsilon)
      const first = byGroup(group, reward, white)
      const second = byGroup(group, second_reward, white)
      const values = spread(
        first.map((value, i) => value + Number(weight) * second[i]!),
        found.masks,
      )
      const ours = whitenTokens(values.map((row, i) => ({ values: row, mask: found.masks[i]! })))
      sameTokens(ours, rowsOf(found, 'advantages'), found.masks)
    })

  for (const [name, gamma, lambda] of [
    ['gamma=1.0,lam=1.0', 1, 1],
    ['gamma=0.99,lam=0.95', 0.99, 0.95],
  ] as const)
    test(`gae/ragged/${name}`, () => {
      const found = lookUp('verl', `advantage/gae/ragged/${name}`)
      const rows = found.masks.map((mask, i) => ({
        mask,
        values: Float64Array.from(found.batch.value[i]!),
        rewards: Float64Array.from(mask, (drawn, t) =>
          drawn ? found.inputs.token_level_rewards![i]![t]! : 0,
        ),
      }))
      const ours = gae(rows, { gamma, lambda })
      for (const what of ['advantages', 'returns'] as const)
        sameTokens(
          ours.map((row) => row[what]),
          rowsOf(found, what),
          found.masks,
        )
    })
})

/** Rewards of 0 less the penalty, at weight -1: the estimate itself. */
const klOf = (
  { masks, batch }: ReturnType<typeof lookUp>,
  estimator: KlPenalty['estimator'],
): Float64Array[] =>
  masks.map((mask, i) =>
    klPenalisedRewards(
      {
        rewards: new Float64Array(mask.length),
        mask,
        logprobs: Float64Array.from(batch.log_prob[i]!),
        refLogprobs: Float64Array.from(batch.ref_log_prob[i]!),
      },
      { estimator, coefficient: -1 },
    ),
  )

describe.each(['ragged', 'extreme'])('KL of %s', (name) => {
  test.each(['k1', 'k2', 'k3'] as const)("%s is verl's", (estimator) => {
    const found = lookUp('verl', `kl/${estimator}/${name}`)
    sameTokens(klOf(found, estimator), rowsOf(found, 'kl'), found.masks)
  })

  test.each([
    ['k1', 'k1'],
    ['k2', 'k2'],
    ['low_var_kl', 'k3'],
  ] as const)("slime's %s is %s", (theirs, estimator) => {
    const found = lookUp('slime', `kl/${theirs}/${name}`)
    sameTokens(klOf(found, estimator), rowsOf(found, 'kl'), found.masks)
  })
})

describe('TRL', () => {
  /** What is scored at all, with weighted totals: TRL's members without any reward are ours without a total. */
  function scoredOf(found: ReturnType<typeof lookUp>, weights: readonly number[]) {
    const scored = found.inputs.rewards_per_function!.flatMap((rewards, i) => {
      const some = rewards.flatMap((value, k) => (value === null ? [] : [{ value, k }]))
      return some.length > 0 ? [{ i, some }] : []
    })
    return {
      rows: scored.map(({ i }) => i),
      names: scored.map(({ i }) => found.batch.group[i]!),
      totals: scored.map(({ some }) => sum(some.map(({ value, k }) => value * weights[k]!))),
      parts: scored.map(({ some }) =>
        Object.fromEntries(some.map(({ value, k }) => [`part${k}`, value])),
      ),
    }
  }

  function same(
    found: ReturnType<typeof lookUp>,
    rows: readonly number[],
    ours: readonly number[],
  ) {
    const theirs = listOf(found, 'advantages')
    theirs.forEach((value, i) => {
      const at = rows.indexOf(i)
      nearly(at < 0 ? 0 : ours[at], value, `member ${i}`)
    })
  }

  for (const batch of ['even', 'even-unscorable'])
    for (const [scale, estimate] of [
      ['group', grpoAdvantages(grpoVariants.trl)],
      ['none', drGrpoAdvantages()],
    ] as const)
      test(`${batch}/${scale}`, () => {
        const found = lookUp('trl', `advantage/${batch}/${scale}`)
        const { rows, names, totals } = scoredOf(found, [1, 1])
        same(found, rows, byGroup(names, totals, estimate))
      })

  test.each(['even', 'even-unscorable'])('%s/batch is Lite PPO', (batch) => {
    const found = lookUp('trl', `advantage/${batch}/batch`)
    const { rows, names, totals } = scoredOf(found, [1, 1])
    same(found, rows, together(names, { totals }, litePpoAdvantages()))
  })

  test('even-singletons/group: groups of one get 0', () => {
    const found = lookUp('trl', 'advantage/even-singletons/group')
    const { rows, totals } = scoredOf(found, [1, 1])
    same(found, rows, byGroup(rows.map(String), totals, grpoAdvantages(grpoVariants.trl)))
  })

  test.each([1, 0.5])('even-two with a second weight of %d', (second) => {
    const label = `weights=1.0,${second.toFixed(1)}`
    const summed = lookUp('trl', `advantage/even-two/sum_then_normalize/${label}`)
    const { rows, names, totals, parts } = scoredOf(summed, [1, second])
    same(summed, rows, byGroup(names, totals, grpoAdvantages(grpoVariants.trl)))
    const estimate = gdpoAdvantages({
      weights: { part0: 1, part1: second },
      epsilon: 1e-4,
      inside: 0,
      outside: 1e-4,
    })
    const normalised = lookUp('trl', `advantage/even-two/normalize_then_sum/${label}`)
    same(normalised, rows, together(names, { totals, parts }, estimate))
  })
})

describe('slime', () => {
  test.each([
    ['grpo/even/std', grpoAdvantages(grpoVariants.slime)],
    ['grpo/even/no-std', drGrpoAdvantages()],
    ['reinforce_plus_plus_baseline/even/std', drGrpoAdvantages()],
    ['grpo/ragged/std/unequal-groups-use-the-whole-batch', grpoAdvantages(grpoVariants.slime)],
  ] as const)('rewards/%s', (name, estimate) => {
    const found = lookUp('slime', `rewards/${name}`)
    const { group, reward } = found.batch
    // Of groups of unequal sizes slime makes one; the formula is the same.
    const names = name.includes('whole-batch') ? group.map(() => 'all') : group
    const ours = byGroup(names, reward, estimate)
    listOf(found, 'rewards').forEach((value, i) => {
      nearly(ours[i], value, `member ${i}`)
    })
  })

  /** Rows as slime makes them: the total at the last token, less k1 at each. */
  const rowsOfSlime = ({ masks, batch }: ReturnType<typeof lookUp>, coefficient: number) =>
    masks.map((mask, i) => ({
      mask,
      values: Float64Array.from(batch.value[i]!),
      rewards: klPenalisedRewards(
        {
          mask,
          rewards: terminalReward(mask, batch.reward[i]!),
          logprobs: Float64Array.from(batch.old_log_prob[i]!),
          refLogprobs: Float64Array.from(batch.ref_log_prob[i]!),
        },
        { estimator: 'k1', coefficient },
      ),
    }))

  /** slime discounts at masked tokens too, so only rows without one in between can agree with a discount. */
  const unbroken = (masks: readonly Uint8Array[]) =>
    masks.flatMap((mask, i) => (mask.lastIndexOf(1) + 1 === sum([...mask]) ? [i] : []))

  test('reinforce_plus_plus/ragged, whitened', () => {
    const found = lookUp('slime', 'advantage/reinforce_plus_plus/ragged/whitened')
    const ours = reinforcePlusPlus(rowsOfSlime(found, 0))
    for (const what of ['advantages', 'returns'] as const)
      sameTokens(
        ours.map((row) => row[what]),
        rowsOf(found, what),
        found.masks,
      )
  })

  test('reinforce_plus_plus/ragged/kl,gamma=0.9: KL in the reward', () => {
    const found = lookUp('slime', 'advantage/reinforce_plus_plus/ragged/kl,gamma=0.9')
    const ours = reinforcePlusPlus(rowsOfSlime(found, 0.1), { gamma: 0.9 })
    const rows = unbroken(found.masks)
    sameTokens(
      ours.map(({ returns }) => returns),
      rowsOf(found, 'returns'),
      found.masks,
      rows,
    )
  })

  test.each([
    ['ragged', false],
    ['ragged/whitened', true],
  ] as const)('ppo/%s', (name, whiten) => {
    const found = lookUp('slime', `advantage/ppo/${name}`)
    const ours = gae(rowsOfSlime(found, 0), { gamma: 1, lambda: 1, whiten })
    for (const what of ['advantages', 'returns'] as const)
      sameTokens(
        ours.map((row) => row[what]),
        rowsOf(found, what),
        found.masks,
      )
  })

  test('ppo/ragged/kl,gamma=0.9: KL in the reward', () => {
    const found = lookUp('slime', 'advantage/ppo/ragged/kl,gamma=0.9')
    const options = { gamma: 0.9, lambda: 0.95, whiten: false }
    const ours = gae(rowsOfSlime(found, 0.1), options)
    const rows = unbroken(found.masks)
    for (const what of ['advantages', 'returns'] as const)
      sameTokens(
        ours.map((row) => row[what]),
        rowsOf(found, what),
        found.masks,
        rows,
      )
  })
})
