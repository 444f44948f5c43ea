/** Whether the examinations that were needed, and only those, were carried out. */
import type { GraderView } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'

/** How two sets are compared: R the required examinations, D those carried out. */
export type ExamMeasure = keyof typeof measures

export interface ExamAgreementOptions {
  /**
   * `precision` |D∩R|/|D|, `recall` |D∩R|/|R|, `f1` their harmonic mean 2·|D∩R|/(|D|+|R|), `iou` |D∩R|/|D∪R|. Recall
   * alone pays for ordering everything, precision alone for one sure examination: report them, train on the others.
   * @default 'f1'
   */
  readonly measure?: ExamMeasure
}

/** By the sizes of the intersection and of the two sets, of which at least one has something in it. */
const measures = {
  precision: (hits: number, done: number, _: number): number => (done === 0 ? 0 : hits / done),
  recall: (hits: number, _: number, required: number): number => hits / required,
  f1: (hits: number, done: number, required: number): number => (2 * hits) / (required + done),
  iou: (hits: number, done: number, required: number): number => hits / (required + done - hits),
} as const

/** What was carried out and is not neutral; each once, however often it was ordered. */
function doneOf(
  turns: readonly EpisodeTurn[],
  required: ReadonlySet<string>,
  neutral: ReadonlySet<string>,
): ReadonlySet<string> {
  const done = new Set<string>()
  for (const { facts } of turns)
    for (const exam of facts.exams) if (required.has(exam) || !neutral.has(exam)) done.add(exam)
  return done
}

/** The required, and the neutral that are neither required nor harmful. */
function setsOf({ required, neutral, harmful }: NonNullable<GraderView['gold']['exams']>) {
  const harms = new Set(harmful)
  return {
    required: new Set(required.filter((exam) => !harms.has(exam))),
    neutral: new Set(neutral.filter((exam) => !harms.has(exam))),
  }
}

/**
 * Set agreement between the examinations carried out (canonical ids, panels expanded, each once) and the required
 * ones. Neutral ones neither help nor hurt; harmful ones are never right, whatever else the case calls them, and
 * `noHarm` gates on them. Not applicable where the gold standard lists none, or requires none and none was done, which
 * is as it should be and leaves the other parts their say; needless ones on a case that requires none give 0, but for
 * recall, which such a case has none of.
 */
export function examAgreement({ measure = 'f1' }: ExamAgreementOptions = {}): Reward {
  const compare = measures[measure]
  if (!compare)
    throw new RangeError(
      `Expected \`measure\` to be one of ${Object.keys(measures).join(', ')}, got \`${measure}\``,
    )
  return defineReward(
    {
      name: `exam-${measure}`,
      bounds: [0, 1],
      source:
        'set agreement as in DiagAgent and MedChain, with required and neutral examinations as in MIMIC-CDM',
    },
    ({ turns }, { gold }) => {
      if (!gold.exams) return notApplicable
      const { required, neutral } = setsOf(gold.exams)
      const done = doneOf(turns, required, neutral)
      if (required.size === 0 && (done.size === 0 || measure === 'recall')) return notApplicable
      let hits = 0
      for (const exam of done) if (required.has(exam)) hits++
      return ok(
        compare(hits, done.size, required.size),
        `${hits} of ${required.size} required, ${done.size} done`,
      )
    },
  )
}

/** {@link examAgreement} as F1. */
export const examF1 = (): Reward => examAgreement({ measure: 'f1' })
