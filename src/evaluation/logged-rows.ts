/** Rows of JSON lines that hold a logged dialogue, with its truth or the name of its case. */
import { z } from 'zod'
import type { Grammar } from '../agent.js'
import { type Case, type DoctorView, doctorView, type GraderView, graderView } from '../case.js'
import { questionCase } from '../cases/importers/huatuo.js'
import { writtenReply } from '../chats/written-reply.js'
import { errorMessage, Fault } from '../error.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import { caseSchema } from '../storage/case-schema.js'
import { parseTruth, type SavedEpisode } from '../storage/episode-schema.js'
import { episodeFrom, type LoggedMessage } from './logged-dialogue.js'

/** Roles as they are written in logs, and what each is. */
const roles = {
  system: 'system',
  developer: 'system',
  user: 'user',
  patient: 'user',
  assistant: 'assistant',
  doctor: 'assistant',
  tool: 'tool',
  examiner: 'tool',
} as const

/** Text, or a list of parts as chat servers take it, of which only text can be read. */
const Content = z.union([
  z.string(),
  z
    .array(z.object({ type: z.literal('text'), text: z.string() }))
    .transform((parts) => parts.map(({ text }) => text).join('\n')),
])

// The keys of the table are the roles.
const roleNames = Object.keys(roles) as (keyof typeof roles)[]

const Call = z.object({
  id: z.string().default(''),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

/** A message; functions that the doctor called stand in its text, where the grammar `tools` reads them. */
const Logged = z
  .object({
    role: z.enum(roleNames),
    content: Content.nullish(),
    tool_calls: z.array(Call).nullish(),
  })
  .refine(({ content, tool_calls }) => content != null || tool_calls?.length, {
    path: ['content'],
    error: 'expected a text',
  })
  .transform(({ role, content, tool_calls }) => ({
    role,
    content: writtenReply({ text: content ?? '', calls: tool_calls ?? [] }),
  }))

const Row = z.object({
  messages: z.array(Logged).min(1),
  truth: z.unknown().optional(),
  case: z.unknown().optional(),
  caseId: z.string().optional(),
  diagnosis: z.string().min(1).optional(),
  recommendation: z.string().min(1).optional(),
  id: z.string().optional(),
  agent: z.string().optional(),
  language: z.enum(['zh', 'en']).optional(),
  seed: z.int().min(0).optional(),
  maxTurns: z.int().min(1).optional(),
})

type LoggedRow = z.infer<typeof Row>

/** Options of {@link loggedRowReader}. */
export interface LoggedRowOptions {
  readonly grammar: Grammar
  readonly knowledge: Knowledge
  /** Finds the case of a `caseId`. @throws Fault `bad-input` for an unknown one */
  readonly findCase: (id: string) => Promise<Case>
}

/** Whether a row is a logged dialogue, and not a saved episode. */
export const isLoggedRow = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'messages' in value && !('episode' in value)

interface KnownTruth {
  readonly truth: GraderView
  readonly intake?: DoctorView
}

const ofCase = (known: Case): KnownTruth => ({
  truth: graderView(known),
  intake: doctorView(known),
})

/** A truth of nothing but the right diagnosis, for the complaint of the first message of the user. */
function bareTruth({ messages, diagnosis = '', recommendation }: LoggedRow): KnownTruth {
  const said = messages.find(({ role }) => roles[role] === 'user')?.content ?? diagnosis
  const known = questionCase(said, diagnosis)
  const language = /\p{Script=Han}/u.test(said) ? 'zh' : 'en'
  const provenance = {
    ...{
      source: 'a logged dialogue',
      license: 'unknown',
      synthetic: false,
      redistributable: false,
    },
  }
  const gold = recommendation
    ? { ...known.gold, recommendation: { [language]: recommendation } }
    : known.gold
  const id = known.id.replace(/^[^-]*-/, 'logged-')
  return { truth: graderView({ ...known, id, provenance, gold }) }
}

async function truthOf(
  row: LoggedRow,
  where: string,
  findCase: LoggedRowOptions['findCase'],
): Promise<KnownTruth> {
  const { truth, case: whole, caseId, diagnosis } = row
  const given = Object.entries({ truth, case: whole, caseId, diagnosis }).filter(
    ([, value]) => value !== undefined,
  )
  if (given.length !== 1)
    throw new Fault(
      'bad-input',
      `${where}: expected one of truth, case, caseId and diagnosis beside messages, got ${given.map(([name]) => name).join(', ') || 'none'}`,
    )
  if (truth !== undefined) return { truth: parseTruth(truth, `${where}: truth`) }
  if (caseId !== undefined) {
    try {
      return ofCase(await findCase(caseId))
    } catch (error) {
      if (!Fault.is(error)) throw error
      throw new Fault(error.code, `${where}: caseId: ${errorMessage(error)}`)
    }
  }
  if (whole === undefined) return bareTruth(row)
  const parsed = caseSchema.safeParse(whole)
  if (parsed.success) return ofCase(parsed.data)
  const issue = parsed.error.issues[0]
  throw new Fault('bad-input', `${where}: case.${issue?.path.join('.')}: ${issue?.message}`)
}

/**
 * Makes a reader of rows with a logged dialogue: `messages`, and one of `truth` (a grader's view), `case`, `caseId` and
 * `diagnosis` (with `recommendation`); optionally `id`, `agent`, `language`, `seed` and `maxTurns`. Other keys are
 * ignored.
 * @returns a reader that rejects with a Fault `bad-input` naming location, path and what was expected
 */
export const loggedRowReader =
  ({ grammar, knowledge, findCase }: LoggedRowOptions) =>
  async (value: unknown, where: string): Promise<SavedEpisode> => {
    const parsed = Row.safeParse(value)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      throw new Fault('bad-input', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
    }
    const row = parsed.data
    const { truth, intake } = await truthOf(row, where, findCase)
    const messages = row.messages.map(
      ({ role, content }): LoggedMessage => ({ role: roles[role], content }),
    )
    const { id = `${truth.caseId}/${where}`, agent, language, seed, maxTurns } = row
    const options = withoutUndefined({ id, agent, language, seed, maxTurns, intake })
    try {
      return { episode: episodeFrom(messages, truth, grammar, { ...options, knowledge }), truth }
    } catch (error) {
      if (!Fault.is(error)) throw error
      throw new Fault(error.code, `${where}: ${error.message}`)
    }
  }
