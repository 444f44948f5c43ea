/**
 * Keyed randomness: every draw is a pure function of a seed and a key path (names of the draw).
 *
 * There is no generator object and so no order: an added draw cannot move another, concurrency cannot change a result,
 * and siblings of a group meet the same noise in whatever order they ask.
 */

/** A name in a key path; `1` and `'1'` are different names. */
export type Key = string | number

/** One round of MurmurHash3's 32-bit mixing (Austin Appleby, public domain algorithm). */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  k = Math.imul(k, 0x1b873593)
  let h = hash ^ k
  h = (h << 13) | (h >>> 19)
  return (Math.imul(h, 5) + 0xe6546b64) | 0
}

/** MurmurHash3's 32-bit finaliser. */
function finish(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Derives the seed (unsigned 32-bit integer) of the stream named by `keys` under `seed`. */
export function fork(seed: number, ...keys: readonly Key[]): number {
  let hash = mix(0x9747b28c, seed | 0)
  for (const key of keys) {
    if (typeof key === 'number') {
      hash = mix(mix(hash, 1), key | 0)
    } else {
      hash = mix(mix(hash, 2), key.length)
      for (let i = 0; i < key.length; i++) hash = mix(hash, key.charCodeAt(i))
    }
  }
  return finish(hash)
}

/** The largest seed; a larger one would play as another. */
export const maxSeed = 0xffffffff

/** Returns `seed` if it is an unsigned 32-bit integer. @throws RangeError with the name and the value */
export function assertSeed(name: string, seed: number): number {
  if (Number.isInteger(seed) && seed >= 0 && seed <= maxSeed) return seed
  throw new RangeError(
    `Expected \`${name}\` to be an integer from 0 to ${maxSeed}, got \`${seed}\``,
  )
}

/** The two seeds of one episode. */
export interface EpisodeSeeds {
  /** Env seed: the patient and all noise. Siblings of a group share it. */
  readonly envSeed: number
  /** Seed of the agent's own draws. Siblings of a group differ in it. */
  readonly agentSeed: number
}

/**
 * Seeds of an evaluated case. They depend on the run and the case alone, so every agent meets the same patients; in a
 * repeat an agent meets them again, with other draws of its own.
 * @throws RangeError, as do all functions of a run's seed, for a seed that is not an unsigned 32-bit integer
 */
export function evaluationSeeds(runSeed: number, caseId: string, repeat = 0): EpisodeSeeds {
  const envSeed = fork(assertSeed('seed', runSeed), 'evaluate', caseId)
  const agentSeed = repeat === 0 ? fork(envSeed, 'agent') : fork(envSeed, 'agent', repeat)
  return { envSeed, agentSeed }
}

/** Seeds of one member of the `group`-th group of a training step. */
export function groupSeeds(
  runSeed: number,
  step: number,
  group: number,
  member: number,
): EpisodeSeeds {
  const envSeed = fork(assertSeed('seed', runSeed), 'group', step, group)
  return { envSeed, agentSeed: fork(envSeed, 'member', member) }
}

/** Seeds of a demonstration: the `time`-th episode of the case at `index` of its list. */
export function demonstrationSeeds(runSeed: number, index: number, time: number): EpisodeSeeds {
  const envSeed = fork(assertSeed('seed', runSeed), 'demonstration', index)
  return { envSeed, agentSeed: fork(envSeed, 'member', time) }
}

/** Seeds of a training case of the audit's blind adversary, whose plan is drawn beforehand. */
export function adversarySeeds(runSeed: number, caseId: string): EpisodeSeeds {
  const envSeed = fork(assertSeed('seed', runSeed), 'adversary', caseId)
  return { envSeed, agentSeed: envSeed }
}

/** Seed of generated case `n` under a generator's seed: even in `train`, odd in `heldout`, so the splits share none. */
export const generatedCaseSeed = (
  caseSeed: number,
  split: 'train' | 'heldout',
  n: number,
): number => ((fork(caseSeed, split, n) & ~1) | (split === 'train' ? 0 : 1)) >>> 0

/** Generator's seed of the held-out cases that a checkpoint is chosen by, under the seed of the others. */
export const selectionSeed = (caseSeed: number): number => fork(caseSeed, 'selection')

/** Env seed of the n-th automatic reset after a reset with `envSeed`. */
export const autoresetSeed = (envSeed: number, n: number): number => fork(envSeed, 'episode', n)

/** Seed of the n-th bootstrap resample. */
export const resampleSeed = (runSeed: number, n: number): number =>
  fork(assertSeed('seed', runSeed), 'bootstrap', n)

/** Draws a number in [0, 1), uniform over 2^32 values, fixed by `seed` and `keys`. */
export const uniform = (seed: number, ...keys: readonly Key[]): number =>
  fork(seed, ...keys) / 4294967296

/** Draws a uniform integer in [0, n). */
export const uniformInt = (n: number, seed: number, ...keys: readonly Key[]): number =>
  Math.floor(uniform(seed, ...keys) * n)

/** Picks one element of a list. @throws RangeError for an empty list */
export function pick<T>(list: readonly T[], seed: number, ...keys: readonly Key[]): T {
  if (list.length === 0) throw new RangeError('Expected a non-empty list to pick from, got []')
  // A list of length n is indexed below n, so the element exists.
  return list[uniformInt(list.length, seed, ...keys)] as T
}

/** Picks an index with probability proportional to `weights` (non-negative). @throws RangeError if all are 0 */
export function pickWeighted(
  weights: ArrayLike<number>,
  seed: number,
  ...keys: readonly Key[]
): number {
  let sum = 0
  for (let i = 0; i < weights.length; i++) sum += weights[i]!
  if (!(sum > 0)) throw new RangeError(`Expected weights with a positive sum, got sum ${sum}`)
  let left = uniform(seed, ...keys) * sum
  let last = 0
  for (let i = 0; i < weights.length; i++) {
    if (weights[i]! <= 0) continue
    last = i
    left -= weights[i]!
    if (left < 0) return i
  }
  return last
}

/** Shuffles a copy of the list, in an order fixed by `seed` and `keys` (Fisher-Yates on keyed draws). */
export function shuffle<T>(list: readonly T[], seed: number, ...keys: readonly Key[]): T[] {
  const out = [...list]
  for (let i = out.length - 1; i > 0; i--) {
    const j = uniformInt(i + 1, seed, ...keys, i)
    const held = out[i] as T
    out[i] = out[j] as T
    out[j] = held
  }
  return out
}
