/** Draws training curves to `curves.svg` and `curves.png`. A font is bundled, since a machine may have none. */
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { writeFileAtomically } from '../storage/atomic-write.js'
import { type Curves, curvesSpec, type Level } from './curves-spec.js'

export type { Curves, Level } from './curves-spec.js'

/** Reference levels, title and output folder of a drawing. */
export interface DrawOptions {
  /** Lower reference line. Its name is @default 'random' */
  readonly floor: Level
  /** Upper reference line. Its name is @default 'oracle' */
  readonly ceiling: Level
  /** Title of the picture. @default 'Training' */
  readonly title?: string
  /** The folder to write into; made if missing. */
  readonly out: string
}

async function renderSvg(spec: Parameters<typeof curvesSpec>): Promise<string> {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')])
  // SVG ids count up over the life of the process; reset, so that the same run gives the same bytes.
  vega.resetSVGDefIds()
  const view = new vega.View(vega.parse(compile(curvesSpec(...spec)).spec), { renderer: 'none' })
  try {
    return await view.toSVG()
  } finally {
    view.finalize()
  }
}

async function renderPng(svg: string): Promise<Buffer> {
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
 * Draws training reward per step, and held-out accuracy between floor and ceiling, for one run or several.
 * The plotting libraries are loaded on the first call.
 * @returns the paths of the two files
 */
export async function drawCurves(
  runs: Curves | readonly Curves[],
  { floor, ceiling, title = 'Training', out }: DrawOptions,
): Promise<{ readonly svg: string; readonly png: string }> {
  // `Array.isArray` does not narrow a readonly array.
  const all = Array.isArray(runs) ? (runs as readonly Curves[]) : [runs as Curves]
  const svg = await renderSvg([all, { floor, ceiling, title }])
  const png = await renderPng(svg)
  await mkdir(out, { recursive: true })
  const files = { svg: join(out, 'curves.svg'), png: join(out, 'curves.png') }
  await writeFileAtomically(files.svg, svg)
  await writeFileAtomically(files.png, png)
  return files
}
