/** Capabilities report of our own sidecar (`/ext/v1/capabilities`), an extension of the Tinker wire. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import type { WireModelSpec } from './wire.js'

const capabilitiesSchema = z.object({
  /** Engine that runs: `peft`, `unsloth` … */
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
  /** Folder that `tinker://` paths are relative to. */
  state: z.string(),
  limits: z.record(z.string(), z.number()),
})

/** Sidecar capabilities: engine, device, model, training modes, heads, export formats, losses and limits. */
export type SidecarCapabilities = z.infer<typeof capabilitiesSchema>

/** Parses the response of `/ext/v1/capabilities`. @throws Fault `model-unreadable` */
export function readCapabilities(body: unknown, address: string): SidecarCapabilities {
  const read = capabilitiesSchema.safeParse(body)
  if (read.success) return read.data
  throw new Fault(
    'model-unreadable',
    `${address}/ext/v1/capabilities: ${z.prettifyError(read.error)}`,
  )
}

/** Checks that the server can create a model of this spec. @throws Fault `bad-input` listing what it supports */
export function assertModelSpec(
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
