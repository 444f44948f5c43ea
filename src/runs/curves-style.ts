/** Style of the training curves: colours, font, sizes. */
import type { TopLevelSpec } from 'vega-lite'

const ink = '#1f2933'
const quiet = '#7b8794'

/** Colours of the runs, in order; reused from the first when there are more runs. */
export const runColours = ['#2563eb', '#d97706', '#059669', '#9333ea', '#dc2626', '#0891b2']
/** Colours of the reference lines. */
export const levelColours = { floor: '#6b7280', ceiling: '#047857' }

/** The size of one panel, in pixels. */
export const panelSize = { width: 400, height: 280 }

/** Vega-Lite `config`: font, axes, titles, legend. */
export const vegaConfig: NonNullable<TopLevelSpec['config']> = {
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
