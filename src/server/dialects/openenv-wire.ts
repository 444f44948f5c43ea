/** What OpenEnv's HTTP and WebSocket wires share: observations, tools as actions, and JSON-RPC of its MCP route. */
import { z } from 'zod'
import { toolAction, wireAction } from '../action.js'
import { readBody, sessionOptions } from '../options.js'
import { Refusal } from '../refusal.js'
import type { Service } from '../service.js'
import type { ServerSession, SessionReply } from '../session.js'
import { describeTools } from './plain-routes.js'

/** Arguments of a reset: ours, and OpenEnv's name for the episode. */
export const resetOptions = sessionOptions.extend({ episode_id: z.string().max(255).optional() })

const toolCall = z.object({
  type: z.literal('call_tool'),
  tool_name: z.string(),
  arguments: z.unknown().optional(),
})

/** The reply to a reset or a step. Old clients drop what stands beside the observation, so the facts are in it. */
export const wireStep = ({ observation, reward }: SessionReply) => ({
  observation,
  reward,
  done: observation.done,
})

/** What a tool gives, as text and data. */
const toolResult = ({ observation, reward }: SessionReply) => ({
  content: [{ type: 'text', text: observation.message }],
  data: observation.message,
  structured_content: { ...observation, reward },
})

/** Takes a step in OpenEnv's form: an action, a tool call, or the wish for a list of tools. */
export async function openEnvStep(service: Service, session: ServerSession, data: unknown) {
  const type = (data as { readonly type?: unknown } | null)?.type
  const { reward, observation } = session.last
  if (type === 'list_tools')
    return { observation: { tools: describeTools() }, reward, done: observation.done }
  if (type !== 'call_tool')
    return wireStep(await service.step(session, readBody(wireAction, data, 'an action')))
  const call = readBody(toolCall, data, 'a tool call')
  try {
    const reply = await service.step(session, toolAction(call.tool_name, call.arguments ?? {}))
    return {
      ...wireStep(reply),
      observation: {
        tool_name: call.tool_name,
        result: toolResult(reply),
        error: null,
        ...reply.observation,
      },
    }
  } catch (error) {
    const kinds = { 'bad-request': 'invalid_args', 'not-found': 'tool_not_found' } as const
    if (!(error instanceof Refusal && error.code in kinds)) throw error
    // One of its keys.
    const error_type = kinds[error.code as keyof typeof kinds]
    const failed = { error_type, message: error.message }
    return {
      observation: { tool_name: call.tool_name, result: null, error: failed },
      ...{ reward, done: observation.done },
    }
  }
}

const rpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** How a JSON-RPC request finds its session. */
export interface RpcSession {
  /** The session that the request means; opens one where the connection has none. */
  find(params: Readonly<Record<string, unknown>>): ServerSession | Promise<ServerSession>
  open(params: Readonly<Record<string, unknown>>): Promise<string>
  close(params: Readonly<Record<string, unknown>>): Promise<boolean>
}

const rpcCodes = { 'bad-request': -32602, 'not-found': -32601 } as const

async function rpcResult(
  service: Service,
  { method, params = {} }: z.infer<typeof rpcRequest>,
  given: RpcSession,
): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'bedside', version: service.version },
      }
    case 'ping':
      return {}
    case 'tools/list':
      return {
        tools: describeTools().map((one) => ({ ...one, inputSchema: Object(one).input_schema })),
      }
    case 'tools/call': {
      const action = toolAction(String(params.name), params.arguments ?? {})
      const reply = await service.step(await given.find(params), action)
      return { ...toolResult(reply), structuredContent: reply.observation, isError: false }
    }
    case 'openenv/session/create':
      return { session_id: await given.open(params) }
    case 'openenv/session/close':
      return { closed: await given.close(params) }
    default:
      throw new Refusal('not-found', `Expected a known method, got \`${method.slice(0, 80)}\``)
  }
}

/** Answers one JSON-RPC request; undefined for a notification. */
export async function answerRpc(
  service: Service,
  sent: unknown,
  given: RpcSession,
): Promise<object | undefined> {
  const read = rpcRequest.safeParse(sent)
  if (!read.success)
    return {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: 'Expected a JSON-RPC 2.0 request' },
    }
  const { id } = read.data
  if (id === undefined && read.data.method.startsWith('notifications/')) return undefined
  try {
    return { jsonrpc: '2.0', id: id ?? null, result: await rpcResult(service, read.data, given) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    service.metrics.refused(error.code)
    const code = error.code in rpcCodes ? rpcCodes[error.code as keyof typeof rpcCodes] : -32000
    return { jsonrpc: '2.0', id: id ?? null, error: { code, message: error.message } }
  }
}
