/** Chinese segmentation that matches Python's jieba 0.42.1, over jieba-rs: its native build, or its WebAssembly where there is none. */
import { createRequire } from 'node:module'

/** Segments a text into dictionary words and, by a hidden Markov model, unknown words; joined they are the text. */
export type WordSegmenter = (text: string) => string[]

const require = createRequire(import.meta.url)

/** Loads the native build and its dictionary (about .25 s, 60 MB). @throws where npm installed none for this machine */
export function loadNativeJieba(): WordSegmenter {
  const { Jieba } = require('@node-rs/jieba') as typeof import('@node-rs/jieba')
  const { dict } = require('@node-rs/jieba/dict') as typeof import('@node-rs/jieba/dict')
  const jieba = Jieba.withDict(dict)
  return (text) => jieba.cut(text, true)
}

/** Loads the WebAssembly as an instance of its own: words that other code adds to the shared one must not matter. */
export function loadWasmJieba(): WordSegmenter {
  const path = require.resolve('jieba-wasm')
  const shared = require.cache[path]
  delete require.cache[path]
  try {
    const { cut } = require(path) as typeof import('jieba-wasm')
    return (text) => cut(text, true)
  } finally {
    if (shared) require.cache[path] = shared
    else delete require.cache[path]
  }
}

function loadFastestJieba(): WordSegmenter {
  try {
    return loadNativeJieba()
  } catch {
    // npm skips an optional dependency silently, and the system's C library may be too old for the binary.
    return loadWasmJieba()
  }
}

let loaded: WordSegmenter | undefined

/**
 * Segments with jieba-rs in accurate mode, `hmm` on. The first call loads the dictionary, once per thread.
 * @param text without lone surrogates
 */
export const segmentWithJieba: WordSegmenter = (text) => {
  loaded ??= loadFastestJieba()
  return loaded(text)
}

/**
 * Characters that jieba-rs treats as Han and Python's jieba as a token each, as they came to Unicode later or lie
 * outside the first block; and lone surrogates, which have no UTF-8.
 */
const strange = /[\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\ud800-\udfff]/
const strangeOne =
  /([\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\u{20000}-\u{2ebef}\u{2f800}-\u{2fa1f}\p{Cs}])/u

/**
 * In jieba-rs any character matches where Python's pattern for numbers requires a full stop: it keeps `7-9` whole.
 * `c#` and `C#` are words of the dictionary.
 */
const joined = /[a-zA-Z0-9][+#&_%-][0-9]/
const seam = /((?<=[a-zA-Z0-9])(?:(?<![cC])#|[+&_-])(?=[0-9])|(?<=[a-zA-Z0-9]%)(?=[0-9]))/

function cutParts(text: string, at: RegExp, cut: (part: string) => string[]): string[] {
  // Every second part is a match of the pattern itself.
  return text.split(at).flatMap((part, n) => (part ? (n % 2 === 1 ? [part] : cut(part)) : []))
}

const cutNumbers = (text: string): string[] =>
  joined.test(text) ? cutParts(text, seam, segmentWithJieba) : segmentWithJieba(text)

/**
 * Segments a text into the tokens of Python's `jieba.lcut` (accurate mode, hidden Markov model on). Whitespace and
 * punctuation are tokens too; joined, the tokens are the text. Linear in the length of the text.
 */
export const segmentChinese = (text: string): string[] =>
  strange.test(text) ? cutParts(text, strangeOne, cutNumbers) : cutNumbers(text)
