/** What a published environment (`env.preset`) says in a recipe, under what the recipe says itself. */
import { publishedEnv, publishedEnvNames } from '../tasks/published.js'
import { isRecord } from './recipe-training.js'

/** The keys of a recipe that a published environment gives. @throws Fault `bad-input` for an unknown name */
export function presetKeys(preset: string) {
  const { name, maxTurns, exams, reward, grammar } = publishedEnv(preset)
  const env = { preset, name, maxTurns, ...(exams.length > 0 ? { exams: [...exams] } : {}) }
  return { grammar, reward, env }
}

/** Lays a published environment under a recipe as it was written; an unknown name is left to the schema. */
export function layPreset(raw: unknown): unknown {
  const own = isRecord(raw) && isRecord(raw.env) ? raw.env : {}
  const preset = publishedEnvNames.find((one) => one === own.preset)
  if (!preset || !isRecord(raw)) return raw
  const { env, reward, grammar } = presetKeys(preset)
  const policy = raw.backend === 'sidecar' && { policy: { grammar, ...Object(raw.policy) } }
  return { reward, ...raw, env: { ...env, ...own }, ...policy }
}
