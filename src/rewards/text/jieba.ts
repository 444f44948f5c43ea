/**
 * Chinese word segmentation with jieba-rs: its native build, or its WebAssembly where there is none. Both give the same
 * tokens (a test compares them); the native build is three times as fast.
 */
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
