import { expect, test } from 'vitest'
import { findDiseaseNames } from '../../../../src/envs/patients/statements/disease-names.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const found = (text: string) => findDiseaseNames(knowledge, text)

test.each([
  'I think it is appendicitis.',
  'It is A P P E N D I C I T I S.',
  'They said ＡＰＰＥＮＤＩＣＩＴＩＳ to me',
  'maybe lanweiyan, she said',
  'jíxìng lánwěiyán',
  '可能是阑尾炎吧',
  '是 阑 尾 炎',
])('%s', (text) => expect(found(text)).not.toEqual([]))

test.each([
  'My belly hurts and I feel sick.',
  'No, doctor, I have not had a fever.',
  '我肚子疼，想吐。',
  '没有发烧，医生。',
  '',
])('nothing in: %s', (text) => expect(found(text)).toEqual([]))
