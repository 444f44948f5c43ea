/** A doctor's action on the wire: a message, or one of a few fields for clients that know what they want. */
import { z } from 'zod'
import type { Action } from '../turn.js'
import { readBody } from './options.js'
import { Refusal } from './refusal.js'

/** Most UTF-16 units of a text field. */
const longest = 8000
const text = z.string().max(longest)

/**
 * An action. Only `message` is required, so that clients which know nothing but text can play: a labelled reply
 * (`Order: ECG`, `Diagnosis: …`) is read as such, and all other words are said to the patient.
 */
export const wireAction = z
  .strictObject({
    message: text.describe(
      'What the doctor says; or a labelled reply: Question: …, Order: …, Diagnosis: … and Recommendation: …',
    ),
    order: text.optional().describe('Examination to order, in place of the message.'),
    diagnosis: text
      .optional()
      .describe('Diagnosis that ends the consultation, in place of the message.'),
    recommendation: text.optional().describe('Advice and treatment, beside a diagnosis.'),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Probability that the diagnosis is right.'),
    differential: z
      .array(z.strictObject({ diagnosis: text, p: z.number().min(0).max(1).optional() }))
      .max(20)
      .optional()
      .describe('Other diagnoses that are possible.'),
    triage: z.int().min(1).max(5).optional().describe('Urgency from 1 (now) to 5 (can wait).'),
  })
  .meta({ title: 'ConsultationAction' })

/** An action as a client sends it. */
export type WireAction = z.infer<typeof wireAction>

/** Turns a client's action into one that the env takes: text, or an action. @throws Refusal for two in one */
export function toAction(sent: WireAction): Action | string {
  const { message, order, diagnosis, ...beside } = sent
  if (order !== undefined && diagnosis !== undefined)
    throw new Refusal('bad-request', 'Expected `order` or `diagnosis`, got both: one action a step')
  const extra = Object.keys(beside)
  if (diagnosis === undefined && extra.length > 0)
    throw new Refusal(
      'bad-request',
      `Expected \`${extra.join('`, `')}\` beside a \`diagnosis\` only`,
    )
  if (order !== undefined) return { kind: 'order', exam: order }
  if (diagnosis === undefined) return message
  // The keys of a diagnosis are those of the wire; absent ones are left out by JSON.
  return { kind: 'diagnose', diagnosis, ...beside } as Action
}

/** Tools in place of messages: what a model with function calling is offered. */
export const tools = {
  ask_patient: {
    description: 'Says something to the patient, most often a question, and gives the reply.',
    input: z.strictObject({ question: text.describe('What to say.') }),
  },
  order_exam: {
    description: 'Orders one examination by name and gives its report.',
    input: z.strictObject({ exam: text.describe('Name of the examination.') }),
  },
  diagnose: {
    description: 'Ends the consultation with a diagnosis.',
    input: wireAction
      .pick({ recommendation: true, confidence: true, differential: true, triage: true })
      .extend({ diagnosis: text.describe('The diagnosis.') }),
  },
} as const

/** The action of a tool call. @throws Refusal `not-found` for no tool, `bad-request` for other arguments */
export function toolAction(name: string, input: unknown): WireAction {
  // Callers that know all arguments send null for those they leave out.
  const given =
    input !== null && typeof input === 'object' && !Array.isArray(input)
      ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
      : input
  const read = <T>(schema: z.ZodType<T>): T => readBody(schema, given, `arguments of ${name}`)
  switch (name) {
    case 'ask_patient':
      return { message: read(tools.ask_patient.input).question }
    case 'order_exam':
      return { message: '', order: read(tools.order_exam.input).exam }
    case 'diagnose':
      return { message: '', ...read(tools.diagnose.input) }
    default:
      throw new Refusal(
        'not-found',
        `Expected a tool (${Object.keys(tools).join(', ')}), got \`${name.slice(0, 80)}\``,
      )
  }
}
