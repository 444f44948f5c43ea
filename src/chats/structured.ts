/** Structured replies: a model is asked for JSON of a zod schema, which is checked and asked for once more. */
import { z } from 'zod'
import type { Chat, ChatOptions, Message } from '../chat.js'
import { errorMessage } from '../error.js'
import { stripHiddenReasoning } from '../text/hidden-reasoning.js'
import { ModelFault } from './model-fault.js'

/** Options of {@link askJson}. */
export interface AskJsonOptions extends Omit<ChatOptions, 'json' | 'onText'> {
  /** Name of the shape: letters, digits, `-` and `_`. */
  readonly name: string
}

type ReadJson<T> = { readonly value: T } | { readonly problem: string }

/** Reads a reply as JSON of a schema; hidden reasoning before it and a code fence around it are passed over. */
function readJson<T>(text: string, schema: z.ZodType<T>): ReadJson<T> {
  const visible = stripHiddenReasoning(text).trim()
  const body = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(visible)?.[1] ?? visible
  let given: unknown
  try {
    given = JSON.parse(body)
  } catch (error) {
    return { problem: `no JSON: ${errorMessage(error)}` }
  }
  const parsed = schema.safeParse(given)
  return parsed.success ? { value: parsed.data } : { problem: z.prettifyError(parsed.error) }
}

/**
 * Asks a model for a value of a schema. A reply that does not fit is shown to the model once, with the problem.
 * @throws ModelFault `unparsable` when the second reply does not fit either; any error of the chat
 */
export async function askJson<T>(
  chat: Chat,
  messages: readonly Message[],
  schema: z.ZodType<T>,
  { name, ...options }: AskJsonOptions,
): Promise<T> {
  // The draft is named in the schema, which some servers refuse.
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input' })
  const json = { name, schema: shape }
  const first = await chat(messages, { ...options, json })
  const read = readJson(first.text, schema)
  if ('value' in read) return read.value
  const repair: readonly Message[] = [
    ...messages,
    { role: 'assistant', content: stripHiddenReasoning(first.text) || '…' },
    {
      role: 'user',
      content: `That does not fit: ${read.problem}\nReply with the corrected JSON and nothing else.`,
    },
  ]
  const second = await chat(repair, { ...options, json })
  const repaired = readJson(second.text, schema)
  if ('value' in repaired) return repaired.value
  throw new ModelFault(
    'unparsable',
    `expected JSON of the shape \`${name}\`, got \`${second.text.slice(0, 200)}\`: ${repaired.problem}`,
  )
}
