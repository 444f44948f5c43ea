/** What share of a budget was left, for the rewards of spending little. */

/** 1 - spent/budget, from 0 to 1; 1 of a budget without end, and 0 once anything of an empty one is spent. */
export const saved = (spent: number, budget: number): number =>
  spent <= 0 || budget === Infinity ? 1 : 1 - Math.min(spent / budget, 1)

/** @throws RangeError unless it can be spent of */
export function checkBudget(name: string, budget: number | undefined): void {
  if (budget !== undefined && !(budget > 0))
    throw new RangeError(`Expected \`${name}\` to be more than 0, got ${budget}`)
}
