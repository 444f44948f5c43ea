/** Options of a reward that are written with its name, as `doctor-agent-ppo:threshold=0.4`. */
import { Fault } from '../error.js'

/** How one option is read: its value from text, and what is expected, for messages. */
export interface NamedOption {
  readonly expected: string
  /** Undefined for text that is no value of it. */
  readonly read: (text: string) => number | boolean | string | undefined
}

/** A number that passes a test. */
const numberThat = (expected: string, isValid: (value: number) => boolean): NamedOption => ({
  expected,
  read: (text) => {
    const value = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text)
      ? Number(text)
      : Number.NaN
    return isValid(value) ? value : undefined
  },
})

const wholeFrom = (least: number): NamedOption =>
  numberThat(`a whole number from ${least}`, (n) => Number.isSafeInteger(n) && n >= least)

const oneOf = (...names: readonly string[]): NamedOption => ({
  expected: names.join(' or '),
  read: (text) => (names.includes(text) ? text : undefined),
})

const positive = numberThat('a number above 0', (n) => n > 0 && Number.isFinite(n))
const share = numberThat('a number within [0, 1)', (n) => n >= 0 && n < 1)
const turnLimit = {
  limit: numberThat('a number from 1', (n) => n >= 1 && Number.isFinite(n)),
  turns: oneOf('over-limit', 'linear'),
}
const loop = {
  loop: wholeFrom(1),
  alone: {
    expected: 'true or false',
    read: (text: string) => ({ true: true, false: false })[text],
  },
}

/** The options of each reward by its name; a reward that is not here has none. */
export const namedOptions: Readonly<Record<string, Readonly<Record<string, NamedOption>>>> = {
  'reciprocal-rank': { depth: wholeFrom(1) },
  calibration: { abstention: numberThat('a number within [0, 1]', (n) => n >= 0 && n <= 1) },
  'one-question': { mostFindings: wholeFrom(1) },
  cost: { budget: positive },
  time: { budget: positive },
  invasiveness: { budget: positive },
  'verified-answer': { threshold: share },
  'doctor-agent-ppo': { threshold: share },
  'doctor-agent-ppo-parity': { threshold: share },
  'doctor-agent-grpo': { threshold: share },
  'doctor-agent-grpo-parity': { threshold: share },
  'takestwo-doctor-parity': { maxTurns: wholeFrom(1) },
  'doctoragent-match-parity': loop,
  'doctoragent-patient-parity': loop,
  'doctoragent-judge-parity': loop,
  'diagagent-paper': turnLimit,
  'diagagent-paper-parity': turnLimit,
  'grpodx-readme-parity': { reading: oneOf('readme', 'techspec') },
}

/** A reward's name and the options written with it. */
export interface NamedRewardSpec {
  readonly name: string
  readonly options: Readonly<Record<string, number | boolean | string>>
}

function readOption(
  given: string,
  known: Readonly<Record<string, NamedOption>>,
  whole: string,
): readonly [string, number | boolean | string] {
  const at = given.indexOf('=')
  const key = at < 0 ? given : given.slice(0, at)
  const option = Object.hasOwn(known, key) ? known[key] : undefined
  const names = Object.keys(known)
  if (!option)
    throw new Fault(
      'bad-input',
      `reward \`${whole}\`: expected ${names.length > 0 ? `one of its options (${names.join(', ')})` : 'no option, as it has none'}, got \`${key}\``,
    )
  const text = at < 0 ? '' : given.slice(at + 1)
  const value = option.read(text)
  if (value === undefined)
    throw new Fault(
      'bad-input',
      `reward \`${whole}\`: ${key}: expected ${option.expected}, got \`${text}\``,
    )
  return [key, value]
}

/**
 * Splits `NAME:OPTION=VALUE,…` and reads the options.
 * @param isName whether a text is the name of a reward
 * @returns undefined where what stands before the first colon is no reward's name
 * @throws Fault `bad-input` for an option that the reward does not have, one given twice, and a value that is none of it
 */
export function readNamedReward(
  text: string,
  isName: (name: string) => boolean,
): NamedRewardSpec | undefined {
  const at = text.indexOf(':')
  const name = at < 0 ? text : text.slice(0, at)
  if (!isName(name)) return undefined
  const options: Record<string, number | boolean | string> = {}
  if (at < 0) return { name, options }
  for (const given of text.slice(at + 1).split(',')) {
    const [key, value] = readOption(given, namedOptions[name] ?? {}, text)
    if (Object.hasOwn(options, key))
      throw new Fault('bad-input', `reward \`${text}\`: expected \`${key}\` once, got it twice`)
    options[key] = value
  }
  return { name, options }
}
