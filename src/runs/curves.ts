/** Draws a training run: `curves.svg` and `curves.png`, with a font of our own, for a machine may have none. */
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { writeFileAtomically } from '../storage/atomic-write.js'
import type { Curves, Level } from './curves-spec.js'
import { curvesSpec } from './curves-spec.js'

export type { Curves, Level } from './curves-spec.js'

export interface DrawOptions {
  /** What guessing reaches. Its name is @default 'random' */
  readonly floor: Level
  /** The best doctor known. Its name is @default 'oracle' */
  readonly ceiling: Level
  /** @default 'Training' */
  readonly title?: string
  /** The folder to write into; made if missing. */
  readonly out: string
}

async function svgOf(spec: Parameters<typeof curvesSpec>): Promise<string> {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')])
  // The ids in the picture count up over the life of the process; the same run is the same bytes.
  vega.resetSVGDefIds()
  const view = new vega.View(vega.parse(compile(curvesSpec(...spec)).spec), { renderer: 'none' })
  try {
    return await view.toSVG()
  } finally {
    view.finalize()
  }
}

async function pngOf(svg: string): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js')
  const require = createRequire(import.meta.url)
  const fontFiles = [
    require.resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
    require.resolve('@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf'),
  ]
  const font = { fontFiles, loadSystemFonts: false, defaultFontFamily: 'Arimo' }
  return new Resvg(svg, { font }).render().asPng()
}

/**
 * Draws training reward per step and held-out accuracy between its floor and its ceiling, one run or several
 * over each other. The libraries are loaded with the first picture.
 * @returns the two files
 */
export async function drawCurves(
  runs: Curves | readonly Curves[],
  { floor, ceiling, title = 'Training', out }: DrawOptions,
): Promise<{ readonly svg: string; readonly png: string }> {
  // A type guard of Array does not see a readonly array.
  const all = Array.isArray(runs) ? (runs as readonly Curves[]) : [runs as Curves]
  const svg = await svgOf([all, { floor, ceiling, title }])
  const png = await pngOf(svg)
  await mkdir(out, { recursive: true })
  const files = { svg: join(out, 'curves.svg'), png: join(out, 'curves.png') }
  await writeFileAtomically(files.svg, svg)
  await writeFileAtomically(files.png, png)
  return files
}
