/** Options of a session: what a client may choose when it opens a consultation. */
import { z } from 'zod'
import { tierNames } from '../knowledge/tiers.js'
import { suggestNames } from '../platform/did-you-mean.js'
import { preview } from '../platform/preview.js'
import { maxSeed } from '../seed.js'
import { Refusal } from './refusal.js'

/** The splits of a server's cases. */
export const splitNames = ['train', 'heldout'] as const

const wholeNumber = z.int().min(0).max(maxSeed)

/** What a client may choose. Names are as on the wire. */
export const sessionOptions = z.strictObject({
  seed: wholeNumber.optional().describe('Keys all randomness of the consultation. Default 0.'),
  index: wholeNumber.optional().describe('Number of the case in its split. Default the seed.'),
  split: z.enum(splitNames).optional().describe('Which cases. Default train.'),
  case_id: z
    .string()
    .max(200)
    .optional()
    .describe('A case by its id, in place of split, index, tier, case_seed and clinic.'),
  tier: z.enum(tierNames).optional().describe('Difficulty of generated cases. Default easy.'),
  case_seed: wholeNumber.optional().describe('Seeds the generator of cases. Default 0.'),
  clinic: z.array(z.string()).min(1).optional().describe('Disease groups. Default all.'),
  language: z.enum(['en', 'zh']).optional().describe('Default en.'),
  persona: z
    .string()
    .max(200)
    .optional()
    .describe("A name or dials, as in anxious=2. Default the case's own."),
  reward: z.string().max(100).optional().describe('Name of a reward. Default default.'),
  max_turns: z.int().min(1).max(200).optional().describe("Actions at most. Default the tier's."),
  money: z
    .number()
    .positive()
    .max(1e9)
    .optional()
    .describe("Money for examinations. Default the tier's."),
  minutes: z
    .number()
    .positive()
    .max(1e9)
    .optional()
    .describe("Minutes in all. Default the tier's."),
})

/** What a client chose. */
export type SessionOptions = z.infer<typeof sessionOptions>

/** Where a value is and what is wrong with it. */
export interface OptionProblem {
  readonly path: string
  readonly message: string
}

/** The keys that an object within a schema may have; none where it is no object. */
function knownKeys(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodOptional) return knownKeys(schema.unwrap(), path)
  const [first, ...rest] = path
  if (schema instanceof z.ZodArray && path.length > 0) return knownKeys(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  return first === undefined
    ? Object.keys(schema.shape)
    : knownKeys(schema.shape[String(first)], rest)
}

const problemsOf = (error: z.ZodError, schema: z.ZodType): readonly OptionProblem[] =>
  error.issues.flatMap((issue) => {
    const path = issue.path.join('.')
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
    const known = knownKeys(schema, issue.path)
    return issue.keys.map((key) => {
      const [near] = suggestNames(key, known, 1)
      const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`
      return { path: [...issue.path, key].join('.'), message: `unknown; ${hint}` }
    })
  })

/**
 * Reads a value from a client.
 * @param name what it is, as in "Expected `options` …"
 * @throws Refusal `bad-request` that names every field that is wrong
 */
export function readBody<T>(schema: z.ZodType<T>, value: unknown, name: string): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const fields = problemsOf(read.error, schema)
  const said = fields.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new Refusal(
    'bad-request',
    `Expected ${name} of the published schema, got \`${preview(value)}\`: ${said.join('; ')}`,
    { fields },
  )
}
