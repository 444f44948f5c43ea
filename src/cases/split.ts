/** Training and held-out cases, split so that the same text is never on both sides. */
import type { Case } from '../case.js'
import { uniform } from '../seed.js'

export interface SplitOptions {
  /** @default 0 */
  readonly seed?: number
  /** Expected share of held-out cases. @default 0.2 */
  readonly heldout?: number
}

export interface Split {
  readonly train: readonly Case[]
  readonly heldout: readonly Case[]
}

/** What the doctor and the patient can say in a case, whatever its id: equal for cases that repeat each other. */
const textKey = ({ chiefComplaint, findings }: Case): string =>
  JSON.stringify([
    chiefComplaint.text.zh,
    chiefComplaint.text.en,
    findings.map(({ id, state, question, utterance }) => [id, state, question, utterance]),
  ])
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')

/**
 * Splits cases. The side of a case follows from its own text and the seed alone: adding, removing or
 * reordering others moves none, and cases of the same text stay together.
 * @throws RangeError when `heldout` is not between 0 and 1
 */
export function splitCases(
  cases: readonly Case[],
  { seed = 0, heldout = 0.2 }: SplitOptions = {},
): Split {
  if (!(heldout > 0 && heldout < 1))
    throw new RangeError(`Expected \`heldout\` to be between 0 and 1, got \`${heldout}\``)
  const away = (truth: Case): boolean => uniform(seed, 'split', textKey(truth)) < heldout
  const sides = cases.map((truth) => ({ truth, out: away(truth) }))
  return {
    train: sides.filter(({ out }) => !out).map(({ truth }) => truth),
    heldout: sides.filter(({ out }) => out).map(({ truth }) => truth),
  }
}
