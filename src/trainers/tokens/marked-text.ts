/**
 * Marks in rendered text that separate contents from the template: spelt control tokens, and the spans of the
 * policy's replies. A mark is a lone low surrogate, which no well-formed text contains, so no text can forge one.
 */

/** Follows every character of a spelt control token. */
const spelt = '\uDC00'
const opening = '\uDC01'
const closing = '\uDC02'
const naming = '\uDC03'

const digit = (value: number): string => String.fromCharCode(0xdd00 + value)

/** A mark with a number below 65 536. Always three characters, so that none is a prefix of another. */
function numbered(mark: string, n: number): string {
  if (!(n >= 0 && n < 65_536)) throw new RangeError(`Expected \`n\` in [0, 65536), got \`${n}\``)
  return mark + digit(n >> 8) + digit(n & 255)
}

// Without the u flag, these would also match the second half of an emoji.
const marks = /\uDC00|[\uDC01\uDC02][\uDD00-\uDDFF]{2}/gu
const names = /\uDC03([\uDD00-\uDDFF])([\uDD00-\uDDFF])/gu

/** Replaces lone surrogates, which UTF-8 cannot encode, by U+FFFD, as which a tokenizer would read them. */
export const replaceLoneSurrogates = (text: string): string =>
  text.replace(/\p{Surrogate}/gu, '\uFFFD')

/** Private name of the `n`th control token in the renamed tokenizer. */
export const controlName = (n: number): string => numbered(naming, n)

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Detects a control token's proper prefix or suffix at the edge of a text, which neighbouring text could complete. */
function edgeDetector(controls: readonly string[]) {
  const heads = new Set<string>()
  const tails = new Set<string>()
  for (const control of controls)
    for (let i = 1; i < control.length; i++) {
      heads.add(control.slice(0, i))
      tails.add(control.slice(i))
    }
  const longest = Math.max(0, ...controls.map((control) => control.length - 1))
  const lengths = Array.from({ length: longest }, (_, i) => i + 1)
  return {
    before: (text: string) => lengths.some((n) => n <= text.length && tails.has(text.slice(0, n))),
    after: (text: string) => lengths.some((n) => n <= text.length && heads.has(text.slice(-n))),
  }
}

/** Transforms a text except for white space at both ends, which templates may trim. */
function mapTrimmed(text: string, transform: (core: string) => string): string {
  const core = text.trim()
  if (core === '') return text
  const start = text.indexOf(core)
  return text.slice(0, start) + transform(core) + text.slice(start + core.length)
}

/** Reasoning tags: templates look for them in a reply, and there they count as genuine. */
const reasoningTags = /(<\/?think>)/

/**
 * Creates the marks and names that tell genuine control tokens from texts that spell them; the private name of each is
 * {@link controlName} of its index.
 */
export function controlMarks(controls: readonly string[]) {
  const index = new Map(controls.map((control, n) => [control, n]))
  const longestFirst = [...controls].sort((a, b) => b.length - a.length).map(escapeRegExp)
  const any = longestFirst.length > 0 ? longestFirst.join('|') : '(?!)'
  const occurrence = new RegExp(any, 'gu')
  const genuine = new RegExp(`(?:${any})(?!${spelt})`, 'gu')
  const edges = edgeDetector(controls)
  const guardCore = (core: string): string => {
    const inner = core.replace(occurrence, (found) => [...found, ''].join(spelt))
    return (edges.before(core) ? spelt : '') + inner + (edges.after(core) ? spelt : '')
  }
  const replyCore = (n: number) => (core: string) =>
    numbered(opening, n) + guardCore(core) + numbered(closing, n)
  return {
    /** Marks control tokens spelt in a text, also ones that begin or end in a neighbour; repairs surrogates. */
    guard: (text: string): string => mapTrimmed(replaceLoneSurrogates(text), guardCore),
    /** Marks the policy's reply at message `n`: guards it and marks each span between reasoning tags. */
    markReply: (n: number, text: string): string =>
      replaceLoneSurrogates(text)
        .split(reasoningTags)
        .map((part) => (reasoningTags.test(part) ? part : mapTrimmed(part, replyCore(n))))
        .join(''),
    /** Input of the tokenizer: replaces genuine control tokens by their private names and removes all marks. */
    nameControls: (rendered: string): string =>
      rendered.replace(genuine, (found) => controlName(index.get(found) ?? 0)).replace(marks, ''),
    /** Spells private names out again. */
    restoreControls: (text: string): string =>
      text.replace(names, (_, high: string, low: string) => {
        const n = ((high.charCodeAt(0) & 255) << 8) + (low.charCodeAt(0) & 255)
        return controls[n] ?? ''
      }),
  }
}

/** Marks and names of control tokens. */
export type ControlMarks = ReturnType<typeof controlMarks>

/** Text after the reply of message `index` in rendered text; undefined where the template left the reply out. */
export function textAfterReply(rendered: string, index: number): string | undefined {
  const mark = numbered(closing, index)
  const at = rendered.lastIndexOf(mark)
  return at < 0 ? undefined : rendered.slice(at + mark.length)
}

/** True for a marked reply that can be located in rendered text: one with more than white space and reasoning tags. */
export const isMarked = (reply: string): boolean => reply.includes(opening)
