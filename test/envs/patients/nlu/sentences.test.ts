import { describe, expect, test } from 'vitest'
import { splitSentences } from '../../../../src/envs/patients/nlu/sentences.js'
import { normaliseText } from '../../../../src/text/phrase-search.js'

const texts = (text: string) => splitSentences(normaliseText(text)).map((sentence) => sentence.text)
const counts = (text: string) =>
  splitSentences(normaliseText(text)).map(({ questions }) => questions)

describe('a sentence', () => {
  test('is cut where it asks a second time', () => {
    expect(texts('Do you smoke, and do you cough?')).toEqual(['do you smoke', 'and do you cough'])
    expect(texts('Do you smoke and do you cough?')).toEqual(['do you smoke', 'and do you cough'])
    expect(texts('有没有发烧，有没有咳嗽？')).toEqual(['有没有发烧', '有没有咳嗽'])
  })

  test('keeps what leads up to its question and what only asks to confirm it', () => {
    expect(counts('When you cough, does it hurt?')).toEqual([1])
    expect(counts("You haven't had a cough, have you?")).toEqual([1])
    expect(counts('您没有咳嗽，是吗？')).toEqual([1])
  })

  test('loses what the doctor says of themselves before', () => {
    expect(texts('I had a cold last week, do you have a fever?')).toEqual(['do you have a fever'])
    expect(texts('我上周也感冒了，您发烧吗？')).toEqual(['你发烧吗'])
  })

  test('loses what leads up to its question in a spoken turn', () => {
    expect(texts("So you told me it hurts, that's no fun, does it wake you?")).toEqual([
      'does it wake you',
    ])
    expect(texts('With the rash, is there any itching?')).toEqual([
      'with the rash is there any itching',
    ])
  })

  test('asks nothing where a tag only seeks agreement to a plan', () => {
    expect(counts("I'd like to listen to your chest, okay?").some(Boolean)).toBe(false)
    expect(counts('Drink plenty of water, all right?')).toEqual([0])
    expect(counts('So you have no fever, okay?')).toEqual([1])
    expect(counts("You can't sleep, right?")).toEqual([1])
  })

  test('loses what it puts aside before the question, but not what this asks about', () => {
    expect(texts('头疼先不说，肚子疼不疼？')).toEqual(['肚子疼不疼'])
    expect(texts('您说不吐，那拉肚子呢？')).toEqual(['那拉肚子呢'])
    expect(texts('您刚才说头疼，在哪里？')).toEqual(['你刚才说头疼在哪里'])
  })
})
