/** The torch engine: gradients, drawing and folders, each a module of unittest that runs in the sidecar's environment. */
import { expect, test } from 'vitest'
import { describeWithPython } from '../../fixtures/python.js'

describeWithPython('the torch engine', 'sidecar', (run) => {
  test.each([
    ['training', 20],
    ['sampling', 19],
    ['remote', 8],
    ['folders', 10],
    ['architectures', 4],
    ['bits', 2],
    ['measures', 3],
  ])(
    '%s',
    (name, count) => {
      const { passed, failed } = Object(run(`engine_${name}.py`, {}))
      expect(failed).toEqual({})
      expect(passed).toHaveLength(count)
    },
    180_000,
  )
})
