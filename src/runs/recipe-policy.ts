/** Zod schema of a recipe's `policy`: the language model that is trained. */
import { z } from 'zod'
import { grammarNames } from '../agents/grammars/named.js'
import { Count } from './recipe-training.js'

/** Schema of `policy`: the language model that a sidecar trains. */
export const Policy = z.strictObject({
  /** A Hugging Face model folder: config.json, weights, tokenizer, chat template. */
  model: z.string().optional(),
  /** Training engine of the sidecar; `unsloth` needs a GPU. */
  engine: z.enum(['peft', 'unsloth']).default('peft'),
  /** A LoRA adapter, or every parameter. */
  mode: z.enum(['lora', 'full']).default('lora'),
  rank: Count.default(16),
  alpha: z.number().positive().default(32),
  dtype: z.enum(['auto', 'float32', 'float64', 'bfloat16']).default('auto'),
  device: z.enum(['auto', 'cpu', 'cuda']).default('auto'),
  /** CPU threads; all cores by default. A model of a few million parameters is fastest with one. */
  threads: Count.optional(),
  /** Calls of functions are no part of the prompts that a sidecar trains on. */
  grammar: z.enum(grammarNames).exclude(['tools']).default('labelled'),
  /** Most tokens of one reply. */
  maxTokens: Count.default(128),
  /** Most tokens of prompt and reply together; the model's own limit by default. */
  contextLength: Count.optional(),
  /** Whether earlier turns' reasoning stays in the prompt. */
  history: z.enum(['keep', 'strip-reasoning']).default('keep'),
  /** URL of a running Tinker server, instead of starting a sidecar; its key is in TINKER_API_KEY. */
  url: z.string().optional(),
  /** Kind of server at `url`. */
  profile: z.string().default('bedside'),
})
/** Checked `policy` of a recipe, with defaults filled in. */
export type LanguageModelPolicy = z.infer<typeof Policy>
