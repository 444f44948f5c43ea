/** Shape checks of a user's own parts. Each returns "expected …, got …", or undefined where the shape is right. */

const got = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Checks a patient, a reward, or a backend factory. */
export const functionProblem = (value: unknown): string | undefined =>
  isFunction(value) ? undefined : `expected a function, got ${got(value)}`

/** Checks examination simulators: a function, or a non-empty array of them. */
export function examsProblem(value: unknown): string | undefined {
  if (isFunction(value)) return undefined
  if (!Array.isArray(value)) return `expected a function or an array of them, got ${got(value)}`
  const wrong = value.findIndex((one) => !isFunction(one))
  if (wrong >= 0) return `expected functions, got ${got(value[wrong])} at ${wrong}`
  return value.length > 0 ? undefined : 'expected at least one function, got an empty array'
}

/** Checks an agent: a function, or a privileged agent with `forCase`. */
export const agentProblem = (value: unknown): string | undefined =>
  isFunction(value) ||
  (typeof value === 'object' && value !== null && 'forCase' in value && isFunction(value.forCase))
    ? undefined
    : `expected a function, got ${got(value)}`

const required = ['sampler', 'step', 'save', 'load', 'export'] as const
const optional = ['logprobs', 'keepReference', 'values', 'demonstrate'] as const

function capabilityProblems(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return ['capabilities (an object)']
  const lists = ['losses', 'normalisers', 'exports'].flatMap((key) =>
    Array.isArray(Reflect.get(value, key)) ? [] : [`capabilities.${key} (an array)`],
  )
  const { entropy }: { entropy?: unknown } = value
  return typeof entropy === 'boolean' ? lists : [...lists, 'capabilities.entropy (a boolean)']
}

/** Checks a backend; lists every member that is missing or of another type. */
export function backendProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `expected a backend, got ${got(value)}`
  const has = (key: string | symbol): unknown => Reflect.get(value, key)
  const missing = [
    ...(typeof has('name') === 'string' ? [] : ['name (a string)']),
    ...(typeof has('policyVersion') === 'number' ? [] : ['policyVersion (a number)']),
    ...capabilityProblems(has('capabilities')),
    ...required.flatMap((key) => (isFunction(has(key)) ? [] : [`${key}()`])),
    ...optional.flatMap((key) =>
      has(key) === undefined || isFunction(has(key)) ? [] : [`${key}() or no ${key} at all`],
    ),
    ...(isFunction(has(Symbol.asyncDispose)) ? [] : ['[Symbol.asyncDispose]()']),
  ]
  return missing.length === 0
    ? undefined
    : `expected a backend, got one without ${missing.join(', ')}`
}
