/** Long lists cut short for people: the first ten, and how many more there are. */

/** As many as somebody reads before they fetch a file. */
const most = 10

/**
 * The first ten lines, and a last one that counts the rest.
 * @param where the rest can be had, as in `all of them with --json`; @default not said
 */
export function firstLines(lines: readonly string[], where?: string): readonly string[] {
  const more = lines.length - most
  if (more <= 0) return lines
  return [...lines.slice(0, most), `… and ${more} more${where === undefined ? '' : ` (${where})`}`]
}
