/**
 * jieba-rs, as `jieba-wasm` ships it, in an instance of our own that answers with token lengths only.
 *
 * The package's own `cut` makes a JavaScript string of every token inside the call, which is a quarter of its time;
 * here the lengths are noted and the text is sliced once. It also has one dictionary for the whole process that
 * anybody may add words to; no word can be added to this one, so a reward cannot change by what else is loaded.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** A text as dictionary words and, by a hidden Markov model, unknown ones; joined they are the text. */
export type Cut = (text: string) => string[]

/** What the module of the pinned version gives; `cut` answers (address, count) of an array of references. */
interface JiebaExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  cut(address: number, bytes: number, hmm: number): readonly [number, number]
  __wbindgen_malloc(bytes: number, align: number): number
  __wbindgen_free(address: number, bytes: number, align: number): void
  __externref_drop_slice(address: number, count: number): void
  readonly __wbindgen_export_2: { grow(by: number): number }
  __wbindgen_start(): void
}

/** As much of it as is used: Node's types leave it out. */
declare const WebAssembly: {
  readonly Module: {
    new (bytes: Uint8Array): object
    imports(module: object): readonly { readonly name: string }[]
  }
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** The text divided where these lengths in bytes of UTF-8 say. */
function sliced(text: string, lengths: readonly number[]): string[] {
  const tokens: string[] = new Array(lengths.length)
  let at = 0
  for (let n = 0; n < lengths.length; n++) {
    const start = at
    let left = lengths[n] ?? 0
    while (left > 0) {
      const unit = text.charCodeAt(at++)
      // Half a surrogate pair is half of four bytes.
      left -= unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
    }
    tokens[n] = text.slice(start, at)
  }
  return tokens
}

function instantiate(): Cut {
  const script = createRequire(import.meta.url).resolve('jieba-wasm')
  const module = new WebAssembly.Module(readFileSync(script.replace(/\.js$/, '_bg.wasm')))
  let lengths: number[] = []
  const imports = Object.fromEntries(
    WebAssembly.Module.imports(module).map(({ name }) => [
      name,
      (): never => {
        throw new Error(`jieba-wasm failed (${name})`)
      },
    ]),
  )
  Object.assign(imports, {
    // Called for each token with its place in memory; what it returns is only handed back.
    __wbindgen_string_new: (_address: number, bytes: number) => lengths.push(bytes),
    __wbindgen_init_externref_table: () => wasm.__wbindgen_export_2.grow(4),
  })
  const { exports } = new WebAssembly.Instance(module, { __wbindgen_placeholder__: imports })
  // The version is pinned, and a test compares with the package's own `cut`.
  const wasm = exports as JiebaExports
  wasm.__wbindgen_start()
  return (text) => {
    const bytes = Buffer.byteLength(text)
    const address = wasm.__wbindgen_malloc(bytes, 1) >>> 0
    encoder.encodeInto(text, new Uint8Array(wasm.memory.buffer, address, bytes))
    lengths = []
    // The text's memory is freed by the callee; 1 is `hmm`.
    const [list, count] = wasm.cut(address, bytes, 1)
    wasm.__externref_drop_slice(list, count)
    wasm.__wbindgen_free(list, count * 4, 4)
    return sliced(text, lengths)
  }
}

const encoder = new TextEncoder()
let instance: Cut | undefined

/**
 * Cuts with jieba-rs in its accurate mode, `hmm` on. The first call loads the dictionary (about .4 s and 70 MB, once a thread).
 * @param text without lone surrogates
 */
export const jiebaCut: Cut = (text) => {
  instance ??= instantiate()
  try {
    return instance(text)
  } catch (error) {
    // Memory may have run out in the middle of a word; nothing of it can be used again.
    instance = undefined
    throw error
  }
}
