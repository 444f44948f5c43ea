/** Text-overlap reward between the doctor's words and the gold text, for parity with two published systems. */
import { type GraderView, primaryDiagnosis, textInLanguage } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import type { Language } from '../../turn.js'
import { defineReward } from '../define.js'
import { type OverlapMeasure, overlapMeasure } from './overlap-measures.js'
import type { OverlapWorkers } from './overlap-workers.js'

/** The field of the doctor's final action that is compared. */
export type OverlapTarget = 'diagnosis' | 'recommendation'

/** Reads a case's gold text in the episode's language, else in the other; undefined where it has none. */
export type GoldTextReader = (truth: GraderView, language: Language) => string | undefined

const goldTexts: Readonly<Record<OverlapTarget, GoldTextReader>> = {
  diagnosis: ({ gold }, language) => textInLanguage(primaryDiagnosis(gold).name, language),
  recommendation: ({ gold }, language) =>
    gold.recommendation && textInLanguage(gold.recommendation, language),
}

/** Options of {@link textOverlap}. */
export interface TextOverlapOptions {
  /** @default 'bag-f1' */
  readonly measure?: OverlapMeasure
  /** The doctor's text that is compared. @default 'diagnosis' */
  readonly of?: OverlapTarget
  /** @default the primary diagnosis's name, or the recorded recommendation */
  readonly gold?: GoldTextReader
  /** Worker threads for the episodes scored at the same time. @default the calling thread */
  readonly workers?: Pick<OverlapWorkers, 'overlap'>
}

/** Number of UTF-16 units of the doctor's text that are read; a text that long scores almost 0. */
const maxLength = 20_000

const measureSource = (measure: OverlapMeasure): string => {
  if (measure === 'bag-f1') return 'bag F1 over jieba tokens, MrlX-TakesTwo and DoctorAgent-RL'
  if (measure === 'word-f1') return 'bag F1 of MrlX-TakesTwo, of words alone, case folded'
  if (measure === 'character-lcs') return 'character LCS of DoctorAgent-RL (env.py)'
  return `${measure.toUpperCase()} as in DoctorAgent-RL's evaluation`
}

/**
 * Overlap in [0, 1] of the diagnosis or the recommendation with the gold text; 0 where the doctor gave none, not
 * applicable where the case has no gold text. Its part is named `diagnosis-bag-f1` and so on.
 *
 * **For parity with published numbers only.** It pays for wording, not for correctness: on DoctorAgent-RL's gold texts a
 * constant sentence naming two common diseases earned .67 by `bag-f1`, another patient's diagnosis .56 (.39 by
 * `word-f1`), thirteen spaces .48. On this package's held-out cases, whose gold texts are names, one space earned .35 in
 * English and no constant name more than .19 in Chinese. Train on `diagnosisAccuracy` or `partialCredit`, and print the
 * floor beside it.
 * @throws RangeError for an unknown measure
 */
export function textOverlap({
  measure = 'bag-f1',
  of = 'diagnosis',
  gold = goldTexts[of],
  workers,
}: TextOverlapOptions = {}): Reward {
  const compare = overlapMeasure(measure)
  return defineReward(
    { name: `${of}-${measure}`, bounds: [0, 1], source: measureSource(measure) },
    (episode, truth) => {
      const right = gold(truth, episode.language)
      if (right === undefined || right === '') return notApplicable
      const given = diagnosisOf(episode)?.[of]?.slice(0, maxLength)
      if (!given) return ok(0, `no ${of}`)
      return workers
        ? workers.overlap(measure, given, right).then((value) => ok(value))
        : ok(compare(given, right))
    },
  )
}
