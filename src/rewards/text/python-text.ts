/** Python's notions of blanks and numbers in text, for formulas that are compared with released Python code. */
import { toAsciiDigits } from '../../text/digits.js'

/**
 * Python's `\s`, as the inside of a character class: JavaScript's lacks the four separators U+001C to U+001F and
 * U+0085, and has U+FEFF.
 */
export const pythonBlank = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`

const blank = new RegExp(`[${pythonBlank}]`)

/** Strips blanks at both ends like Python's `str.strip`. */
export function strip(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && blank.test(text.charAt(start))) start++
  while (end > start && blank.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** The number that Python's `int` or `float` reads in text that its own pattern matched: digits of any script. */
export const pythonNumber = (text: string): number => Number(toAsciiDigits(text))

/** Rounds like Python's `round(value, 3)`: exact halves, which are odd sixteenths, go to the even side. */
export function roundLikePython(value: number): number {
  const sixteenths = value * 16
  if (!Number.isInteger(sixteenths) || sixteenths % 2 === 0) return Number(value.toFixed(3))
  const below = Math.floor(value * 1000)
  return (below % 2 === 0 ? below : below + 1) / 1000
}

/** A string as Python's `repr` writes it: in single quotes, unless only a single quote is inside. */
function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const named: Readonly<Record<string, string>> = {
    '\\': '\\\\',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
  }
  const inside = [...text].map((character) => {
    if (character === quote) return `\\${quote}`
    const code = character.codePointAt(0) ?? 0
    if (named[character]) return named[character]
    // Python prints what is neither separator nor other; the ASCII space is its one exception.
    if (character === ' ' || !/[\p{Z}\p{C}]/u.test(character)) return character
    const [letter, width] = code > 0xffff ? ['U', 8] : code > 0xff ? ['u', 4] : ['x', 2]
    return `\\${letter}${code.toString(16).padStart(Number(width), '0')}`
  })
  return `${quote}${inside.join('')}${quote}`
}

/** A list of strings as Python's `str` writes it, as in a prompt made by an f-string. */
export const pythonList = (items: readonly string[]): string =>
  `[${items.map(pythonString).join(', ')}]`
