/** Decimal digits of any script as ASCII digits. */

const digit = /^\p{Nd}$/u

/**
 * The value of a decimal digit. Unicode keeps the ten digits of a script together and in order; neighbouring scripts
 * may follow one another without a gap.
 */
function digitValue(character: string): number {
  const code = character.codePointAt(0) ?? 0
  let start = code
  while (digit.test(String.fromCodePoint(start - 1))) start--
  return (code - start) % 10
}

/** Replaces every decimal digit of any script (`３`, `٣`) by its ASCII digit; other characters stay. */
export const toAsciiDigits = (text: string): string =>
  text.replace(/[^\P{Nd}0-9]/gu, (character) => String(digitValue(character)))
