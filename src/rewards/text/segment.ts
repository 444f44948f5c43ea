/** The tokens that Python's jieba 0.42.1 gives, from jieba-rs, which differs from it in two places. */
import { jiebaCut } from './jieba.js'

/**
 * Characters that jieba-rs takes for Han and Python's jieba for a token each, since they came to Unicode later or lie
 * outside of the first block; and halves of surrogate pairs, which have no UTF-8.
 */
const strange = /[\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\ud800-\udfff]/
const strangeOne =
  /([\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\u{20000}-\u{2ebef}\u{2f800}-\u{2fa1f}\p{Cs}])/u

/**
 * In jieba-rs any character may stand where Python's expression for numbers asks for a full stop: it keeps `7-9` whole.
 * `c#` and `C#` are words of the dictionary.
 */
const joined = /[a-zA-Z0-9][+#&_%-][0-9]/
const seam = /((?<=[a-zA-Z0-9])(?:(?<![cC])#|[+&_-])(?=[0-9])|(?<=[a-zA-Z0-9]%)(?=[0-9]))/

function cutParts(text: string, at: RegExp, cut: (part: string) => string[]): string[] {
  // Every second part is what the expression itself caught.
  return text.split(at).flatMap((part, n) => (part ? (n % 2 === 1 ? [part] : cut(part)) : []))
}

const cutNumbers = (text: string): string[] =>
  joined.test(text) ? cutParts(text, seam, jiebaCut) : jiebaCut(text)

/**
 * The tokens of a text as `jieba.lcut` gives them in Python (accurate mode, hidden Markov model on): whitespace and
 * punctuation are tokens too, and joined the tokens are the text. Linear in the text's length.
 */
export const segmentChinese = (text: string): string[] =>
  strange.test(text) ? cutParts(text, strangeOne, cutNumbers) : cutNumbers(text)
