/** Schema of a recipe's `cluster`: where and how a trainer that owns its process (slime, verl) runs. */
import { posix } from 'node:path'
import { z } from 'zod'
import { Count, isRecord } from '../recipe-training.js'

/** Backends whose trainer owns its process, and runs as a job. */
export const jobBackends = ['slime', 'verl'] as const
/** Name of a backend that runs as a job. */
export type JobBackend = (typeof jobBackends)[number]

/** Whether a value of `backend` names one that runs as a job. */
export const isJobBackend = (name: unknown): name is JobBackend =>
  jobBackends.some((known) => known === name)

/** Where slime's own image has its checkouts. */
const image = posix.join('/', 'root')

/** Schema of `cluster`. */
export const Cluster = z.strictObject({
  /** Address of the dashboard of a Ray head. A stand-in without one runs on this machine. */
  ray: z.string().optional(),
  nodes: Count.default(1),
  /** GPUs of each node. */
  gpus: Count.default(8),
  /** Interpreter on the cluster, with the trainer installed. */
  python: z.string().default('python3'),
  /** Who computes the advantages: Bedside, by `training.advantages`, for groups of any shape; or the trainer itself. */
  advantages: z.enum(['bedside', 'trainer']).default('bedside'),
  /** The server of the consultations. */
  server: z
    .strictObject({
      /** Address to listen on; beyond this machine where the job runs on others. */
      host: z.string().default('127.0.0.1'),
      /** 0 takes a free one, the same in every attempt of a run. */
      port: z.number().int().min(0).max(65535).default(0),
      /** What the job knows it by, where that is not `host`. */
      url: z.string().optional(),
      /** Processes that share the port. */
      workers: Count.default(1),
    })
    .prefault({}),
  /** GPUs of one inference engine. */
  engineGpus: Count.default(1),
  /** Most tokens of one GPU's micro-batch; by default those of the longest consultation. */
  tokensPerGpu: Count.optional(),
  /** Checkout of slime on the cluster. */
  slime: z.string().default(posix.join(image, 'slime')),
  /** Checkout of Megatron-LM on the cluster. */
  megatron: z.string().default(posix.join(image, 'Megatron-LM')),
  /** slime: name of the file in its `scripts/models` that describes the model, as in qwen3-8B. */
  architecture: z.string().optional(),
  /** slime: the model's weights in Megatron's format. Default: `policy.model` with `_torch_dist` at its end. */
  weights: z.string().optional(),
  /** verl: engine that draws. */
  inference: z.enum(['vllm', 'sglang']).default('vllm'),
  /** Further settings of the trainer by name: flags of slime without `--`, Hydra keys of verl. */
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
})
/** Checked `cluster` of a recipe, with defaults filled in. */
export type Cluster = z.infer<typeof Cluster>

/** Keys of `cluster` that one trainer alone reads. */
export const clusterKeysOf: Readonly<Record<JobBackend, readonly (keyof Cluster)[]>> = {
  slime: ['slime', 'megatron', 'architecture', 'weights'],
  verl: ['inference'],
}

/** Lays the sections that a job needs under an unchecked recipe: all weights are trained unless a LoRA is written. */
export const layJobSections = (raw: Readonly<Record<string, unknown>>): unknown => ({
  ...raw,
  cluster: raw.cluster ?? {},
  policy:
    raw.policy === undefined || isRecord(raw.policy) ? { mode: 'full', ...raw.policy } : raw.policy,
})
