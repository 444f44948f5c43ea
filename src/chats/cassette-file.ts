/** The file of a cassette: JSON Lines, a head and then one recorded reply or fault a line, with keys blacked out. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { Fault } from '../error.js'
import { modelFaultKinds } from './model-fault.js'

const Numbers = z.array(z.number()).readonly().exactOptional()

const Counts = z.strictObject({ promptTokens: z.number(), completionTokens: z.number() })

const Chance = z.strictObject({ token: z.string(), logprob: z.number() })

const Call = z.strictObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
})

const Recorded = z.strictObject({
  text: z.string(),
  reasoning: z.string().exactOptional(),
  calls: z.array(Call).readonly().exactOptional(),
  usage: Counts,
  cutOff: z.literal(true).exactOptional(),
  retries: z.number().exactOptional(),
  tokens: z
    .strictObject({
      ...{ ids: Numbers, promptIds: Numbers, logprobs: Numbers },
      alternatives: z.array(z.array(Chance).readonly()).readonly().exactOptional(),
    })
    .exactOptional(),
})

const Line = z.strictObject({
  role: z.string(),
  model: z.string(),
  /** Name and version of the prompt. */
  prompt: z.string().exactOptional(),
  /** The last thing the model was told. */
  asked: z.string(),
  /** Hash of the whole request. */
  key: z.string(),
  reply: Recorded.exactOptional(),
  fault: z
    .strictObject({
      kind: z.enum(modelFaultKinds),
      message: z.string(),
      retries: z.number(),
      usage: Counts,
    })
    .exactOptional(),
})

/** A recorded reply, or the fault in its place. */
export type CassetteLine = z.infer<typeof Line>

const Head = z.strictObject({ cassette: z.literal(1) })
const headLine = JSON.stringify({ cassette: 1 })

/** What looks like a key or a token of a server. */
const secretForms =
  /\b(?:sk|pk|hf|gsk|xai|nvapi)[-_][\w-]{16,}|\bBearer\s+[\w.~+/-]{8,}=*|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g

/** Makes the function that blacks out keys: those given, and what looks like one. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= 6)
  return (text) =>
    known
      .reduce((left, secret) => left.replaceAll(secret, '[key]'), text)
      .replace(secretForms, '[key]')
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readLine(text: string, place: string): CassetteLine {
  const parsed = Line.safeParse(parsedOrNothing(text))
  if (parsed.success) return parsed.data
  throw new Fault(
    'bad-input',
    `${place}: expected a recorded reply, got \`${text.slice(0, 80)}\`: ${z.prettifyError(parsed.error)}`,
  )
}

/**
 * Reads a cassette, its lines by key. A last line that was cut off by the end of its process is left out.
 * @throws Fault `bad-input` naming file and line
 */
export function readCassette(file: string): Map<string, CassetteLine> {
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n')
  if (!Head.safeParse(parsedOrNothing(first)).success)
    throw new Fault(
      'bad-input',
      `${file}: expected a cassette, whose first line is ${headLine}, got \`${first.slice(0, 80)}\``,
    )
  const whole = rest.slice(0, -1).map((line, at) => readLine(line, `${file}:${at + 2}`))
  return new Map(whole.map((line) => [line.key, line]))
}

const orderOf = ({ role, prompt = '', asked, key }: CassetteLine): string =>
  [role, prompt, asked, key].join('\0')

/** Writes a whole cassette, in an order that does not depend on when the replies came. */
export function writeCassette(file: string, lines: Iterable<CassetteLine>): void {
  const sorted = [...lines]
    .map((line) => [orderOf(line), line] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const text = [headLine, ...sorted.map(([, line]) => JSON.stringify(line)), ''].join('\n')
  writeFileSync(`${file}.partial`, text)
  renameSync(`${file}.partial`, file)
}
