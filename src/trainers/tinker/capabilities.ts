/** What our own sidecar says of itself, beyond what the wire asks. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import type { WireModelSpec } from './wire.js'

const Capabilities = z.object({
  /** The engine that really runs. */
  engine: z.string(),
  device: z.string(),
  dtype: z.string(),
  versions: z.record(z.string(), z.string()),
  model: z.object({
    name: z.string(),
    path: z.string(),
    arch: z.string(),
    contextLength: z.int(),
    vocabSize: z.int(),
    parameters: z.number(),
    tiedEmbeddings: z.boolean(),
  }),
  modes: z.array(z.string()),
  heads: z.array(z.string()),
  exports: z.array(z.string()),
  losses: z.array(z.string()),
  /** The folder under which `tinker://` paths lie. */
  state: z.string(),
  limits: z.record(z.string(), z.number()),
})

/** What a sidecar can do and what runs in it. */
export type SidecarCapabilities = z.infer<typeof Capabilities>

/** Reads the answer of `/ext/v1/capabilities`. @throws Fault `model-unreadable` */
export function readCapabilities(body: unknown, address: string): SidecarCapabilities {
  const read = Capabilities.safeParse(body)
  if (read.success) return read.data
  throw new Fault(
    'model-unreadable',
    `${address}/ext/v1/capabilities: ${z.prettifyError(read.error)}`,
  )
}

/** Refuses a model that the server cannot make. @throws Fault `bad-input` saying what it has */
export function assertSpec(
  spec: WireModelSpec,
  server: string,
  extensions: SidecarCapabilities | undefined,
): void {
  const { mode = 'lora', head = 'language', alpha } = spec
  if (!extensions) {
    if (mode !== 'lora' || head !== 'language' || alpha !== undefined)
      throw new Fault(
        'bad-input',
        `${server}: expected a LoRA model with a language head and the server's alpha, which is all the wire can say, got ${JSON.stringify(spec)}`,
      )
    return
  }
  const { modes, heads } = extensions
  if (!modes.includes(mode))
    throw new Fault(
      'bad-input',
      `${server}: expected a mode of ${modes.join(', ')}, got \`${mode}\``,
    )
  if (!heads.includes(head))
    throw new Fault(
      'bad-input',
      `${server}: expected a head of ${heads.join(', ')}, got \`${head}\``,
    )
}
