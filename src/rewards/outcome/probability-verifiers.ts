/**
 * Verifiers that give a probability between 0 and 1, as HuatuoGPT-o1's does (Chen et al. 2024): from the log-probs of a
 * chat model's verdict, or from a classifier behind an endpoint.
 */
import { z } from 'zod'
import type { Chat, TokenChance } from '../../chat.js'
import { errorMessage, Fault } from '../../error.js'
import { fullErrorMessage, retry } from '../../platform/retry.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { readVerifierVerdict, type Verifier, verifierMessages, verifierPrompt } from './verifier.js'

const wordOf = (token: string): string => token.replace(/[^\p{L}]+/gu, '').toLowerCase()

/** P(True) / (P(True) + P(False)) at the first token where either is among the likeliest; undefined where none is. */
function fromAlternatives(places: readonly (readonly TokenChance[])[]): number | undefined {
  for (const place of places) {
    let [right, wrong] = [0, 0]
    for (const { token, logprob } of place) {
      if (wordOf(token) === 'true') right += Math.exp(logprob)
      if (wordOf(token) === 'false') wrong += Math.exp(logprob)
    }
    if (right + wrong > 0) return right / (right + wrong)
  }
  return undefined
}

/** Likeliest tokens to ask for: servers give up to 20, some of them only 5. */
const alternatives = 5

/** Options of {@link logprobVerifier}. */
export interface LogprobVerifierOptions {
  readonly chat: Chat
  /**
   * What the reply is made to begin with, for a model that would think or greet first:
   * `<think>\n\n</think>\n\n`. Not every server can. @default nothing
   */
  readonly prefix?: string
}

/**
 * Makes a verifier of a chat model's log-probs: P(True) against P(False) where the server lists the likeliest tokens,
 * else the probability of the verdict it gave, at its least likely token.
 * @returns a verifier that rejects with a Fault `model-unreadable` for a reply that is neither True nor False, and for
 * one without log-probs; also with any error of the chat
 */
export const logprobVerifier =
  ({ chat, prefix }: LogprobVerifierOptions): Verifier =>
  async (question, reference, answer, { signal } = {}) => {
    const messages = verifierMessages(question, reference, answer)
    const { text, tokens } = await chat(messages, {
      ...{ temperature: 0, seed: 0, maxTokens: 8, logprobs: true, topLogprobs: alternatives },
      ...{ prompt: verifierPrompt, signal },
      ...(prefix === undefined ? {} : { prefix }),
    })
    const begun = prefix !== undefined && text.startsWith(prefix)
    const verdict = readVerifierVerdict(begun ? text.slice(prefix.length) : text)
    const listed = fromAlternatives(tokens?.alternatives ?? [])
    if (listed !== undefined) return listed
    const logprobs = tokens?.logprobs ?? []
    if (logprobs.length === 0)
      throw new Fault(
        'model-unreadable',
        'verifier: expected a reply with log-probs, got one without; the server may need an option to give them',
      )
    const p = Math.exp(Math.min(0, ...logprobs))
    return verdict ? p : 1 - p
  }

/** Options of {@link classifierVerifier}. */
export interface ClassifierVerifierOptions {
  /** The endpoint, as `http://localhost:8000/classify` (vLLM) or `http://localhost:8080/predict` (TEI). */
  readonly url: string
  /** Its wire format: vLLM's `/classify`, or text-embeddings-inference's `/predict`. @default 'vllm' */
  readonly wire?: 'vllm' | 'tei'
  /** The model's name on the server; vLLM only. @default none is sent */
  readonly model?: string
  /** The class that stands for a right answer: its number, or for TEI its name. @default 1 */
  readonly label?: number | string
  /**
   * What stands after the two blocks. A classifier was trained with one sentence and judges best with the same: that of
   * the published verifier is on its model card. @default a sentence of this package's own
   */
  readonly instruction?: string
  /** The end of the input; the published verifier reads its tokenizer's end token there. @default '' */
  readonly end?: string
  /** Environment variable with a bearer token. @default none is sent */
  readonly apiKeyEnv?: string
  /** Deadline of one attempt. @default 60_000 */
  readonly timeoutMs?: number
  /** Retries after a connection error, a timeout, a 408, 429 or 5xx. @default 3 */
  readonly maxRetries?: number
  /** Wait before the first retry; doubles each time. @default 500 */
  readonly backoffMs?: number
}

const ownInstruction =
  'Does the model response commit to the reference answer? Say "True" if it does and "False" if it does not.'

/** The input of HuatuoGPT-o1's verifier: response, reference, instruction, end. It does not show the question. */
export const classifierInput = (
  reference: string,
  answer: string,
  {
    instruction = ownInstruction,
    end = '',
  }: Pick<ClassifierVerifierOptions, 'instruction' | 'end'> = {},
): string =>
  `<Model Response>\n${answer}\n</Model Response>\n\n<Reference Answer>\n${reference}\n</Reference Answer>\n\n${instruction} ${end}`

const Probability = z.number().min(0).max(1)
const VllmReply = z.object({ data: z.tuple([z.object({ probs: z.array(Probability).min(2) })]) })
const TeiClasses = z.array(z.object({ score: Probability, label: z.string() })).min(2)
const TeiReply = z.union([TeiClasses, z.tuple([TeiClasses]).transform(([only]) => only)])

/** How far a classifier's probabilities may sum from 1. */
const slack = 0.01

/** Reads the probability of a class; undefined for any other body. */
function readProbability(
  body: unknown,
  wire: 'vllm' | 'tei',
  label: number | string,
): number | undefined {
  const classes =
    wire === 'vllm'
      ? VllmReply.safeParse(body).data?.data[0].probs.map((score, i) => ({ score, name: i }))
      : TeiReply.safeParse(body).data?.map(({ score, label: name }) => ({ score, name }))
  if (!classes) return undefined
  const sum = classes.reduce((all, { score }) => all + score, 0)
  if (Math.abs(sum - 1) > slack) return undefined
  const wanted = wire === 'tei' && typeof label === 'number' ? `LABEL_${label}` : label
  return classes.find(({ name }) => name === wanted)?.score
}

/** An HTTP status that is no success. */
class StatusError extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(`HTTP ${status}: ${text.slice(0, 200)}`)
    this.status = status
  }
}

const retryDelay = (error: unknown): 'never' | undefined => {
  if (Fault.is(error)) return 'never'
  if (!(error instanceof StatusError)) return undefined
  return error.status >= 500 || [408, 429].includes(error.status) ? undefined : 'never'
}

/** Posts JSON and returns the parsed body. */
async function post(
  url: string,
  body: object,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    },
    body: JSON.stringify(body),
    signal,
  })
  const text = await response.text()
  if (!response.ok) throw new StatusError(response.status, text)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Fault('model-unreadable', `${url}: ${errorMessage(error)}`)
  }
}

/** Checks the address of an endpoint. @throws Fault `bad-input` for another URL, or one with credentials */
function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new Fault('bad-input', `Expected the http(s) URL of a classifier, got \`${url}\``)
  if (parsed.username || parsed.password)
    throw new Fault(
      'bad-input',
      `Expected a classifier's URL without credentials (\`apiKeyEnv\` names their variable), got one for \`${parsed.host}\``,
    )
}

/**
 * Makes a verifier of a classifier behind an endpoint, with the input of HuatuoGPT-o1's. Hidden reasoning is stripped
 * from the answer. The question is not shown, as published.
 * @returns a verifier that rejects with a Fault `model-unavailable` for a server that fails, and `model-unreadable` for
 * a body without the probabilities of two classes or more
 * @throws Fault `bad-input` for an invalid URL
 */
export function classifierVerifier(options: ClassifierVerifierOptions): Verifier {
  const { url, wire = 'vllm', model, label = 1, apiKeyEnv } = options
  const { timeoutMs = 60_000, maxRetries = 3, backoffMs = 500 } = options
  checkUrl(url)
  let calls = 0
  return async (_, reference, answer, { signal } = {}) => {
    const input = classifierInput(reference, stripHiddenReasoning(answer), options)
    const body =
      wire === 'vllm'
        ? { ...(model === undefined ? {} : { model }), input, add_special_tokens: false }
        : { inputs: input, raw_scores: false, truncate: true }
    const apiKey = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv]
    const limits = { timeoutMs, maxRetries, backoffMs, key: calls++, signal, retryDelay }
    let replied: unknown
    try {
      replied = await retry((stop) => post(url, body, apiKey, stop), limits)
    } catch (error) {
      if (Fault.is(error)) throw error
      throw new Fault('model-unavailable', `${url}: ${fullErrorMessage(error)}`)
    }
    const p = readProbability(replied, wire, label)
    if (p !== undefined) return p
    const got = JSON.stringify(replied)?.slice(0, 200)
    throw new Fault(
      'model-unreadable',
      `${url}: expected the probabilities of the classes (${wire}), ${label} among them, got ${got}`,
    )
  }
}
