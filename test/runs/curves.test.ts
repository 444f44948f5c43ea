import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { drawCurves } from '../../src/runs/curves.js'
import { type Curves, curvesSpec, type Level, smooth } from '../../src/runs/curves-spec.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-curves-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (name: string, shift = 0): Curves => ({
  name,
  steps: Array.from({ length: 90 }, (_, n) => ({ step: n + 1, reward: n / 100 + shift })),
  heldOut: [0, 30, 60, 90].map((step) => ({ step, accuracy: 0.1 + step / 150 + shift })),
})
const floor: Level = { accuracy: 0.07 }
const ceiling: Level = { accuracy: 0.9 }

async function drawn(
  runs: Curves | readonly Curves[],
  options: { floor?: Level; ceiling?: Level; title?: string } = {},
) {
  const out = join(mkdtempSync(join(folder, 'run-')), 'made', 'on', 'the', 'way')
  const files = await drawCurves(runs, { floor, ceiling, out, ...options })
  expect(readdirSync(out).sort()).toEqual(['curves.png', 'curves.svg'])
  const svg = readFileSync(files.svg, 'utf8')
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)
  return { svg, png: readFileSync(files.png), texts }
}

describe('the picture', () => {
  test('names its axes, both panels, and the levels with their values', async () => {
    const { texts } = await drawn(run('a'), { title: 'demo, seed 0' })
    for (const text of [
      'demo, seed 0',
      'Training reward',
      'mean reward of the step',
      'Held-out accuracy',
      'accuracy',
      'training step',
      'random 0.07',
      'oracle 0.90',
      'points: one step; line: mean of 7 steps',
    ])
      expect(texts).toContain(text)
  })

  test('runs from 0 to 1 in accuracy, and labels where the run ended', async () => {
    const { texts, svg } = await drawn(run('a'))
    expect(svg).toContain("Y-axis titled 'accuracy' for a linear scale with values from 0.0 to 1.0")
    expect(texts).toContain('0.70')
  })

  test('is about 1000 by 420 pixels, as PNG and as SVG', async () => {
    const { png, svg } = await drawn(run('a'))
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
    expect(Math.abs(width - 1000)).toBeLessThan(80)
    expect(Math.abs(height - 420)).toBeLessThan(40)
    expect(svg).toContain(`width="${width}" height="${height}"`)
  })

  test('has a mark for every step and every evaluation', async () => {
    const { svg } = await drawn(run('a'))
    const marks = (role: string) => svg.match(new RegExp(`aria-roledescription="${role}"`, 'g'))
    expect(marks('circle')).toHaveLength(90)
    expect(marks('point')).toHaveLength(4)
  })

  test('writes its words with a font of its own, and names others for who lacks it', async () => {
    const [one, other] = [
      await drawn(run('a'), { title: 'iiii' }),
      await drawn(run('a'), { title: 'WWWW' }),
    ]
    // Without a font both would be the same blank.
    expect(one.png.equals(other.png)).toBe(false)
    const families = new Set(
      [...one.svg.matchAll(/font-family="([^"]*)"/g)].map(([, name]) => name),
    )
    expect([...families]).toEqual(['Arimo, Helvetica, Arial, sans-serif'])
  })

  test('is the same bytes for the same run', async () => {
    const [one, again] = [await drawn(run('a')), await drawn(run('a'))]
    expect(again.svg).toBe(one.svg)
    expect(again.png.equals(one.png)).toBe(true)
  })

  test('lays several runs over each other with a legend, and none ends in a label', async () => {
    const { texts } = await drawn([run('seed 0'), run('seed 1', 0.1)])
    expect(texts).toEqual(expect.arrayContaining(['seed 0', 'seed 1']))
    expect(texts).not.toContain('0.70')
    expect((await drawn(run('seed 0'))).texts).not.toContain('seed 0')
  })

  test('draws no level that was not measured, and survives a run without numbers', async () => {
    const unknown = { accuracy: null }
    const bare: Curves = { steps: [{ step: 1, reward: Number.NaN }], heldOut: [] }
    const { texts } = await drawn(bare, { floor: unknown, ceiling: unknown })
    expect(texts.filter((text) => /random|oracle|NaN/.test(text ?? ''))).toEqual([])
  })

  test('calls a level what it is called', async () => {
    const { texts } = await drawn(run('a'), { ceiling: { name: 'recorded', accuracy: 0.98 } })
    expect(texts).toContain('recorded 0.98')
  })
})

test('smooth is a mean over a window that is cut off at the ends', () => {
  expect(smooth([1, 2, 6, 3], 1)).toEqual([1.5, 3, 11 / 3, 4.5])
  expect(smooth([1, 2, 6], 0)).toEqual([1, 2, 6])
  expect(smooth([], 3)).toEqual([])
})

test('a specification draws a level as a dashed line right across its panel', () => {
  const text = JSON.stringify(curvesSpec([run('a')], { floor, ceiling, title: '' }))
  const rules = text.match(/"mark":\{"type":"rule","strokeDash":\[5,4\]/g)
  expect(rules).toHaveLength(2)
})
