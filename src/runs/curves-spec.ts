/** Vega-Lite specification of training curves: reward on the left, held-out accuracy on the right. */
import type { TopLevelSpec } from 'vega-lite'

const ink = '#1f2933'
const quiet = '#7b8794'

/** Colours of the runs, in order; reused from the first when there are more runs. */
const runColours = ['#2563eb', '#d97706', '#059669', '#9333ea', '#dc2626', '#0891b2']
/** Colours of the reference lines. */
const levelColours = { floor: '#6b7280', ceiling: '#047857' }

/** The size of one panel, in pixels. */
const panelSize = { width: 400, height: 280 }

/** Vega-Lite `config`: font, axes, titles, legend. */
const vegaConfig: NonNullable<TopLevelSpec['config']> = {
  // The bundled font first, then fallbacks for SVG viewers without it.
  font: 'Arimo, Helvetica, Arial, sans-serif',
  view: { stroke: null },
  axis: {
    labelColor: ink,
    titleColor: ink,
    labelFontSize: 12,
    titleFontSize: 13,
    titleFontWeight: 'normal',
    titlePadding: 10,
    gridColor: '#e4e7eb',
    domainColor: quiet,
    tickColor: quiet,
  },
  title: {
    color: ink,
    fontSize: 14,
    anchor: 'start',
    frame: 'group',
    offset: 14,
    subtitleColor: quiet,
    subtitleFontSize: 12,
    subtitlePadding: 4,
  },
  legend: { labelFontSize: 12, symbolType: 'stroke' },
}

type Panel = Extract<TopLevelSpec, { readonly hconcat: unknown }>['hconcat'][number]
type Layers = Extract<TopLevelSpec, { readonly layer: unknown }>['layer']

/** Metrics of one run, by step. */
export interface Curves {
  /** Legend label, used where there are several runs. */
  readonly name?: string
  readonly steps: readonly { readonly step: number; readonly reward: number | null }[]
  readonly heldOut: readonly { readonly step: number; readonly accuracy: number | null }[]
}

/** Accuracy of a reference doctor, drawn as a horizontal line. */
export interface Level {
  readonly name?: string
  /** null where it was not measured; no line is drawn. */
  readonly accuracy: number | null
}

/** Filters steps without a score, which get no point. */
const isNumber = (value: number | null): value is number => Number.isFinite(value)

/** Moving average over `half` values to either side; the window is cut off at both ends. */
export function smooth(values: readonly number[], half: number): number[] {
  return values.map((_, i) => {
    const window = values.slice(Math.max(0, i - half), i + half + 1)
    return window.reduce((sum, value) => sum + value, 0) / window.length
  })
}

const runName = ({ name }: Curves, i: number): string => name ?? `run ${i + 1}`

/** Encodings shared by both panels. */
function sharedEncodings(runs: readonly Curves[]) {
  const all = runs.flatMap((run) => [...run.steps, ...run.heldOut])
  const last = all.reduce((most, { step }) => Math.max(most, step), 1)
  const x = {
    field: 'step',
    type: 'quantitative' as const,
    title: 'training step',
    scale: { domain: [0, last], nice: false },
    axis: { grid: false, tickCount: 6, format: 'd', labelFlush: false },
  }
  const color = {
    field: 'run',
    type: 'nominal' as const,
    scale: { domain: runs.map(runName), range: runColours },
  }
  return { last, x, color }
}

function rewardPanel(runs: readonly Curves[]): Panel {
  const { x, color } = sharedEncodings(runs)
  const half = Math.floor(Math.max(0, ...runs.map(({ steps }) => steps.length)) / 30)
  const values = runs.flatMap((run, i) => {
    const points = run.steps.flatMap(({ step, reward }) =>
      isNumber(reward) ? [{ step, reward }] : [],
    )
    const means = smooth(
      points.map(({ reward }) => reward),
      half,
    )
    return points.map((point, n) => ({ ...point, run: runName(run, i), mean: means[n] }))
  })
  const y = {
    type: 'quantitative' as const,
    title: 'mean reward of the step',
    scale: { zero: true, nice: true },
    axis: { tickCount: 6 },
  }
  return {
    ...panelSize,
    title: {
      text: 'Training reward',
      subtitle:
        half > 0 ? `points: one step; line: mean of ${2 * half + 1} steps` : 'points: one step',
    },
    data: { values },
    encoding: { x, color: { ...color, legend: null } },
    layer: [
      {
        mark: { type: 'circle', size: 16, opacity: 0.25 },
        encoding: { y: { ...y, field: 'reward' } },
      },
      { mark: { type: 'line', strokeWidth: 2.2 }, encoding: { y: { ...y, field: 'mean' } } },
    ],
  }
}

/** A dashed reference line, labelled at the end where the training curve is furthest away. */
function levelLayers(kind: keyof typeof levelColours, level: Level, last: number): Layers {
  const { accuracy, name = kind === 'floor' ? 'random' : 'oracle' } = level
  if (accuracy === null || !Number.isFinite(accuracy)) return []
  const left = kind === 'ceiling'
  const color = levelColours[kind]
  const label = `${name} ${accuracy.toFixed(2)}`
  const data = { values: [{ accuracy, step: left ? 0 : last, label }] }
  const y = { field: 'accuracy', type: 'quantitative' as const }
  return [
    { data, mark: { type: 'rule', strokeDash: [5, 4], strokeWidth: 1.5, color }, encoding: { y } },
    {
      data,
      mark: {
        type: 'text',
        align: left ? 'left' : 'right',
        dx: left ? 6 : -6,
        // Above the line, but for one at the top of the panel.
        dy: accuracy > 0.93 ? 11 : -8,
        fontSize: 12,
        fontWeight: 'bold',
        color,
      },
      encoding: {
        y,
        x: { field: 'step', type: 'quantitative' },
        text: { field: 'label', type: 'nominal' },
      },
    },
  ]
}

function accuracyPanel(runs: readonly Curves[], floor: Level, ceiling: Level): Panel {
  const { last, x, color } = sharedEncodings(runs)
  const values = runs.flatMap((run, i) =>
    run.heldOut
      .flatMap(({ step, accuracy }) => (isNumber(accuracy) ? [{ step, accuracy }] : []))
      .map(({ step, accuracy }, n, all) => {
        const label = runs.length === 1 && n === all.length - 1 ? accuracy.toFixed(2) : ''
        return { run: runName(run, i), step, accuracy, label }
      }),
  )
  // Right of the middle, where a learning curve is high and the floor is low.
  const legend = { title: null, orient: 'none' as const, legendX: 310, legendY: 150 }
  const y = {
    field: 'accuracy',
    type: 'quantitative' as const,
    title: 'accuracy',
    scale: { domain: [0, 1] },
    axis: { tickCount: 6, format: '.1f' },
  }
  return {
    ...panelSize,
    title: { text: 'Held-out accuracy', subtitle: 'on cases never trained on' },
    layer: [
      ...levelLayers('floor', floor, last),
      ...levelLayers('ceiling', ceiling, last),
      {
        data: { values },
        encoding: { x, y, color: { ...color, legend: runs.length > 1 ? legend : null } },
        layer: [
          { mark: { type: 'line', strokeWidth: 2.2 } },
          { mark: { type: 'point', filled: true, size: 42, opacity: 1 } },
          {
            mark: { type: 'text', align: 'right', dy: 15, fontSize: 12, fontWeight: 'bold' },
            encoding: { text: { field: 'label', type: 'nominal' } },
          },
        ],
      },
    ],
  }
}

/** Builds the specification of both panels. */
export const curvesSpec = (
  runs: readonly Curves[],
  { floor, ceiling, title }: { floor: Level; ceiling: Level; title: string },
): TopLevelSpec => ({
  background: 'white',
  padding: { left: 16, right: 24, top: 14, bottom: 12 },
  title: { text: title, fontSize: 17, frame: 'bounds' },
  hconcat: [rewardPanel(runs), accuracyPanel(runs, floor, ceiling)],
  spacing: 48,
  resolve: { legend: { color: 'independent' }, scale: { color: 'independent' } },
  config: vegaConfig,
})
