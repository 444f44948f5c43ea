/** Examination rewards: precision, recall, F1 or IoU of the examinations carried out against the required ones. */
import type { GraderView } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'

/** A measure of set agreement. */
export type ExamMeasure = keyof typeof measures

/** Options of {@link examAgreement}. */
export interface ExamAgreementOptions {
  /**
   * With R the required examinations and D those carried out: `precision` |D∩R|/|D|, `recall` |D∩R|/|R|, `f1` their
   * harmonic mean 2·|D∩R|/(|D|+|R|), `iou` |D∩R|/|D∪R|. Recall alone pays for ordering everything, precision alone for
   * one sure examination: report them, train on the others.
   * @default 'f1'
   */
  readonly measure?: ExamMeasure
}

const measures = {
  precision: (hits: number, done: number, _: number): number => (done === 0 ? 0 : hits / done),
  recall: (hits: number, _: number, required: number): number => hits / required,
  f1: (hits: number, done: number, required: number): number => (2 * hits) / (required + done),
  iou: (hits: number, done: number, required: number): number => hits / (required + done - hits),
} as const

function collectExams(
  turns: readonly EpisodeTurn[],
  required: ReadonlySet<string>,
  neutral: ReadonlySet<string>,
): ReadonlySet<string> {
  const done = new Set<string>()
  for (const { facts } of turns)
    for (const exam of facts.exams) if (required.has(exam) || !neutral.has(exam)) done.add(exam)
  return done
}

function examSets({ required, neutral, harmful }: NonNullable<GraderView['gold']['exams']>) {
  const harms = new Set(harmful)
  return {
    required: new Set(required.filter((exam) => !harms.has(exam))),
    neutral: new Set(neutral.filter((exam) => !harms.has(exam))),
  }
}

/**
 * Set agreement between the examinations carried out (canonical ids, panels expanded, each once) and the required
 * ones. Neutral ones do not count; harmful ones are always wrong, even if the case also lists them as required or
 * neutral, and `noHarm` gates on them. Not applicable where the gold standard lists none, or requires none and none was
 * done, which is right and leaves the weight to the other parts. Needless ones on a case that requires none give 0;
 * recall is not applicable there.
 * @throws RangeError for an unknown measure
 */
export function examAgreement({ measure = 'f1' }: ExamAgreementOptions = {}): Reward {
  const compare = measures[measure]
  if (!compare)
    throw new RangeError(
      `Expected \`measure\` to be one of ${Object.keys(measures).join(', ')}, got \`${measure}\``,
    )
  return unitReward(
    `exam-${measure}`,
    'set agreement as in DiagAgent and MedChain, with required and neutral examinations as in MIMIC-CDM',
    ({ turns }, { gold }) => {
      if (!gold.exams) return notApplicable
      const { required, neutral } = examSets(gold.exams)
      const done = collectExams(turns, required, neutral)
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
