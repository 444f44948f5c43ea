/** Recaps: a doctor says what they understood and asks whether it is right: "So no fever, but a cough, right?". */
import type { NormalisedText } from '../../../text/phrase-search.js'
import type { FindingMatch } from './finding-match.js'
import type { Sentence } from './sentences.js'

const closing =
  /\b(?:right|correct|yeah|yes|is that (?:right|correct|so|it|true)|is that correct|(?:have|did|do) i (?:got|get|have|understood|understand) (?:that|it|this|you|everything|all that) (?:all )?(?:right|straight|correctly)|isnt it|dont you|havent you|arent you)$|(?:对吗|对吧|对不对|是吧|是吗|没错吧|是这样吗)$/
const beginning =
  /^(?:(?:ok|okay|right|so|well|and|just|good|alright) )*(?:so |(?:just )?to (?:recap|summari[sz]e|confirm|sum up)|in summary|let me (?:just )?(?:recap|summari[sz]e|check|sum up|see if)|you (?:said|say|mentioned|told|have|ve|are|re|had|dont|havent|cant)|youve|youre|no |not |theres no)|^(?:好的?|嗯|那|那么)*(?:所以|也就是说|总结|我(?:再)?(?:确认|总结|重复)|刚才|你(?:刚才|刚刚|说|是|没|这次|现在)|除了|没有|不)/
/** Whether a text in normal form ends by asking whether it is right, and not which side. */
export const asksIfRight = (text: string): boolean =>
  closing.test(text) && !/\bor (?:the )?right$/.test(text)

const negation =
  /(?:\b(?:no|not|without|dont|havent|hasnt|doesnt|didnt|arent|isnt|never|nor|or any)(?: \w+){0,3} |(?:没有?|无|不|未)[^，]{0,4})$/

/** Whether what begins at `start` is denied within its clause: "no fever", "you haven't had a cough". */
export function isNegated({ text, clauses }: NormalisedText, start: number): boolean {
  const clause = clauses.find((one) => start >= one.start && start < one.end)
  return negation.test(text.slice(clause?.start ?? 0, start))
}

/**
 * The findings that a recap says the patient does not have; undefined for an utterance that is no recap.
 * @param found the phrases in the text that name findings
 */
export function findRecap(
  read: NormalisedText,
  found: readonly FindingMatch[],
): ReadonlySet<string> | undefined {
  if (!closing.test(read.text) || !beginning.test(read.text)) return undefined
  const denied = found.filter(({ start }) => isNegated(read, start))
  return new Set(denied.map(({ value }) => value.id))
}

/** A sentence that only asks whether what came before it is right. */
const onlyCloses =
  /^(?:(?:so|and|ok|okay|now) )*(?:(?:have|did|do) i (?:got|get|have|understood|understand) (?:that|it|this|you|everything|all that) (?:all )?(?:right|straight|correctly)|is (?:that|this|it|all that) (?:all )?(?:right|correct|so|true)|am i right|does that sound right)$/

/** Where a recap is told first and only then asked for: "You have a cough. Is that right?", what was told is asked. */
export function askToldOfRecap(
  { text }: NormalisedText,
  sentences: readonly Sentence[],
): readonly Sentence[] {
  const last = sentences.at(-1)
  if (!last || last.start === 0 || !onlyCloses.test(last.text) || !beginning.test(text))
    return sentences
  if (sentences.slice(0, -1).some(({ inquires }) => inquires)) return sentences
  const end = last.start - 1
  const told = { start: 0, end, text: text.slice(0, end), questions: 0, inquires: true }
  return [{ ...told, fragment: true }, last]
}
