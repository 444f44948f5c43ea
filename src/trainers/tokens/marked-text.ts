/**
 * Marks inside rendered text that say what is not the template's: where control tokens are only spelt, and
 * which stretch is a reply of the policy. A mark is a lone low surrogate, which no well-formed text holds, so
 * a text cannot forge one.
 */

/** Stands behind every character of a spelt control token. */
const spelt = '\uDC00'
const opening = '\uDC01'
const closing = '\uDC02'
const naming = '\uDC03'

const digit = (value: number): string => String.fromCharCode(0xdd00 + value)

/** A mark with a number below 65 536, always three characters, so that none is the beginning of another. */
function numbered(mark: string, n: number): string {
  if (!(n >= 0 && n < 65_536)) throw new RangeError(`Expected \`n\` in [0, 65536), got \`${n}\``)
  return mark + digit(n >> 8) + digit(n & 255)
}

// Without the flag u, these would also match the second half of an emoji.
const marks = /\uDC00|[\uDC01\uDC02][\uDD00-\uDDFF]{2}/gu
const names = /\uDC03([\uDD00-\uDDFF])([\uDD00-\uDDFF])/gu

/** Text without lone surrogates: UTF-8 has none, a tokenizer would read U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD')

/** The private name under which the tokenizer knows the `n`th control token. */
export const controlName = (n: number): string => numbered(naming, n)

/** How control tokens are told from texts that merely spell them. */
export interface ControlMarks {
  /** Well-formed text in which every spelt control token, also one begun or ended by a neighbour, is marked as text. */
  readonly guard: (text: string) => string
  /** A reply of the policy as message `index`: guarded, each stretch between reasoning tags marked. */
  readonly reply: (index: number, text: string) => string
  /** What the tokenizer reads: genuine control tokens by their private names, no marks. */
  readonly named: (rendered: string) => string
  /** The opposite: private names spelt out. */
  readonly unnamed: (text: string) => string
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Proper beginnings and endings of some texts, to see where one could be completed by a neighbour. */
function edgesOf(controls: readonly string[]) {
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

/** Applies `work` to what stands between the white space at both ends, which templates may trim. */
function within(text: string, work: (core: string) => string): string {
  const core = text.trim()
  if (core === '') return text
  const start = text.indexOf(core)
  return text.slice(0, start) + work(core) + text.slice(start + core.length)
}

/** The tags of reasoning, which templates look for in a reply and which count as genuine there. */
const reasoningTags = /(<\/?think>)/

/** Marks for these control tokens; the private name of each is {@link controlName} of its index. */
export function controlMarks(controls: readonly string[]): ControlMarks {
  const index = new Map(controls.map((control, n) => [control, n]))
  const longestFirst = [...controls].sort((a, b) => b.length - a.length).map(escaped)
  const any = longestFirst.length > 0 ? longestFirst.join('|') : '(?!)'
  const occurrence = new RegExp(any, 'gu')
  const genuine = new RegExp(`(?:${any})(?!${spelt})`, 'gu')
  const edges = edgesOf(controls)
  const guardCore = (core: string): string => {
    const inner = core.replace(occurrence, (found) => [...found, ''].join(spelt))
    return (edges.before(core) ? spelt : '') + inner + (edges.after(core) ? spelt : '')
  }
  const replyCore = (n: number) => (core: string) =>
    numbered(opening, n) + guardCore(core) + numbered(closing, n)
  return {
    guard: (text) => within(wellFormed(text), guardCore),
    reply: (n, text) =>
      wellFormed(text)
        .split(reasoningTags)
        .map((part) => (reasoningTags.test(part) ? part : within(part, replyCore(n))))
        .join(''),
    named: (rendered) =>
      rendered.replace(genuine, (found) => controlName(index.get(found) ?? 0)).replace(marks, ''),
    unnamed: (text) =>
      text.replace(names, (_, high: string, low: string) => {
        const n = ((high.charCodeAt(0) & 255) << 8) + (low.charCodeAt(0) & 255)
        return controls[n] ?? ''
      }),
  }
}

/** What follows the reply of message `index` in rendered text; undefined where the template left it out. */
export function afterReply(rendered: string, index: number): string | undefined {
  const mark = numbered(closing, index)
  const at = rendered.lastIndexOf(mark)
  return at < 0 ? undefined : rendered.slice(at + mark.length)
}

/** True for a reply that can be found again in rendered text: one of more than white space and reasoning tags. */
export const isMarked = (reply: string): boolean => reply.includes(opening)
