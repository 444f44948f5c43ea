import { describe, expect, test } from 'vitest'
import { toFirstPerson } from '../../src/text/first-person.js'

describe('a clinical note in the words of the patient', () => {
  test.each([
    ['The patient has had headaches for 3 days', 'I have had headaches for 3 days.'],
    ['She reports nausea.', 'I have nausea.'],
    ['He denies fever or chills.', 'I have no fever or chills.'],
    ['He usually takes aspirin for his back.', 'I usually take aspirin for my back.'],
    ['The patient is allergic to nuts.', "I'm allergic to nuts."],
    ['Her mother is well and she lives in Leeds.', 'My mother is well and she lives in Leeds.'],
    ['No known drug allergies', 'No known drug allergies.'],
  ])('%s', (note, said) => {
    expect(toFirstPerson(note, 'en')).toBe(said)
  })

  test.each([
    ['患者2个月前无明显诱因出现心悸，未予重视。', '我2个月前没什么原因就出现心慌，没当回事。'],
    ['否认外伤、手术史', '没有过外伤、手术。'],
    ['否认糖尿病家族史', '家里没有糖尿病。'],
    ['无胸痛、发热', '没有胸口疼、发烧。'],
    ['食欲欠佳，大小便如常', '胃口不好，大小便正常。'],
    ['平素体健', '平时身体都挺好。'],
    ['对磺胺过敏。', '对磺胺过敏。'],
  ])('%s', (note, said) => {
    expect(toFirstPerson(note, 'zh')).toBe(said)
  })
})
