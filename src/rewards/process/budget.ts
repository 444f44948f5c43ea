/** Share of a budget that was left, for the savings rewards. */

/** 1 - spent/budget, from 0 to 1; 1 for an infinite budget, and 0 if anything of an empty one was spent. */
export const remainingShare = (spent: number, budget: number): number =>
  spent <= 0 || budget === Infinity ? 1 : 1 - Math.min(spent / budget, 1)

/** Checks an optional budget. @throws RangeError unless it is above 0 */
export function checkBudget(name: string, budget: number | undefined): void {
  if (budget !== undefined && !(budget > 0))
    throw new RangeError(`Expected \`${name}\` to be more than 0, got ${budget}`)
}
