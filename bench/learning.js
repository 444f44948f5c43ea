/**
 * Draws what finished runs learnt between the random doctor (0) and the oracle (1): at the end against the number of
 * diseases, and on the way against consultations. Prints a row for each run; run after `npm run build`:
 *
 *   node bench/learning.js docs/learning nothing=runs/a,runs/b imitation=runs/c
 *
 * writes docs/learning.png. Of each size the first run of a series is drawn on its way; a consultation that is imitated
 * again counts again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { Resvg } from '@resvg/resvg-js'
import * as vega from 'vega'
import { compile } from 'vega-lite'
import { parse } from 'yaml'
import { clinic as clinicOf, loadKnowledge } from '../dist/exports/knowledge.js'

const [out, ...series] = process.argv.slice(2)
if (!out || series.length === 0 || series.some((one) => !one.includes('='))) {
  console.error('expected: node bench/learning.js OUT NAME=RUN,RUN… [NAME=RUN,…]')
  process.exit(2)
}
const lines = (file) => readFileSync(file, 'utf8').trim().split('\n')

/** Number of diseases of a clinic that training draws. */
const diseasesOf = ({ clinic }) => {
  const { diseases } = clinic ? clinicOf(loadKnowledge(), clinic) : loadKnowledge()
  return diseases.filter(({ novel }) => !novel).length
}

function readRun(start, folder) {
  const recipe = parse(readFileSync(join(folder, 'config.yaml'), 'utf8'))
  const { heldOut, steps } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))
  const { floor, ceiling, accuracy, normalised } = heldOut
  const metrics = lines(join(folder, 'metrics.jsonl')).map((line) => JSON.parse(line))
  const { groupsPerStep = 0, groupSize = 0, sft } = recipe.training
  const aStep = sft?.episodesPerStep ?? groupsPerStep * groupSize
  return {
    ...{ start, run: basename(folder), seed: recipe.seed, diseases: diseasesOf(recipe.cases) },
    ...{ accuracy: accuracy.mean, ci95: accuracy.ci95, normalised: normalised.accuracy },
    turns: heldOut.turns,
    consultations: steps * aStep,
    curve: metrics
      .filter((one) => one.type === 'held-out' && Number.isFinite(one.accuracy))
      .map(({ accuracy: at, step }) => ({
        consultations: step * aStep,
        normalised: (at - floor.accuracy) / (ceiling.accuracy - floor.accuracy),
      })),
  }
}

const runs = series.flatMap((one) => {
  const [start, folders] = one.split('=')
  return folders.split(',').map((folder) => readRun(start, folder))
})
for (const { start, diseases, seed, accuracy, ci95, normalised, turns, consultations } of runs)
  console.log(
    `| ${diseases} | ${start} | ${seed} | ${accuracy.toFixed(3)} [${ci95.map((x) => x.toFixed(3)).join(', ')}] | ${normalised.toFixed(3)} | ${turns.toFixed(1)} | ${consultations} |`,
  )

const firstOfSizes = runs.filter(
  ({ start, diseases }, i) =>
    runs.findIndex((one) => one.start === start && one.diseases === diseases) === i,
)
const y = { field: 'normalised', type: 'quantitative', scale: { domain: [0, 1] } }
const color = {
  ...{ field: 'start', type: 'nominal', title: null },
  scale: { range: ['#2563eb', '#d97706', '#059669', '#9333ea'] },
  legend: { labelLimit: 0 },
}
const size = { width: 380, height: 280 }
const spec = {
  config: { font: 'Arimo', view: { stroke: null }, axis: { gridColor: '#e4e7eb' } },
  background: 'white',
  hconcat: [
    {
      ...size,
      data: { values: runs.map(({ curve, ...run }) => run) },
      encoding: {
        x: {
          ...{ field: 'diseases', type: 'quantitative', title: 'Diseases' },
          ...{ scale: { type: 'log', domain: [8, 100] }, axis: { values: [10, 20, 40, 87] } },
        },
        y: { ...y, title: 'Held-out accuracy: random doctor 0, oracle 1' },
        color,
      },
      layer: [
        { mark: { type: 'point', filled: true, size: 60, opacity: 0.8 } },
        { mark: 'line', encoding: { y: { ...y, aggregate: 'mean' } } },
      ],
    },
    {
      ...size,
      data: {
        values: firstOfSizes.flatMap(({ start, diseases, curve }) =>
          curve
            .filter(({ consultations }) => consultations > 0)
            .map((point) => ({ ...point, start, diseases })),
        ),
      },
      mark: { type: 'line', clip: true },
      encoding: {
        x: {
          ...{ field: 'consultations', type: 'quantitative', title: 'Consultations' },
          scale: { type: 'log' },
          axis: { values: [100, 1000, 10_000, 100_000], format: ',' },
        },
        y: { ...y, title: null },
        color,
        strokeDash: { field: 'diseases', type: 'ordinal', title: 'Diseases' },
      },
    },
  ],
}
const view = new vega.View(vega.parse(compile(spec).spec), { renderer: 'none' })
const svg = await view.toSVG()
const font = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf',
)
writeFileSync(
  `${out}.png`,
  new Resvg(svg, {
    font: { fontFiles: [font], loadSystemFonts: false, defaultFontFamily: 'Arimo' },
  })
    .render()
    .asPng(),
)
