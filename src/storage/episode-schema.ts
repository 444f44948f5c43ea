/** The zod schema of a saved episode on disk. */
import { z } from 'zod'
import type { GraderView } from '../case.js'
import type { Episode } from '../episode.js'
import { Fault } from '../error.js'
import type { Score } from '../reward.js'
import { skinWordings, speechFlags, stops, turnFactNames, understandings } from '../turn.js'
import { caseSchema, findingSchema, goldSchema, textSchema } from './case-schema.js'
import { quickCheck } from './quick-schema.js'

/** An episode with the truth to score it again, and its score. */
export interface SavedEpisode {
  readonly episode: Episode
  readonly truth: GraderView
  readonly score?: Score
  /** Id of its group. */
  readonly group?: string
  /** Training step of the episode. */
  readonly step?: number
}

const Action = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ask'), text: z.string() }),
  z.strictObject({ kind: z.literal('order'), exam: z.string() }),
  z.strictObject({
    kind: z.literal('diagnose'),
    diagnosis: z.string(),
    recommendation: z.string().exactOptional(),
    confidence: z.number().min(0).max(1).exactOptional(),
    differential: z
      .array(z.strictObject({ diagnosis: z.string(), p: z.number().min(0).max(1).exactOptional() }))
      .exactOptional(),
    triage: z.number().int().min(1).max(5).exactOptional(),
  }),
  z.strictObject({ kind: z.literal('give-up') }),
  z.strictObject({ kind: z.literal('invalid'), text: z.string(), why: z.string() }),
])

const Outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['answered', 'examined', 'rejected']), text: z.string() }),
  z.strictObject({ kind: z.literal('closed') }),
])

const Facts = z.strictObject({
  understood: z.enum(understandings).exactOptional(),
  questions: z.number().exactOptional(),
  asked: z.array(z.string()),
  told: z.array(z.strictObject({ finding: z.string(), state: z.string() })),
  ordered: z.enum(['resulted', 'repeat', 'unavailable', 'unknown', 'refused']).exactOptional(),
  exams: z.array(z.string()),
  invasiveness: z.number().exactOptional(),
  simulatedBy: z.array(z.string()).exactOptional(),
  money: z.number(),
  minutes: z.number(),
  unread: z.array(z.enum(turnFactNames)).exactOptional(),
  wording: z.enum(skinWordings).exactOptional(),
  flags: z.array(z.enum(speechFlags)).exactOptional(),
})

const Drawn = z.strictObject({
  role: z.enum(['doctor', 'patient', 'examiner', 'judge']),
  policy: z.string(),
  stream: z.number(),
  heard: z.array(z.number()),
  tokens: z.array(z.number()),
  logprobs: z.array(z.number()),
  policyVersion: z.union([z.number(), z.array(z.number())]),
  temperature: z.number(),
  logprobMode: z.enum(['scaled', 'raw']),
  stopReason: z.enum(['stop', 'length']),
  usage: z
    .strictObject({
      promptTokens: z.number(),
      completionTokens: z.number(),
      cost: z.number().exactOptional(),
    })
    .exactOptional(),
})

/** JSON has no infinity, so an infinite limit is null there. */
const Limit = z
  .number()
  .nullable()
  .transform((limit) => limit ?? Number.POSITIVE_INFINITY)

const EpisodeSchema: z.ZodType<Episode> = z.strictObject({
  id: z.string(),
  caseId: z.string(),
  seed: z.number(),
  agent: z.string(),
  language: z.enum(['zh', 'en']),
  intake: z.strictObject({
    view: z.literal('doctor'),
    demographics: caseSchema.shape.demographics,
    complaint: textSchema,
  }),
  turns: z.array(
    z.strictObject({
      action: Action,
      outcome: Outcome,
      facts: Facts,
      text: z.string().exactOptional(),
      draws: z.array(Drawn).exactOptional(),
    }),
  ),
  end: z.enum(['terminated', 'truncated']),
  stop: z.enum(stops),
  maxTurns: z.number(),
  spent: z.strictObject({ money: z.number(), minutes: z.number() }),
  budget: z.strictObject({ money: Limit, minutes: Limit }),
  usage: z
    .record(
      z.string(),
      z.strictObject({
        calls: z.number(),
        failed: z.number(),
        retries: z.number(),
        promptTokens: z.number(),
        completionTokens: z.number(),
        cost: z.number().nullable(),
      }),
    )
    .exactOptional(),
})

const ScoreSchema: z.ZodType<Score> = z.strictObject({
  total: z.number().nullable(),
  parts: z.record(
    z.string(),
    z.discriminatedUnion('status', [
      z.strictObject({
        status: z.literal('ok'),
        value: z.number(),
        evidence: z.string().exactOptional(),
      }),
      z.strictObject({ status: z.literal('unavailable'), reason: z.string() }),
      z.strictObject({ status: z.literal('not-applicable') }),
    ]),
  ),
  turns: z.array(z.number()).exactOptional(),
})

const Truth: z.ZodType<GraderView> = z.strictObject({
  view: z.literal('grader'),
  caseId: z.string(),
  complaint: caseSchema.shape.chiefComplaint,
  findings: z.array(findingSchema),
  gold: goldSchema,
  provenance: caseSchema.shape.provenance,
})

const restShape = {
  episode: EpisodeSchema,
  score: ScoreSchema.exactOptional(),
  group: z.string().exactOptional(),
  step: z.number().exactOptional(),
}

const Saved: z.ZodType<SavedEpisode> = z.strictObject({ ...restShape, truth: Truth })

/** Quick check of a row's truth; see `episode-reader.ts`. */
export const quickTruth = quickCheck(Truth)
/** Quick check of a row without its truth. */
export const quickRest = quickCheck(z.strictObject(restShape))

/**
 * Parses a grader's view with zod.
 * @param where the place, for the message
 * @throws Fault `bad-input` naming location, path and what was expected
 */
export function parseTruth(value: unknown, where: string): GraderView {
  const parsed = Truth.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Fault('bad-input', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
}

/**
 * Parses one saved episode with zod.
 * @param where the file and row, for the message
 * @throws Fault `bad-input` naming location, path and what was expected
 */
export function parseSavedEpisode(value: unknown, where: string): SavedEpisode {
  const parsed = Saved.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Fault('bad-input', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
}
