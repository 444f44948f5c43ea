/** How alike the doctor's words and the gold ones are: what two published systems pay for, kept for parity. */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import type { Language } from '../../turn.js'
import { defineReward } from '../define.js'
import { type OverlapMeasure, overlapMeasure } from './measures.js'
import type { OverlapWorkers } from './overlap-workers.js'

export type OverlapTarget = 'diagnosis' | 'recommendation'

/** The text that a case has for it in the episode's language, else in the other; undefined where it has none. */
export type GoldText = (truth: GraderView, language: Language) => string | undefined

const goldTexts: Readonly<Record<OverlapTarget, GoldText>> = {
  diagnosis: ({ gold }, language) => inLanguage(primary(gold).name, language),
  recommendation: ({ gold }, language) =>
    gold.recommendation && inLanguage(gold.recommendation, language),
}

export interface TextOverlapOptions {
  /** @default 'bag-f1' */
  readonly measure?: OverlapMeasure
  /** What the doctor wrote that is compared. @default 'diagnosis' */
  readonly of?: OverlapTarget
  /** @default the primary diagnosis's name, or the recorded recommendation */
  readonly gold?: GoldText
  /** Threads that compute it for the episodes scored at the same time. @default this thread alone */
  readonly workers?: Pick<OverlapWorkers, 'overlap'>
}

/** How much of what the doctor wrote is read, in UTF-16 units; a text that long earns next to nothing. */
const readAtMost = 20_000

const sources = (measure: OverlapMeasure): string => {
  if (measure === 'bag-f1') return 'bag F1 over jieba tokens, MrlX-TakesTwo and DoctorAgent-RL'
  if (measure === 'word-f1') return 'bag F1 of MrlX-TakesTwo, of words alone, case folded'
  if (measure === 'character-lcs') return 'character LCS of DoctorAgent-RL (env.py)'
  return `${measure.toUpperCase()} as in DoctorAgent-RL's evaluation`
}

/**
 * Overlap in [0, 1] of the diagnosis or the recommendation with the gold text; 0 where the doctor gave none, not
 * applicable where the case has no gold text. Its part is named `diagnosis-bag-f1` and so on.
 *
 * **For parity with published numbers only.** It pays for wording, not for being right: on DoctorAgent-RL's gold texts a
 * constant sentence naming two common diseases earned .67 by `bag-f1`, another patient's diagnosis .56 (.39 by
 * `word-f1`), thirteen spaces .48. On this package's own held-out cases, whose gold texts are names, one space earned .35
 * in English and no constant name more than .19 in Chinese. Use `diagnosisAccuracy` or `partialCredit` to train, and print the floor beside it.
 * @throws RangeError for a measure that does not exist
 */
export function textOverlap({
  measure = 'bag-f1',
  of = 'diagnosis',
  gold = goldTexts[of],
  workers,
}: TextOverlapOptions = {}): Reward {
  const compare = overlapMeasure(measure)
  return defineReward(
    { name: `${of}-${measure}`, bounds: [0, 1], source: sources(measure) },
    (episode, truth) => {
      const right = gold(truth, episode.language)
      if (right === undefined || right === '') return notApplicable
      const given = diagnosisOf(episode)?.[of]?.slice(0, readAtMost)
      if (!given) return ok(0, `no ${of}`)
      return workers
        ? workers.overlap(measure, given, right).then((value) => ok(value))
        : ok(compare(given, right))
    },
  )
}
