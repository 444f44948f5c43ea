/** The JSON Schema of a case, for editors and for programs in other languages. */
import { z } from 'zod'
import { caseSchema } from './case-schema.js'

/** A JSON Schema (draft 2020-12) of a case as files hold it: what has a default may be left out. */
export function caseJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(caseSchema, { io: 'input' })
  return {
    $schema,
    $id: 'urn:bedside:case:1',
    title: 'Bedside case',
    description: "One patient's truth. A case file holds one such object a line (JSON lines).",
    ...schema,
  }
}
