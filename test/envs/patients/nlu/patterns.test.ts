import { expect, test } from 'vitest'
import * as acts from '../../../../src/envs/patients/nlu/acts.js'
import { compilePatterns } from '../../../../src/envs/patients/nlu/patterns.js'
import { finish } from '../../../../src/platform/slices.js'

test('pauses between any two patterns and leaves each at its beginning', () => {
  const patterns = Object.values(acts).filter((act) => act instanceof RegExp)
  const pauses = [...compilePatterns('en')].length
  expect(pauses).toBeGreaterThan(Object.values(acts).length)
  expect(finish(compilePatterns('zh'))).toBe(true)
  expect(patterns.map(({ lastIndex }) => lastIndex)).toEqual(patterns.map(() => 0))
})
