/** What a published environment (`env.preset`) says in a recipe, under what the recipe says itself. */
import { publishedEnv, publishedEnvNames } from '../tasks/published.js'
import { isJobBackend } from './jobs/cluster.js'
import { isRecord } from './recipe-training.js'

/** The keys of a recipe that a published environment gives. @throws Fault `bad-input` for an unknown name */
export function presetKeys(preset: string) {
  const { name, maxTurns, exams, reward, grammar, patient } = publishedEnv(preset)
  const env = { preset, name, maxTurns, ...(exams.length > 0 ? { exams: [...exams] } : {}) }
  return { grammar, reward, env, prompts: patient }
}

/** The models of a recipe, of which that of a free patient has the published prompts unless it names others. */
function layPrompts(models: unknown, patient: unknown, prompts: string | undefined) {
  const own = isRecord(models) ? models.patient : undefined
  if (!isRecord(models) || !isRecord(own) || prompts === undefined || patient === 'skin') return {}
  return { models: { ...models, patient: { prompts, ...own } } }
}

/** Lays a published environment under a recipe as it was written; an unknown name is left to the schema. */
export function layPreset(raw: unknown): unknown {
  const own = isRecord(raw) && isRecord(raw.env) ? raw.env : {}
  const preset = publishedEnvNames.find((one) => one === own.preset)
  if (!preset || !isRecord(raw)) return raw
  const { env, reward, grammar, prompts } = presetKeys(preset)
  const policy = (raw.backend === 'sidecar' || isJobBackend(raw.backend)) && {
    policy: { grammar, ...Object(raw.policy) },
  }
  const models = layPrompts(raw.models, own.patient, prompts)
  return { reward, ...raw, ...models, env: { ...env, ...own }, ...policy }
}
