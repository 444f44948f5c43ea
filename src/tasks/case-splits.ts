/** The training, selection and held-out cases of a task, generated or from a file. */
import type { Case } from '../case.js'
import { caseSource } from '../cases/generator/generate.js'
import { isGeneratedHeldOut, type KnownCase, patientsOf } from '../cases/identity.js'
import { checkShare, splitCases } from '../cases/split.js'
import { Fault } from '../error.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { TierName } from '../knowledge/tiers.js'
import { memoizeByIdentity } from '../platform/memoize.js'
import { selectionSeed } from '../seed.js'
import { firstResampled } from '../trainers/rollouts/group-rollouts.js'

/** Source of the cases and how they are split. */
export interface CaseOptions {
  /** Case file to use instead of the generator. */
  readonly file?: string
  /** Seed of generated cases. @default 0 */
  readonly seed?: number
  /** Seed of a file's split, which a run keeps however it is evaluated. @default 0 */
  readonly splitSeed?: number
  /** Whether a file's share is met exactly; `false` splits as runs of earlier versions did. @default true */
  readonly exactSplit?: boolean
  /** Number of held-out cases. @default 400; for a file, all of its split */
  readonly heldOut?: number
  /**
   * Number of patients set apart to choose a checkpoint by; for a file, at most half of those held out. @default 0
   */
  readonly selection?: number
  /** Share of a file's cases that are held out. @default 0.2 */
  readonly heldOutShare?: number
  /** Puts every case of a file into both splits: for a doctor that was trained on none of them. @default false */
  readonly whole?: boolean
}

/** The cases of a task, by what they are for. No patient is in two of the parts. */
export interface CaseSplits {
  /** The n-th training case. */
  readonly caseAt: (n: number) => Case
  /** The first `count` training cases; a file may have fewer. */
  readonly train: (count: number) => readonly Case[]
  /** Held-out cases that early stopping and the best checkpoint are chosen by. */
  readonly selection: readonly Case[]
  /** Held-out cases of evaluations, which nothing is chosen by. */
  readonly heldOut: readonly Case[]
  /** Whether a case is of a patient that training must not meet, in whatever tier it was played. */
  readonly isHeldOut: (known: KnownCase) => boolean
}

const listCases = (count: number, make: (n: number) => Case): readonly Case[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** Cases of a generator. The selection has a seed of its own, so any number of held-out cases has none of it. */
export function generatedSplits(
  knowledge: Knowledge,
  tier: TierName,
  { seed = 0, heldOut = 400, selection = 0 }: CaseOptions,
): CaseSplits {
  const of = (split: 'train' | 'heldout', from = seed) =>
    caseSource(knowledge, { tier, split, seed: from })
  const caseAt = of('train')
  return {
    caseAt,
    train: (count) => listCases(count, caseAt),
    selection: listCases(selection, of('heldout', selectionSeed(seed))),
    heldOut: listCases(heldOut, of('heldout')),
    isHeldOut: isGeneratedHeldOut,
  }
}

/** Sets a selection of about `wanted` patients apart, at most half of them. */
function setApart(
  heldOut: readonly Case[],
  { wanted, seed }: { readonly wanted: number; readonly seed: number },
) {
  const share = Math.min(wanted, Math.floor(heldOut.length / 2)) / heldOut.length
  if (!(share > 0)) return { selection: [], rest: heldOut }
  const { heldout: selection, train: rest } = splitCases(heldOut, {
    ...{ seed: selectionSeed(seed), heldout: share },
  })
  return { selection, rest }
}

/** The test for patients of a list of cases, made when first asked for: few tasks need it. */
const heldOutPatients = memoizeByIdentity(patientsOf)

/** Splits a file's cases; `all` are the training cases. @throws Fault `bad-input` where a split would be empty */
export function splitFileCases(
  cases: readonly Case[],
  options: CaseOptions,
): CaseSplits & { readonly all: readonly Case[] } {
  const { file, splitSeed: seed = 0, exactSplit: exact = true, heldOutShare = 0.2 } = options
  const { heldOut: most, selection: wanted = 0, whole = false } = options
  if (!whole) checkShare('heldOutShare', heldOutShare)
  const split = whole
    ? { train: cases, heldout: cases }
    : splitCases(cases, { seed, exact, heldout: heldOutShare })
  const { selection, rest } = setApart(split.heldout, { wanted: whole ? 0 : wanted, seed })
  const heldOut = most === undefined ? rest : rest.slice(0, most)
  const { train: all } = split
  if (all.length === 0 || heldOut.length === 0)
    throw new Fault(
      'bad-input',
      `${file ?? 'cases'}: expected enough cases for a training and a held-out split, got ${all.length} and ${heldOut.length}; \`--split all\` (in code \`whole: true\`) takes every case for both`,
    )
  return {
    ...{ all, selection, heldOut },
    isHeldOut: (known) => heldOutPatients(split.heldout)(known),
    // Dynamic sampling takes them from the end, the last that other steps come to. Not empty, checked above.
    caseAt: (n) =>
      all.at(
        n < firstResampled ? n % all.length : -1 - ((n - firstResampled) % all.length),
      ) as Case,
    train: (count) => all.slice(0, count),
  }
}
