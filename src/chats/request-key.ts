/** The identity of a request to a model: the same question, in the same state, drawn in the same way. */
import { createHash } from 'node:crypto'
import type { ChatOptions } from '../chat.js'

/** Whose request it is, and how the model draws. */
export interface RoleModel {
  readonly role: string
  readonly model: string
  /** Settings that change what the model draws, as its temperature; anything that survives JSON. */
  readonly sampling?: unknown
}

/** A value with the keys of its objects in order, so that equal values have equal JSON. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, inOrder(inner)]),
  )
}

/** SHA-256 of everything that a reply depends on; the server's address, time limits and prices are no part of it. */
export function requestKey(
  { role, model, sampling }: RoleModel,
  prompt: unknown,
  options: ChatOptions = {},
): string {
  const { seed, temperature, maxTokens, stop, json, tools, prefix } = options
  const { logprobs, topLogprobs, tokenIds } = options
  const drawn = {
    ...{ seed, temperature, maxTokens, stop, json, tools, prefix },
    ...{ logprobs, topLogprobs, tokenIds },
  }
  const request = { role, model, sampling, prompt, ...drawn }
  return createHash('sha256')
    .update(JSON.stringify(inOrder(request)))
    .digest('hex')
}
