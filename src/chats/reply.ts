/** Parses a model server's reply. A separate module, so that zod is loaded only once a server has answered. */
import { z } from 'zod'
import type { ChatReply, ReplyTokens, TokenChance } from '../chat.js'
import { ModelFault } from './model-fault.js'
import {
  Call,
  callsOf,
  countsOf,
  Reasoned,
  reasoningOf,
  replyOf,
  UsageCounts,
  unreadable,
} from './reply-parts.js'

const Ids = z.array(z.number().int()).nullish()

const Chance = z.object({ token: z.string(), logprob: z.number() })

/** Log-probs in the form of chats; llama.cpp adds the ids. */
const Chances = z
  .array(
    z.object({
      ...{ id: z.number().int().nullish(), logprob: z.number() },
      top_logprobs: z.array(Chance).nullish(),
    }),
  )
  .nullish()

const ChatChoice = z.object({
  message: z.object({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(Call).nullish(),
    ...Reasoned,
  }),
  finish_reason: z.string().nullish(),
  token_ids: Ids,
  logprobs: z.object({ content: Chances }).nullish().catch(undefined),
})

const TextChoice = z.object({
  text: z.string(),
  finish_reason: z.string().nullish(),
  token_ids: Ids,
  prompt_token_ids: Ids,
  logprobs: z
    .object({
      token_logprobs: z.array(z.number()).nullish(),
      top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish(),
      // llama.cpp gives completions the form of chats.
      content: Chances,
    })
    .nullish()
    .catch(undefined),
})

const ChatBody = z.object({
  choices: z.array(ChatChoice).min(1),
  usage: UsageCounts,
  prompt_token_ids: Ids,
})
const TextBody = z.object({ choices: z.array(TextChoice).min(1), usage: UsageCounts })

const listed = <T>(name: keyof ReplyTokens, list: readonly T[] | null | undefined) =>
  list ? { [name]: list } : {}

const logprobOf = ({ logprob }: { readonly logprob: number }): number => logprob

const chanceList = (place: Readonly<Record<string, number>>): readonly TokenChance[] =>
  Object.entries(place).map(([token, logprob]) => ({ token, logprob }))

/** Log-probs, likeliest tokens and ids. A server that leaves out tokens of half a character gives no ids. */
function chancesOf(
  places: z.infer<typeof Chances>,
  usage: z.infer<typeof UsageCounts>,
): ReplyTokens {
  if (!places) return {}
  const ids = places.flatMap(({ id }) => id ?? [])
  const tops = places.map(({ top_logprobs: top }) => top ?? [])
  return {
    ...(ids.length > 0 && ids.length === usage?.completion_tokens ? { ids } : {}),
    logprobs: places.map(logprobOf),
    ...(tops.some(({ length }) => length > 0) ? { alternatives: tops } : {}),
  }
}

/**
 * Parses a chat completion. A model that only thought, or was cut off before its first visible word, gives empty text:
 * that is its own mistake.
 * @throws ModelFault `unparsable` for any other body, `refused` where the model declined, and that of an error in it
 */
export function readChatReply(body: unknown): ChatReply {
  const { data } = ChatBody.safeParse(body)
  const choice = data?.choices[0]
  if (!data || !choice) throw unreadable(body, 'a chat completion with choices[0].message.content')
  const { message, finish_reason: finish, logprobs, token_ids: ids } = choice
  const calls = callsOf(message.tool_calls ?? [])
  const reasoning = reasoningOf(message)
  const said = finish === 'length' || calls.length > 0 || reasoning !== ''
  const text = message.content ?? (said ? '' : undefined)
  if (message.refusal && !text)
    throw new ModelFault('refused', `the model declined: ${message.refusal.slice(0, 200)}`, {
      usage: countsOf(data.usage),
    })
  if (finish === 'content_filter')
    throw new ModelFault('refused', 'the server filtered the reply (finish_reason content_filter)')
  if (text === undefined)
    throw unreadable(body, 'a chat completion with choices[0].message.content')
  const drawn = chancesOf(logprobs?.content, data.usage)
  const tokens: ReplyTokens = {
    ...{ ...drawn, ...listed('ids', ids) },
    ...listed('promptIds', data.prompt_token_ids),
  }
  return replyOf({ text, reasoning, calls, finish, usage: data.usage, tokens })
}

/** Parses a text completion. @throws ModelFault for any other body */
export function readTextReply(body: unknown): ChatReply {
  const { data } = TextBody.safeParse(body)
  const choice = data?.choices[0]
  if (!data || !choice) throw unreadable(body, 'a completion with choices[0].text')
  const { logprobs } = choice
  const tokens: ReplyTokens = {
    ...{ ...chancesOf(logprobs?.content, data.usage), ...listed('ids', choice.token_ids) },
    ...listed('promptIds', choice.prompt_token_ids),
    ...listed('logprobs', logprobs?.token_logprobs),
    ...listed(
      'alternatives',
      logprobs?.top_logprobs?.map((place) => chanceList(place ?? {})),
    ),
  }
  return replyOf({ text: choice.text, finish: choice.finish_reason, usage: data.usage, tokens })
}
