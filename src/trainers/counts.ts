/** Validation of counts that a caller gives. */

/** Checks counts by name. @throws RangeError for a count that is not a positive integer */
export function assertCounts(counts: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``)
}
