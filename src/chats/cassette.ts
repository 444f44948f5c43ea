/**
 * Cassettes: recorded replies of models, with which a run is played again without them, to the same bytes.
 *
 * A reply is found by the hash of its request. A cassette holds the last question of each request and the reply, with
 * keys blacked out, and nothing of a header.
 */
import { appendFileSync, existsSync } from 'node:fs'
import type { ChatReply } from '../chat.js'
import { errorMessage, Fault } from '../error.js'
import { type CassetteLine, readCassette, scrubber, writeCassette } from './cassette-file.js'
import { ModelFault, modelFaultKind, noTokens } from './model-fault.js'
import type { ReplyStore, StoredRequest } from './shared-replies.js'

/**
 * `record`: asks the model, and keeps what it says. `replay`: asks it only what the cassette lacks, and keeps that too.
 * `strict`: asks nothing; what the cassette lacks is an error.
 */
export const cassetteModes = ['record', 'replay', 'strict'] as const
/** How a cassette is used. */
export type CassetteMode = (typeof cassetteModes)[number]

/** Options of {@link openCassette}. */
export interface CassetteOptions {
  readonly file: string
  /** @default 'replay' */
  readonly mode?: CassetteMode
  /** Keys that must not be written, beside what looks like one. */
  readonly secrets?: readonly string[]
}

const nameOf = (prompt: string): string => prompt.split('/')[0] ?? prompt

/** A reply with keys blacked out of all that the model wrote. */
const scrubbed = (reply: ChatReply, scrub: (text: string) => string): ChatReply => {
  const { text, reasoning, calls } = reply
  return {
    ...{ ...reply, text: scrub(text) },
    ...(reasoning === undefined ? {} : { reasoning: scrub(reasoning) }),
    ...(calls
      ? {
          calls: calls.map(({ function: { name, arguments: given }, ...call }) => ({
            ...call,
            function: { name, arguments: scrub(given) },
          })),
        }
      : {}),
  }
}

/** An open cassette; `close` puts its lines in order. */
export class Cassette implements ReplyStore {
  readonly file: string
  readonly mode: CassetteMode
  readonly #lines: Map<string, CassetteLine>
  readonly #scrub: (text: string) => string
  /** Prompts that were recorded before this run, by role and name. */
  readonly #versions = new Map<string, Set<string>>()
  /** Requests answered in this run: their replies are paid for, and a recording run finds no others. */
  readonly #fresh = new Set<string>()
  /** Faults heard in this run: whoever asks the same hears the same, as in a replay. */
  readonly #faults = new Map<string, unknown>()
  #begun = false

  constructor({ file, mode = 'replay', secrets = [] }: CassetteOptions) {
    const there = existsSync(file)
    if (!there && mode === 'strict')
      throw new Fault(
        'bad-input',
        `cassette ${file}: expected a recording, found none; record it with mode \`record\``,
      )
    this.file = file
    this.mode = mode
    this.#lines = there ? readCassette(file) : new Map()
    this.#scrub = scrubber(secrets)
    if (mode === 'record') return
    for (const { role, prompt } of this.#lines.values()) {
      if (prompt === undefined) continue
      const at = `${role} ${nameOf(prompt)}`
      this.#versions.set(at, (this.#versions.get(at) ?? new Set()).add(prompt))
    }
  }

  /** Replies and faults in it. */
  get size(): number {
    return this.#lines.size
  }

  find(request: StoredRequest): ChatReply | undefined {
    const { key, role, model, question } = request
    const old = this.mode === 'record' && !this.#fresh.has(key)
    const line = old ? undefined : this.#lines.get(key)
    if (line?.reply) {
      if (this.#fresh.has(key)) return { ...line.reply, reused: true }
      this.#fresh.add(key)
      return line.reply
    }
    if (line?.fault && this.mode === 'strict' && !this.#faults.has(key)) {
      const { kind, message, ...spent } = line.fault
      this.#faults.set(key, new ModelFault(kind, message, spent))
    }
    if (this.#faults.has(key)) throw this.#faults.get(key)
    this.#assertSameVersion(request)
    if (this.mode !== 'strict') return undefined
    throw new Fault(
      'no-recording',
      `cassette ${this.file}: it has no reply of the ${role} (model ${model}) to \`${String(question).slice(0, 80)}\`; mode \`replay\` asks the model what is missing`,
    )
  }

  keep(request: StoredRequest, { reused: _, ...reply }: ChatReply): ChatReply {
    const recorded = scrubbed(reply, this.#scrub)
    this.#write(request, { reply: recorded })
    return recorded
  }

  keepFault(request: StoredRequest, error: unknown): void {
    const kind = modelFaultKind(error)
    if (kind === undefined || kind === 'budget') return
    const { retries = 0, usage = noTokens } = error instanceof ModelFault ? error : {}
    const message = this.#scrub(errorMessage(error))
    this.#write(request, { fault: { kind, message, retries, usage } })
    this.#faults.set(request.key, error)
  }

  close(): void {
    if (this.#begun) writeCassette(this.file, this.#lines.values())
  }

  /** Refuses a request by a prompt of which only another version was recorded. */
  #assertSameVersion({ role, prompt }: StoredRequest): void {
    if (prompt === undefined) return
    const recorded = this.#versions.get(`${role} ${nameOf(prompt)}`)
    if (!recorded || recorded.has(prompt)) return
    throw new Fault(
      'no-recording',
      `cassette ${this.file}: expected replies to the prompt \`${prompt}\` of the ${role}, got those to \`${[...recorded].join('`, `')}\`, another version; record it again, mode \`record\``,
    )
  }

  #write(
    { key, role, model, prompt, question }: StoredRequest,
    said: Pick<CassetteLine, 'reply'> | Pick<CassetteLine, 'fault'>,
  ): void {
    const asked = this.#scrub(typeof question === 'string' ? question : JSON.stringify(question))
    const named = prompt === undefined ? {} : { prompt }
    const line: CassetteLine = { role, model, ...named, asked, key, ...said }
    this.#lines.set(key, line)
    this.#fresh.add(key)
    // The first time it is written whole, which also drops a torn line of an earlier run.
    if (this.#begun) appendFileSync(this.file, `${JSON.stringify(line)}\n`)
    else writeCassette(this.file, this.#lines.values())
    this.#begun = true
  }
}

/**
 * Opens a cassette.
 * @throws Fault `bad-input` for a file that is none, and in mode `strict` for one that does not exist; a call of its
 *   model throws Fault `no-recording` for a request that a strict cassette lacks, and for a prompt of which it holds another version
 */
export const openCassette = (options: CassetteOptions): Cassette => new Cassette(options)
