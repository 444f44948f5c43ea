/** Validation of a hand-written loss. */
import type { ImportanceCorrection, KlPenalty, Loss } from '../../batch.js'
import { objectiveKinds } from '../../batch.js'

/** @throws RangeError naming a number that is not at least `least` */
function assertAtLeast(name: string, value: number | undefined, least: number): void {
  if (typeof value !== 'number' || !(value >= least))
    throw new RangeError(`Expected \`${name}\` to be at least ${least}, got \`${value}\``)
}

/** @throws RangeError naming a number that is not finite and above `bound` */
function assertAbove(name: string, value: number | undefined, bound: number): void {
  if (typeof value !== 'number' || !(value > bound && value < Infinity))
    throw new RangeError(`Expected \`${name}\` to be finite and above ${bound}, got \`${value}\``)
}

/** @throws RangeError naming a value that is not in `known` */
function assertOneOf(name: string, value: string, known: readonly string[]): void {
  if (!known.includes(value))
    throw new RangeError(`Expected \`${name}\` to be ${known.join(', ')}, got \`${value}\``)
}

function assertPenalty({ estimator, coefficient }: KlPenalty): void {
  assertOneOf('loss.kl.estimator', estimator, ['k1', 'k2', 'k3'])
  assertAtLeast('loss.kl.coefficient', coefficient, 0)
}

function assertCorrection({ level, mode, min = 0, max, scale = 1 }: ImportanceCorrection): void {
  assertOneOf('loss.correction.level', level, ['token', 'sequence', 'geometric'])
  assertOneOf('loss.correction.mode', mode, ['truncate', 'mask'])
  assertAtLeast('loss.correction.min', min, 0)
  assertAtLeast('loss.correction.max', max, min)
  assertAbove('loss.correction.scale', scale, 0)
}

/**
 * Checks a loss: known kind, non-negative clip bounds, temperatures above 0, valid KL penalty and correction.
 * @throws RangeError naming the field and its value
 */
export function assertLoss(loss: Loss): void {
  assertOneOf('loss.kind', loss.kind, objectiveKinds)
  assertAtLeast('loss.entropy', loss.entropy, 0)
  if (loss.kind === 'ppo-clip' || loss.kind === 'cispo' || loss.kind === 'gspo') {
    assertAtLeast('loss.low', loss.low, 0)
    // CISPO without a lower bound may clip its weight below 1, as TRL does.
    assertAtLeast('loss.high', loss.high, loss.kind === 'cispo' && loss.low >= 1 ? -1 : 0)
  }
  if ((loss.kind === 'ppo-clip' || loss.kind === 'gspo') && loss.dual !== undefined)
    assertAbove('loss.dual', loss.dual, 1)
  if (loss.kind === 'sapo') {
    assertAbove('loss.tauPositive', loss.tauPositive, 0)
    assertAbove('loss.tauNegative', loss.tauNegative, 0)
  }
  if (loss.kl) assertPenalty(loss.kl)
  if (loss.correction) assertCorrection(loss.correction)
  const { entropyOver, offPolicyMask } = loss
  if (entropyOver !== undefined)
    assertOneOf('loss.entropyOver', entropyOver, ['normaliser', 'tokens'])
  if (!offPolicyMask) return
  const { threshold, behaviour = 'sampler' } = offPolicyMask
  assertAtLeast('loss.offPolicyMask.threshold', threshold, 0)
  assertOneOf('loss.offPolicyMask.behaviour', behaviour, ['old', 'sampler'])
}
