/** The normal interval that a report writes behind a number, and how a reader finds it again. */
import type { Language } from '../turn.js'

/** Words for a normal interval, as they stand before the end of a sentence. */
export const referenceText = (
  [low, high]: readonly [number, number],
  language: Language,
): string => (language === 'zh' ? `（参考范围${low}～${high}）` : ` (reference ${low} to ${high})`)

const written = /\s*[（(](?:参考范围|reference )([\d.]+)(?:～| to )([\d.]+)[)）]$/

/** Splits a sentence without its end mark into its text and the interval that it closes with, if any. */
export function splitReference(sentence: string): {
  readonly text: string
  readonly reference: readonly [number, number] | undefined
} {
  const found = written.exec(sentence)
  if (!found) return { text: sentence, reference: undefined }
  return {
    text: sentence.slice(0, found.index),
    reference: [Number(found[1]), Number(found[2])],
  }
}
