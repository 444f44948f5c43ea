/** Checks as tests, none of which is passed or skipped in silence. */
import { expect, test } from 'vitest'
import type { Check } from '../../src/testing/check.js'

/** What the checks say that do not apply to a backend with nothing optional. */
export const bare = [
  'the backend declares no correction',
  'the backend has no `logprobs`',
  'the backend declares no KL penalty',
  'the backend declares no critic',
  'the backend has no `demonstrate`',
] as const

/** One test for each check, and one that exactly these reasons were given for not checking. */
export function testAll(checks: readonly Check[], reasons: readonly string[] = []): void {
  const given = new Set<string>()
  for (const { name, run } of checks) test(name, () => run({ skip: (why) => given.add(why) }))
  test('nothing else went unchecked', () => expect([...given]).toEqual(reasons))
}
