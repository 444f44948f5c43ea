import { expect, test } from 'vitest'
import {
  instructsAndChecks,
  planBefore,
} from '../../../../../src/envs/patients/nlu/chinese/instructions.js'

test('an instruction that ends in a check of understanding asks nothing else', () => {
  expect(instructsAndChecks(['回去以后清淡饮食', '不要喝酒', '知道吗'])).toBe(true)
  expect(instructsAndChecks(['你喝酒吗', '知道吗'])).toBe(false)
  expect(instructsAndChecks(['咳嗽三天了', '好吗'])).toBe(false)
})

test('a plan before a short question is left out of it', () => {
  expect(planBefore(['我考虑是偏头疼', '先给你开点药', '你看行不行'])).toBe(2)
  expect(planBefore(['怕是中风', '得马上做头颅ct', '家属来了没有'])).toBe(2)
  expect(planBefore(['咳嗽有痰吗', '行不行'])).toBe(0)
  expect(planBefore(['头晕', '走路稳吗'])).toBe(0)
})
