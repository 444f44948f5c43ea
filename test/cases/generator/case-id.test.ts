import { expect, test } from 'vitest'
import type { CaseIdParts } from '../../../src/cases/generator/case-id.js'
import { caseId, parseCaseId } from '../../../src/cases/generator/case-id.js'
import { tierNames } from '../../../src/knowledge/tiers.js'
import { fc } from '../../fixtures/property.js'

const id = fc
  .stringMatching(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)
  .filter((text) => !['disease', 'companion', 'age', 'sex'].includes(text) && text !== 'none')
const given = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const name = fc
  .record({
    ...{ tier: fc.constantFrom(...tierNames), split: fc.constantFrom('train', 'heldout') },
    ...{
      seed: fc.nat(),
      n: fc.nat(),
      clinic: given(fc.uniqueArray(id, { minLength: 1, maxLength: 3 })),
    },
    change: given(
      fc
        .record({
          ...{
            disease: given(id),
            companion: given(fc.option(id)),
            sex: given(fc.constantFrom('F', 'M')),
          },
          age: given(
            fc.oneof(
              fc.nat(120),
              fc.nat(23).map((months) => months / 12),
            ),
          ),
          findings: given(fc.dictionary(id, id, { minKeys: 1, maxKeys: 3, noNullPrototype: true })),
        })
        .filter((change) => Object.values(change).some((part) => part !== undefined)),
    ),
  })
  // A key that is there and undefined is a key that is not there.
  .map((one) => JSON.parse(JSON.stringify(one)) as CaseIdParts)

test('an id parses back to all that a case was made from', () => {
  fc.assert(
    fc.property(name, (one) => {
      expect(parseCaseId(caseId(one))).toEqual(one)
    }),
    { numRuns: 500 },
  )
})

test.each([
  'easy-train-0-0~',
  'easy-train-0-0~age',
  'easy-train-0-0~age=',
  'easy-train-0-0~age=old',
  'easy-train-0-0~age=1e3',
  'easy-train-0-0~sex=X',
  'easy-train-0-0~fever=present,',
  'easy-train-0-0~fever=presentcough=absent',
  'easy-train-0-0~fever=present cough=absent',
  'easy-train-0-0@~age=3',
  'easy-train-0-0@Bowel',
  'ood2-train-0-0',
])('`%s` names nothing', (text) => expect(parseCaseId(text)).toBeUndefined())

test('a hostile id is refused in no time', () => {
  const start = performance.now()
  expect(parseCaseId(`easy-train-0-0~${'a=a'.repeat(20_000)}!`)).toBeUndefined()
  expect(performance.now() - start).toBeLessThan(200)
})
