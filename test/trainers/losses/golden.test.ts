/** Losses and their gradients against the real functions of verl, TRL and slime. */
import { describe, expect, test } from 'vitest'
import type { Loss, NormaliserKind, TokenSegment } from '../../../src/batch.js'
import { countDrawnTokens, makeNormaliser } from '../../../src/batch.js'
import { batchLoss } from '../../../src/trainers/losses/batch-loss.js'
import { valueLoss } from '../../../src/trainers/losses/critic-targets.js'
import type { GoldenCase, GoldenKey } from '../../fixtures/golden.js'
import { golden, rowsOf } from '../../fixtures/golden.js'

/** A published loss in our own terms; or why it has none. */
type Ours = { readonly loss: Loss; readonly weights: readonly number[] } | string

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
/** The numbers of a case's configuration; its authors wrote them. */
const numberOf = ({ config }: GoldenCase, key: GoldenKey): number => Number(config[key])

const by = (kind: NormaliserKind, rows: readonly TokenSegment[], maxTokens = 1) => [
  ...makeNormaliser(kind, rows, { maxTokens }).perSegment,
]

function verlWeights(one: GoldenCase, rows: readonly TokenSegment[]): readonly number[] {
  // The shape of `agg_loss`'s arguments.
  const info = one.config.global_batch_info as {
    readonly [key in
      | 'dp_size'
      | 'global_batch_size'
      | 'batch_num_tokens'
      | 'loss_scale_factor']?: number
  }
  const drawing = rows.filter((row) => countDrawnTokens(row) > 0).length
  const ranks = info.dp_size ?? 1
  const sequences = (info.global_batch_size ?? drawing) / ranks
  const mode = one.function.includes('sapo') ? 'seq-mean-token-mean' : one.config.loss_agg_mode
  const whole = Object.keys(info).length === 0
  if (mode === 'token-mean')
    return whole
      ? by('token-mean', rows)
      : rows.map(() => ranks / (info.batch_num_tokens ?? Number.NaN))
  if (mode === 'seq-mean-token-mean')
    return whole
      ? by('seq-mean', rows)
      : rows.map((row) => 1 / (Math.max(1, countDrawnTokens(row)) * sequences))
  if (mode === 'seq-mean-token-sum')
    return whole ? by('seq-mean-token-sum', rows) : rows.map(() => 1 / sequences)
  const width = info.loss_scale_factor ?? rows[0]!.mask.length
  // Ours counts a rollout that drew nothing, as TRL's does; verl's leaves it out.
  return whole && drawing === rows.length
    ? by('dr-grpo', rows, width)
    : rows.map(() => 1 / (sequences * width))
}

function verlLoss(one: GoldenCase): Loss | string {
  const [low, high] = [numberOf(one, 'clip_ratio_low'), numberOf(one, 'clip_ratio_high')]
  const [, kind] = /compute_policy_loss_(\w+)$/.exec(one.function) ?? []
  if (one.batch === 'extreme' && kind !== 'gpg') return 'verl clamps log-ratios'
  if (kind === 'vanilla')
    return { kind: 'ppo-clip', low, high, dual: numberOf(one, 'clip_ratio_c'), entropy: 0 }
  if (kind === 'gspo' || kind === 'cispo') return { kind, low, high, entropy: 0 }
  if (kind === 'gpg') return { kind: 'policy-gradient', entropy: 0 }
  if (kind !== 'sapo') return `no ${kind}`
  const [tauPositive, tauNegative] = [numberOf(one, 'tau_pos'), numberOf(one, 'tau_neg')]
  return { kind, tauPositive, tauNegative, entropy: 0 }
}

function trlLoss(one: GoldenCase): Loss | string {
  const { config } = one
  const [low, high] = [numberOf(one, 'epsilon_low'), numberOf(one, 'epsilon_high')]
  const type = String(config.loss_type)
  if (type === 'vespo') return 'no vespo'
  // Of tokens LUSPO is the sum of ratios, which TRL itself advises against.
  const sequence = config.importance_sampling_level === 'sequence'
  const beta = numberOf(one, 'beta')
  const apart = config.off_policy_mask_threshold
  const bonus = numberOf(one, 'entropy_coef')
  const mode = config.vllm_importance_sampling_mode
  const min = config.vllm_importance_sampling_clip_min
  const besides = {
    entropy: bonus,
    ...(bonus > 0 ? { entropyOver: 'tokens' as const } : {}),
    ...(apart === null ? {} : { offPolicyMask: { threshold: Number(apart) } }),
    ...(beta > 0
      ? {
          kl: {
            ...({ estimator: 'k3', coefficient: beta } as const),
            ratio: config.use_bias_correction_kl === true,
          },
        }
      : {}),
    ...(typeof mode === 'string'
      ? {
          correction: {
            level: mode.startsWith('token') ? 'token' : 'sequence',
            mode: mode.endsWith('mask') ? 'mask' : 'truncate',
            min: min === null ? 0 : Number(min),
            max: numberOf(one, 'vllm_importance_sampling_clip_max'),
          } as const,
        }
      : {}),
  }
  // TRL's bound of cispo is the weight itself, and there is none below.
  if (type === 'cispo') return { kind: 'cispo', low: 1, high: high - 1, ...besides }
  if (type === 'sapo') {
    if (sequence) return 'no sapo of sequences'
    const tauPositive = numberOf(one, 'sapo_temperature_pos')
    const tauNegative = numberOf(one, 'sapo_temperature_neg')
    return { kind: 'sapo', tauPositive, tauNegative, ...besides }
  }
  const dual = config.delta === null ? {} : { dual: Number(config.delta) }
  return { kind: sequence ? 'gspo' : 'ppo-clip', low, high, ...dual, ...besides }
}

function trlWeights(one: GoldenCase, rows: readonly TokenSegment[]): readonly number[] {
  const type = String(one.config.loss_type)
  const steps = numberOf(one, 'current_gradient_accumulation_steps')
  if (type === 'dr_grpo')
    return by('dr-grpo', rows, numberOf(one, 'max_completion_length')).map((w) => w / steps)
  if (type === 'bnpo') return by('token-mean', rows)
  if (type === 'luspo') return by('seq-mean-token-sum', rows)
  if (type === 'dapo' || type === 'cispo') {
    const items = numberOf(one, 'num_items_in_batch')
    const divisor = (items * steps) / numberOf(one, 'steps_per_generation')
    return divisor === sum(rows.map(countDrawnTokens))
      ? by('token-mean', rows)
      : rows.map(() => 1 / divisor)
  }
  // A row that drew nothing stays in TRL's divisor, and leaves ours.
  return rows.every((row) => countDrawnTokens(row) > 0)
    ? by('seq-mean', rows)
    : rows.map((row) => 1 / (Math.max(1, countDrawnTokens(row)) * rows.length))
}

function slimeLoss(one: GoldenCase): Loss | string {
  const { config } = one
  const [low, high] = [numberOf(one, 'eps_clip'), numberOf(one, 'eps_clip_high')]
  const icepop = config.custom_tis_function_path !== null
  const type = String(config.kl_loss_type)
  // Its low_var_kl is k3 under a clamp that these numbers never reach.
  const estimator = type === 'low_var_kl' ? 'k3' : (type as 'k1' | 'k2' | 'k3')
  const besides = {
    entropy: 0,
    ...(config.use_kl_loss === true
      ? {
          kl: {
            ...{ estimator, coefficient: numberOf(one, 'kl_loss_coef') },
            ratio: config.use_unbiased_kl === true,
          },
        }
      : {}),
    ...(config.use_opsm === true
      ? { offPolicyMask: { threshold: numberOf(one, 'opsm_delta'), behaviour: 'old' as const } }
      : {}),
    ...(config.use_tis === true
      ? {
          correction: {
            level: 'token',
            mode: icepop ? 'mask' : 'truncate',
            min: numberOf(one, 'tis_clip_low'),
            max: numberOf(one, 'tis_clip'),
          } as const,
        }
      : {}),
  }
  const kind = config.advantage_estimator
  if (kind === 'gspo' && besides.correction)
    return 'no gradient of a sequence through uneven tokens'
  if (kind === 'cispo') return { kind, low, high, ...besides }
  const dual = config.eps_clip_c === null ? {} : { dual: Number(config.eps_clip_c) }
  return { kind: kind === 'gspo' ? 'gspo' : 'ppo-clip', low, high, ...dual, ...besides }
}

function slimeWeights(one: GoldenCase, rows: readonly TokenSegment[]): readonly number[] {
  const full = rows.every((row) => countDrawnTokens(row) > 0)
  if (one.config.calculate_per_token_loss === true)
    return full
      ? by('token-mean', rows)
      : // A row that drew nothing counts as one token.
        rows.map(() => 1 / sum(rows.map((row) => Math.max(1, countDrawnTokens(row)))))
  return by('rollout-mean', rows)
}

/** Our loss of a batch of plain arrays and its derivative by every log-prob, given what the loss is. */
function judged(
  one: GoldenCase,
  rows: readonly TokenSegment[],
  { loss, weights }: Exclude<Ours, string>,
) {
  const plain = (of: (row: TokenSegment) => ArrayLike<number> | undefined) =>
    rows.map((row) => Array.from(of(row) ?? row.logprobs))
  return batchLoss(
    {
      logprobs: one.inputs.log_prob,
      oldLogprobs: plain(({ oldLogprobs }) => oldLogprobs),
      samplerLogprobs: plain(({ logprobs }) => logprobs),
      refLogprobs: plain(({ refLogprobs }) => refLogprobs),
      advantages: plain(({ advantages }) => advantages),
      // As the generator of TRL's numbers gives them.
      entropies: plain(({ oldLogprobs }) => oldLogprobs).map((row) => row.map((value) => -value)),
      mask: one.inputs.response_mask,
    },
    { loss, normaliser: weights },
  )
}

/** Inputs are kept in single precision, so that what is large is off by as much. */
const near = (mine: number, theirs: number, scale = Math.abs(theirs)): boolean =>
  Math.abs(mine - theirs) <= 1e-6 * Math.max(1, scale)

const sources = {
  verl: { loss: verlLoss, weights: verlWeights },
  trl: { loss: trlLoss, weights: trlWeights },
  slime: { loss: slimeLoss, weights: slimeWeights },
}

/** What of the published losses ours are not. */
const without: Readonly<Record<keyof typeof sources, Readonly<Record<string, number>>>> = {
  verl: { 'verl clamps log-ratios': 6, 'no dro': 1, 'no geo_mean': 1 },
  trl: { 'no vespo': 2, 'no sapo of sequences': 1 },
  slime: { 'no gradient of a sequence through uneven tokens': 1 },
}

describe.each(['verl', 'trl', 'slime'] as const)('the losses of %s', (source) => {
  const cases = golden(source).filter(
    ({ kind, function: name }) =>
      kind === 'loss' || (kind === 'correction' && name.includes('_compute_loss')),
  )
  const meant = cases.map((one) => {
    // Where the sampler's log-probs are the old ones, the ratio is measured from them.
    const sampled = one.config.use_rollout_logprobs === true
    const rows = rowsOf(one.inputs).map((row) =>
      sampled ? { ...row, oldLogprobs: row.logprobs } : row,
    )
    const loss = sources[source].loss(one)
    const weights = typeof loss === 'string' ? [] : sources[source].weights(one, rows)
    return { one, rows, ours: typeof loss === 'string' ? loss : { loss, weights } }
  })

  test('are all there, but for those we do not have', () => {
    const missing: Record<string, number> = {}
    for (const { ours } of meant)
      if (typeof ours === 'string') missing[ours] = (missing[ours] ?? 0) + 1
    expect(missing).toEqual(without[source])
  })

  const compared = meant.flatMap(({ one, rows, ours }) =>
    typeof ours === 'string' ? [] : [[one.name, one, rows, ours] as const],
  )
  test.each(compared)('%s', (_, one, rows, ours) => {
    const mine = judged(one, rows, ours)
    // Numbers, by the README of the golden files.
    const theirs = one.outputs as { loss: number; gradient: readonly (readonly number[])[] }
    expect(near(mine.loss, theirs.loss), `${mine.loss} for ${theirs.loss}`).toBe(true)
    mine.gradients.forEach((row, i) => {
      const far = row.findIndex((slope, t) => !near(slope, theirs.gradient[i]![t]!))
      expect(far, `row ${i}: ${row[far]} for ${theirs.gradient[i]![far]}`).toBe(-1)
    })
  })
})

describe('the value losses', () => {
  const valuesOf = (one: GoldenCase) => {
    const { value, old_value: old, return: returns, response_mask: mask } = one.inputs
    const range = numberOf(one, 'cliprange_value') || numberOf(one, 'value_clip')
    return value.map((row, i) =>
      row.map((v, t) =>
        mask[i]![t] === 1 ? valueLoss(v, returns[i]![t]!, old[i]![t]!, { range }) : undefined,
      ),
    )
  }
  const rowMean = (row: readonly ({ readonly value: number } | undefined)[]) => {
    const drawn = row.flatMap((one) => one ?? [])
    return sum(drawn.map(({ value }) => value)) / drawn.length
  }

  test.each(
    golden('verl')
      .filter(({ kind }) => kind === 'value')
      .map((one) => [one.name, one] as const),
  )('of verl: %s', (_, one) => {
    const rows = valuesOf(one)
    const all = rows.flat().flatMap((each) => each ?? [])
    const mine =
      one.config.loss_agg_mode === 'token-mean'
        ? sum(all.map(({ value }) => value)) / all.length
        : sum(rows.map(rowMean)) / rows.length
    expect(near(mine, Number(one.outputs.loss))).toBe(true)
    expect(all.filter(({ clipped }) => clipped).length / all.length).toBeCloseTo(
      Number(one.outputs.clip_fraction),
      6,
    )
  })

  test.each(
    golden('slime')
      .filter(({ kind }) => kind === 'value')
      .map((one) => [one.name, one] as const),
  )('of slime, which has no half: %s', (_, one) => {
    const rows = valuesOf(one)
    const mine = (2 * sum(rows.map(rowMean))) / rows.length
    expect(near(mine, Number(one.outputs.loss))).toBe(true)
  })
})
