/** Flags shared by several commands, and the parsers of their values. */
import { existsSync, statSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { grammarNames } from '../../agents/grammars/named.js'
import { errorMessage } from '../../error.js'
import { type TierName, tierNames } from '../../knowledge/tiers.js'
import { parsePersona, personas } from '../../persona.js'
import { maxSeed } from '../../seed.js'
import { isModule } from '../../tasks/modules.js'
import { publishedEnvNames } from '../../tasks/published.js'
import type { Language } from '../../turn.js'
import type { PrintFlags } from '../print/output.js'

/** Value of `--cases`: a number of generated cases, or a case file. */
export type CasesFlag =
  | { readonly count: number; readonly file?: undefined }
  | { readonly file: string; readonly count?: undefined }

/** Flags that choose cases and language; a key is absent where its flag was not given. */
export interface CaseFlags extends PrintFlags {
  readonly seed?: number
  readonly lang?: Language
  readonly tier?: TierName
  readonly split?: 'train' | 'heldout' | 'all'
  readonly cases?: CasesFlag
  readonly clinic?: readonly string[]
}

/** Creates a parser of whole numbers from `least` to `most`. */
export const parseWhole =
  (least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  (value: string): number => {
    const n = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    if (!(n >= least && n <= most))
      throw new InvalidArgumentError(
        most === Number.MAX_SAFE_INTEGER
          ? `Expected a whole number, at least ${least}.`
          : `Expected a whole number from ${least} to ${most}.`,
      )
    return n
  }

/** Parses `--cases FILE|N`. */
export function parseCases(value: string): CasesFlag {
  if (/^[-+]?[\d.]+(e\d+)?$/i.test(value)) return { count: parseWhole(1, 10_000_000)(value) }
  if (!existsSync(value) || !statSync(value).isFile())
    throw new InvalidArgumentError(
      'Expected a number of generated cases, or a case file; there is no such file.',
    )
  return { file: value }
}

const splitList = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  ...value.split(',').filter(Boolean),
]

/** Adds `--json` and `--quiet`. */
export const addPrintFlags = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document on stdout and nothing else')
    .option('--quiet', 'no progress and no notes')

/** An option whose value is one of a list. */
export const choose = (flag: string, meaning: string, choices: readonly string[]): Option =>
  new Option(flag, meaning).choices(choices)

/** Parses `--seed`. */
export const parseSeed = parseWhole(0, maxSeed)

/** Adds `--seed` and `--lang`. */
export const addSeedFlags = (command: Command): Command =>
  command
    .option('--seed <N>', 'decides everything random (default: 0)', parseSeed)
    .addOption(choose('--lang <language>', 'of doctor and patient (default: en)', ['zh', 'en']))

/** Adds `--tier`, `--cases` (with `meaning` as its help text) and `--clinic`. */
export const addCaseFlags = (command: Command, meaning: string): Command =>
  command
    .addOption(choose('--tier <tier>', 'difficulty of generated cases (default: easy)', tierNames))
    .option('--cases <FILE|N>', meaning, parseCases)
    .option(
      '--clinic <group...>',
      'keep only these disease groups; an unknown one lists them all',
      splitList,
    )

/** Adds `--split`. */
export const addSplitFlag = (
  command: Command,
  byDefault: 'train' | 'heldout',
  choices: readonly string[] = ['train', 'heldout'],
): Command =>
  command.addOption(choose('--split <split>', `which cases (default: ${byDefault})`, choices))

/** Validates `--persona` and returns it unparsed. */
function checkPersona(value: string): string {
  try {
    parsePersona(value)
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error))
  }
  return value
}

/** Help text of `--trust`. */
export const trustHelp =
  'execute the modules (.mjs) that a stored run names; those of this command line always are'

/** Adds the flags of chat models. */
const addModelFlags = (command: Command): Command =>
  command
    .option(
      '--base-url <URL>',
      'of an OpenAI-compatible server (default: $OPENAI_BASE_URL); the key is $OPENAI_API_KEY',
    )
    .option(
      '--model <NAME>',
      'the chat model of the doctor, and of a skin or free patient that has none of its own',
    )
    .addOption(
      choose(
        '--grammar <NAME>',
        "the format of a chat doctor's replies (default: labelled)",
        grammarNames,
      ),
    )
    .option(
      '--set <models.…=value>',
      'settings of the language models, as models.patient.model=NAME, models.patient.base-url=URL, models.budget.tokens=N; may be repeated',
      collect,
    )

/** Adds the flags of patient, exams, persona, reward and chat models. */
export const addDoctorFlags = (command: Command): Command =>
  addModelFlags(command)
    .addOption(
      choose(
        '--env <NAME>',
        'a published environment: its turns, exams, grammar and reward (docs/environments.md)',
        publishedEnvNames,
      ),
    )
    .option(
      '--patient <NAME|MODULE>',
      'who answers: rule, record, skin, free, or a module (.mjs) that exports `patient` (default: as the cases need); of `consult` also human, yourself',
    )
    .option(
      '--exams <NAME,...>',
      'who carries out examinations, asked until one has a result: record, diaggym, diaggym-parity, knowledge, modules that export `exams` (default: as the cases need)',
      splitList,
    )
    .option('--trust', trustHelp)
    .option(
      '--persona <NAME|dials>',
      `how the rule patient is to talk with: ${Object.keys(personas).join(', ')}, or dials from 0 to 3 as in anxious=2,terse=1 (default: each case's own)`,
      checkPersona,
    )
    .option(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a module (.mjs) that exports `reward`',
    )

/** Parses a finite number. */
export function parseFinite(value: string): number {
  const n = value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isFinite(n)) throw new InvalidArgumentError('Expected a number.')
  return n
}

/** Parses a temperature. */
export function parseTemperature(value: string): number {
  const n = parseFinite(value)
  if (n < 0) throw new InvalidArgumentError('Expected a number from 0.')
  return n
}

/** Parses `--backend`. */
export function parseBackend(value: string): string {
  if (['embedded', 'sidecar', 'slime', 'verl'].includes(value) || isModule(value)) return value
  throw new InvalidArgumentError(
    'Expected embedded, sidecar, slime, verl or a module (.mjs) that exports `backend`.',
  )
}

/** Collects the values of a repeatable flag. */
export const collect = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  value,
]
