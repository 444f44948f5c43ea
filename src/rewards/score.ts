/** Conversion between a score and a single part. */
import { notApplicable, ok, type Part, type Score, unavailable } from '../reward.js'

/** A score as one part: its total, or the reason why it has none. */
export function toPart({ total, parts }: Score): Part {
  if (total !== null) {
    const only = singlePart(parts)
    return only?.status === 'ok' && only.value === total ? only : ok(total)
  }
  for (const name in parts) {
    const part = parts[name]
    if (part?.status === 'unavailable')
      return part === singlePart(parts) ? part : unavailable(`${name}: ${part.reason}`)
  }
  return notApplicable
}

function singlePart(parts: Score['parts']): Part | undefined {
  let only: Part | undefined
  for (const name in parts) {
    if (only) return undefined
    only = parts[name]
  }
  return only
}

/** A score of one named part, with that part's value as its total. */
export const partScore = (name: string, part: Part): Score => ({
  total: part.status === 'ok' ? part.value : null,
  parts: { [name]: part },
})
