import { describe, expect, test } from 'vitest'
import { graderView } from '../../src/case.js'
import { ok, unavailable } from '../../src/reward.js'
import { rowReader, splitLine } from '../../src/storage/episode-reader.js'
import { toEpisodeRow, toLine } from '../../src/storage/episode-row.js'
import { parseSavedEpisode, quickRest, quickTruth } from '../../src/storage/episode-schema.js'
import { unsure } from '../../src/storage/quick-schema.js'
import { fc } from '../fixtures/property.js'
import { ask, diagnose, episodeOf, order, present } from '../fixtures/reward-episodes.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const truth = graderView(tinyCase('a'))
const episode = episodeOf([ask(present('ache')), order('blood-count'), diagnose('flu')], {
  budget: { money: Number.POSITIVE_INFINITY, minutes: 9 },
})
const score = {
  total: 0.5,
  parts: { a: ok(1, 'seen'), b: unavailable('down') },
  turns: [0, 0, 0.5],
}
const saved = { episode, truth, score, group: 'g', step: 3 }
const line = toLine(toEpisodeRow(saved)).trimEnd()

/** A line read as the reader of files does, and by zod alone. */
const quickly = (text: string) => {
  const pieces = splitLine(text)
  const whole = () => {
    const { schema: _, ...rest } = JSON.parse(text)
    return rest
  }
  const { schema: _, ...rest } = Object(pieces?.rest)
  return rowReader()({ rest: pieces && rest, truth: pieces?.truth, whole }, 'here')
}
const slowly = (text: string) => {
  const { schema: _, ...rest } = JSON.parse(text)
  return parseSavedEpisode(rest, 'here')
}
const outcome = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return String(error)
  }
}

describe('a line', () => {
  test('that was written here is taken apart, and zod is not asked', () => {
    const pieces = splitLine(line)
    expect(JSON.parse(pieces?.truth ?? '')).toEqual(truth)
    const { schema: _, ...rest } = Object(pieces?.rest)
    expect(quickRest(rest)).not.toBe(unsure)
    expect(quickTruth(JSON.parse(pieces?.truth ?? ''))).not.toBe(unsure)
    expect(quickly(line)).toEqual(saved)
  })

  test('whose words quote a truth is read no differently', () => {
    const words = ',"truth":{"view":"grader"}'
    const quoting = { ...saved, episode: { ...episode, agent: words, id: `"}${words}` } }
    const text = toLine(toEpisodeRow(quoting)).trimEnd()
    expect(quickly(text)).toEqual(quoting)
  })

  test.each([
    [
      'the truth first',
      `{"truth":${JSON.stringify(truth)},${line.slice(1, line.indexOf(',"truth":'))}}`,
    ],
    ['something after the truth', `${line.slice(0, -1)},"step":4}`],
    [
      'the truth twice',
      `${line.slice(0, -1)},"truth":${JSON.stringify({ ...truth, caseId: 'b' })}}`,
    ],
    ['blanks at its end', `${line}  `],
    [
      'a truth within the episode',
      line.replace('"intake":{', '"intake":{"x":1,"truth":{"view":"grader"},'),
    ],
  ])('with %s is read as zod reads it', (_, text) => {
    expect(outcome(() => quickly(text))).toEqual(outcome(() => slowly(text)))
  })

  test('spoiled anywhere is accepted and refused as zod does, with the same words', () => {
    const values = fc.constantFrom('null', '-1', '"x"', '[]', '{}', '1e999', '0.5')
    const numbers = [...line.matchAll(/(?<=":)(?:\d+(?:\.\d+)?|"[^"]*"|null|true|false)/g)]
    expect(numbers.length).toBeGreaterThan(30)
    const results = new Set<boolean>()
    fc.assert(
      fc.property(fc.nat({ max: numbers.length - 1 }), values, (n, value) => {
        const { index, 0: old } = numbers[n]!
        const text = `${line.slice(0, index)}${value}${line.slice(index + old.length)}`
        const read = outcome(() => quickly(text))
        expect(read).toEqual(outcome(() => slowly(text)))
        results.add(typeof read === 'string')
      }),
      { numRuns: 500 },
    )
    expect(results.size).toBe(2)
  })
})

describe('a reader', () => {
  const finite = { ...episode, budget: { money: 1, minutes: 9 } }
  const row = (text: string) => ({
    rest: { episode: finite },
    truth: text,
    whole: () => ({ episode: finite, truth: JSON.parse(text) }),
  })

  test('gives siblings one truth, and another case its own', () => {
    const read = rowReader()
    const [one, two] = ['a', 'b'].map((id) => JSON.stringify(graderView(tinyCase(id))))
    const first = read(row(one!), 'here').truth
    const other = read(row(two!), 'here').truth
    expect(read(row(one!), 'here').truth).toBe(first)
    expect([first.caseId, other.caseId]).toEqual(['a', 'b'])
  })

  test('forgets what was long ago, and reads it again as it was', () => {
    const read = rowReader()
    const text = (n: number) => JSON.stringify(graderView(tinyCase(`case-${n}`)))
    const first = read(row(text(0)), 'here').truth
    for (let n = 1; n < 100; n++) read(row(text(n)), 'here')
    const again = read(row(text(0)), 'here').truth
    expect(again).not.toBe(first)
    expect(again).toEqual(first)
  })
})
