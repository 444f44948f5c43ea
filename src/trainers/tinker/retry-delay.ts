/** Retry delays that the Tinker wire prescribes, by HTTP status. */
import { HttpRefusal } from './transport.js'

type RetryDelay = 'never' | number | undefined

/** Retry delay of a submission. A resent submission has the same sequence number and body, so it counts once. */
export function submissionRetryDelay(error: unknown, attempt: number): RetryDelay {
  if (!(error instanceof HttpRefusal)) return undefined
  const { status, retryAfterMs } = error
  if (status === 409) return attempt < 3 ? undefined : 'never'
  return status >= 500 || status === 408 || status === 429 ? retryAfterMs : 'never'
}

/** Pauses of 5 s after status 402 (payment required): one hour in all. */
const unpaidPauses = 720

/**
 * Retry delay of a poll for a result. Statuses 408 and 410 are poll results and never reach this function. `final`
 * lists the statuses by which this server reports a failed operation.
 */
export function retrievalRetryDelay(
  error: unknown,
  attempt: number,
  { final, maxRetries }: { readonly final: readonly number[]; readonly maxRetries: number },
): RetryDelay {
  if (!(error instanceof HttpRefusal)) return attempt < maxRetries ? undefined : 'never'
  const { status, retryAfterMs } = error
  if (final.includes(status)) return 'never'
  if (status === 402) return attempt < unpaidPauses ? 5000 : 'never'
  if (status === 400) return attempt < 3 ? undefined : 'never'
  if (status !== 429 && status < 500) return 'never'
  if (attempt >= maxRetries) return 'never'
  // The first retry is immediate, as the wire prescribes; later ones back off to spare a server that stays down.
  return status >= 500 && attempt === 0 ? 0 : retryAfterMs
}
