/** Train / held-out split of cases that never puts the same patient on both sides. */
import { type Case, graderView } from '../case.js'
import { assertSeed, uniform } from '../seed.js'
import { patientIdentity, textKey } from './identity.js'

/** Options of {@link splitCases}. */
export interface SplitOptions {
  /** @default 0 */
  readonly seed?: number
  /** Share of the patients that are held out. @default 0.2 */
  readonly heldout?: number
  /**
   * Whether the share is met exactly, up to rounding. `false`: each case is held out by chance, as in runs of earlier
   * versions. @default true
   */
  readonly exact?: boolean
}

/** Checks a share of held-out cases, an option called `name`. @throws RangeError unless it is between 0 and 1 */
export function checkShare(name: string, share: number): void {
  if (!(share > 0 && share < 1))
    throw new RangeError(`Expected \`${name}\` to be between 0 and 1, got \`${share}\``)
}

/** Chooses the held-out patients: those with the smallest hashes of text and seed; at least one on each side of two. */
function chooseHeldOut(
  cases: readonly Case[],
  { seed, heldout }: { readonly seed: number; readonly heldout: number },
): ReadonlySet<string> {
  const texts = new Map<string, string>()
  for (const truth of cases) {
    const view = graderView(truth)
    const [patient, text] = [patientIdentity(view), textKey(view)]
    const other = texts.get(patient)
    if (other === undefined || text < other) texts.set(patient, text)
  }
  const ranked = [...texts]
    .map(([patient, text]) => ({ patient, rank: uniform(seed, 'split', text) }))
    .sort((a, b) => a.rank - b.rank || (a.patient < b.patient ? -1 : 1))
  const count = Math.min(ranked.length - 1, Math.max(1, Math.round(heldout * ranked.length)))
  return new Set(ranked.slice(0, count).map(({ patient }) => patient))
}

/**
 * Splits cases by a hash of each patient's text and the seed. The order of the cases changes nothing, and cases of one
 * patient stay together: of one text, or of one generated patient in several tiers.
 * @throws RangeError when `heldout` is not between 0 and 1
 */
export function splitCases(
  cases: readonly Case[],
  { seed = 0, heldout = 0.2, exact = true }: SplitOptions = {},
) {
  checkShare('heldout', heldout)
  assertSeed('seed', seed)
  const chosen = exact ? chooseHeldOut(cases, { seed, heldout }) : undefined
  const isHeldOut = (truth: Case): boolean => {
    const view = graderView(truth)
    return chosen?.has(patientIdentity(view)) ?? uniform(seed, 'split', textKey(view)) < heldout
  }
  const sides = cases.map((truth) => ({ truth, out: isHeldOut(truth) }))
  return {
    train: sides.filter(({ out }) => !out).map(({ truth }) => truth),
    heldout: sides.filter(({ out }) => out).map(({ truth }) => truth),
  }
}
