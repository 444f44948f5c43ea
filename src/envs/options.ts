/**
 * Checks of an env's options, for callers without a compiler. By hand: to load a schema library takes longer than
 * everything else up to the first step.
 */
import { suggestNames } from '../platform/did-you-mean.js'
import { preview } from '../platform/preview.js'
import { maxSeed } from '../seed.js'

/** What an option may be. */
export interface OptionRule {
  /** As in "Expected `maxTurns` to be …". */
  readonly expected: string
  /** Whether the value is of the right type. */
  readonly fits: (value: unknown) => boolean
  /** Whether a value of that type is one of those that make sense. @default all do */
  readonly allows?: (value: unknown) => boolean
  /** Whether it must be there. @default false */
  readonly required?: boolean
}

/** A rule for every option of `T`. */
export type OptionRules<T> = { readonly [name in keyof Required<T>]: OptionRule }

const isNumber = (value: unknown): boolean => typeof value === 'number'
const isText = (value: unknown): boolean => typeof value === 'string'

/** A whole number. */
export const whole = (least: 0 | 1): OptionRule => ({
  expected: `a ${least === 0 ? 'non-negative' : 'positive'} integer`,
  fits: isNumber,
  allows: (value) => Number.isInteger(value) && Number(value) >= least,
})

/** A seed. */
export const seedRule: OptionRule = {
  expected: `an integer from 0 to ${maxSeed}`,
  fits: isNumber,
  allows: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxSeed,
}

/** A number above 0; Infinity is one. */
const positive: OptionRule = {
  expected: 'a positive number',
  fits: isNumber,
  allows: (value) => Number(value) > 0,
}

/** A number from 0 on; Infinity is one. */
const notNegative: OptionRule = {
  expected: 'a number of at least 0',
  fits: isNumber,
  allows: (value) => Number(value) >= 0,
}

/** Turns of an episode: a number, or the least and the most. */
const turnsRule: OptionRule = {
  expected: 'a positive integer, or the least and the most of a range of them',
  fits: (value) => isNumber(value) || (Array.isArray(value) && value.every(isNumber)),
  allows: (value) => {
    const range: readonly unknown[] = Array.isArray(value) ? value : [value, value]
    const [least, most] = range.map(Number)
    return range.length === 2 && range.every(Number.isInteger) && least! >= 1 && most! >= least!
  },
}

/** One of some names. */
export const oneOf = (...names: readonly string[]): OptionRule => ({
  expected: names.join(' or '),
  fits: isText,
  allows: (value) => names.includes(String(value)),
})

/** A list of some names, at least one. */
export const names: OptionRule = {
  expected: 'a list of names',
  fits: (value) => Array.isArray(value) && value.every(isText),
  allows: (value) => Array.isArray(value) && value.length > 0,
}

/** A function. */
export const callable: OptionRule = {
  expected: 'a function',
  fits: (value) => typeof value === 'function',
}

/** A list of exam simulators. */
const simulators: OptionRule = {
  expected: 'a list of functions',
  fits: (value) =>
    Array.isArray(value) &&
    value.every((one) => callable.fits(one) || callable.fits(Object(one).informed)),
}

/** An object with these functions. */
const having = (...methods: readonly string[]): OptionRule => ({
  expected: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
  fits: (value) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => callable.fits(Reflect.get(value, name))),
})

/** The same, and it must be there. */
export const required = (rule: OptionRule): OptionRule => ({ ...rule, required: true })

/** A list of cases, or a function that makes one. */
export const casesRule: OptionRule = required({
  expected: 'a function, or a list of at least one case',
  fits: (value) => callable.fits(value) || Array.isArray(value),
  allows: (value) => callable.fits(value) || (Array.isArray(value) && value.length > 0),
})

/** What each option of a consultation may be. */
export const consultationRules = {
  cases: casesRule,
  patient: required(callable),
  exams: simulators,
  reward: callable,
  grammar: having('render', 'parse'),
  language: oneOf('zh', 'en'),
  intake: callable,
  maxTurns: turnsRule,
  money: notNegative,
  minutes: positive,
  minutesPerQuestion: notNegative,
  unknownOrderMoney: notNegative,
  maxInvalid: positive,
  pay: oneOf('end', 'turn'),
}

function refuseUnknown(of: string, name: string, known: readonly string[]): never {
  const [near] = suggestNames(name, known, 1)
  const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
  throw new TypeError(`Expected an option of ${of} (${known.join(', ')}), got \`${name}\`${hint}`)
}

/**
 * Holds options to their rules; an option that is undefined counts as not given.
 * @param of whose options they are
 * @throws TypeError for an option that does not exist, is missing, or is of another type; RangeError for a value out
 *   of bounds
 */
export function checkOptions(
  of: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(
      `Expected the options of ${of} to be an object, got \`${preview(options)}\``,
    )
  const known = Object.keys(rules)
  for (const name of Object.keys(options))
    if (!Object.hasOwn(rules, name)) refuseUnknown(of, name, known)
  for (const [name, rule] of Object.entries(rules)) {
    const value: unknown = Reflect.get(options, name)
    if (value === undefined && !rule.required) continue
    const message = () => `Expected \`${name}\` to be ${rule.expected}, got \`${preview(value)}\``
    if (!rule.fits(value)) throw new TypeError(message())
    if (rule.allows?.(value) === false) throw new RangeError(message())
  }
}
