/** Train / held-out split of cases that never puts the same text on both sides. */
import type { Case } from '../case.js'
import { uniform } from '../seed.js'

/** Options of {@link splitCases}. */
export interface SplitOptions {
  /** @default 0 */
  readonly seed?: number
  /** Expected share of held-out cases. @default 0.2 */
  readonly heldout?: number
}

/** All dialogue text of a case, normalised and without its id: equal for duplicate cases. */
const textKey = ({ chiefComplaint, findings }: Case): string =>
  JSON.stringify([
    chiefComplaint.text.zh,
    chiefComplaint.text.en,
    findings.map(({ id, state, question, utterance }) => [id, state, question, utterance]),
  ])
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')

/** Checks a share of held-out cases, an option called `name`. @throws RangeError unless it is between 0 and 1 */
export function checkShare(name: string, share: number): void {
  if (!(share > 0 && share < 1))
    throw new RangeError(`Expected \`${name}\` to be between 0 and 1, got \`${share}\``)
}

/**
 * Splits cases by a hash of each case's own text and the seed. Adding, removing or reordering other cases moves
 * none, and cases of the same text stay together.
 * @throws RangeError when `heldout` is not between 0 and 1
 */
export function splitCases(cases: readonly Case[], { seed = 0, heldout = 0.2 }: SplitOptions = {}) {
  checkShare('heldout', heldout)
  const isHeldOut = (truth: Case): boolean => uniform(seed, 'split', textKey(truth)) < heldout
  const sides = cases.map((truth) => ({ truth, out: isHeldOut(truth) }))
  return {
    train: sides.filter(({ out }) => !out).map(({ truth }) => truth),
    heldout: sides.filter(({ out }) => out).map(({ truth }) => truth),
  }
}
