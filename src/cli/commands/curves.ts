/** `bedside curves`: plots several training runs over each other. */
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'
import type { Evaluation } from '../../evaluation/evaluate.js'
import { type Curves, drawCurves } from '../../runs/curves.js'
import type { MetricsLine } from '../../runs/open-directory.js'
import { output, type PrintFlags, type Terminal } from '../print/output.js'

interface CurvesFlags extends PrintFlags {
  readonly out: string
  readonly title?: string
}

/** The curves of a finished run, named by its folder. */
interface CurvesRun extends Curves {
  readonly name: string
  readonly heldOutOf: Pick<Evaluation, 'floor' | 'ceiling'>
}

const read = (path: string): Promise<string> =>
  rethrowAsFault('bad-input', `${path}: expected the file of a finished training run`, () =>
    readFile(path, 'utf8'),
  )

async function readRun(folder: string): Promise<CurvesRun> {
  const lines = (await read(join(folder, 'metrics.jsonl')))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsLine) // written by the run
  const report = JSON.parse(await read(join(folder, 'report.json')))
  if (!report.heldOut)
    throw new Fault('bad-input', `${folder}: expected report.json of a training run, got another`)
  return {
    name: basename(resolve(folder)),
    steps: lines.filter((line) => line.type === 'step'),
    heldOut: lines.filter((line) => line.type === 'held-out'),
    heldOutOf: report.heldOut,
  }
}

/**
 * Draws the curves of runs that share held-out cases, between the floor and the ceiling of the first.
 * @throws Fault `bad-input` for a folder that holds no finished run
 */
export async function drawRuns(
  folders: readonly string[],
  { out: folder, title, ...flags }: CurvesFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const runs: CurvesRun[] = []
  for (const one of folders) runs.push(await readRun(one))
  const [first] = runs
  if (!first) throw new Fault('bad-input', 'Expected a run directory, got none')
  const { floor, ceiling } = first.heldOutOf
  const files = await drawCurves(runs, {
    floor,
    ceiling,
    title: title ?? runs.map(({ name }) => name).join(', '),
    out: folder,
  })
  if (flags.json) await out.document({ runs: runs.map(({ name }) => name), ...files })
  else await out.say(`${files.png}\n${files.svg}`)
  return 0
}
