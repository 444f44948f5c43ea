/** What the wire says about trying again, by HTTP status. */
import { Refusal } from './transport.js'

type Advice = 'never' | number | undefined

/** Of a request that is sent again with the same sequence number and body, so that it counts once. */
export function adviceOnSubmission(error: unknown, attempt: number): Advice {
  if (!(error instanceof Refusal)) return undefined
  const { status, retryAfterMs } = error
  if (status === 409) return attempt < 3 ? undefined : 'never'
  return status >= 500 || status === 408 || status === 429 ? retryAfterMs : 'never'
}

/** Seconds a server that wants to be paid is waited for: an hour. */
const unpaidPauses = 720

/**
 * Of a question for a result. 408 and 410 are outcomes and not asked about here; `final` are the statuses by which
 * this server says that the operation failed.
 */
export function adviceOnRetrieval(
  error: unknown,
  attempt: number,
  { final, maxRetries }: { readonly final: readonly number[]; readonly maxRetries: number },
): Advice {
  if (!(error instanceof Refusal)) return attempt < maxRetries ? undefined : 'never'
  const { status, retryAfterMs } = error
  if (final.includes(status)) return 'never'
  if (status === 402) return attempt < unpaidPauses ? 5000 : 'never'
  if (status === 400) return attempt < 3 ? undefined : 'never'
  if (status !== 429 && status < 500) return 'never'
  if (attempt >= maxRetries) return 'never'
  // At once, as the wire says; but a server that stays down is not hammered.
  return status >= 500 && attempt === 0 ? 0 : retryAfterMs
}
