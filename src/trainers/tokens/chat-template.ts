/** Chat templates: renders messages with the Jinja template of a model, given the globals that templates expect. */
import type { Message } from '../../chat.js'
import { errorMessage, Fault, rethrowAsFault } from '../../error.js'
import type { TokenizerFolder } from './tokenizer-folder.js'

/** Renders messages to text. @throws Fault `bad-input` where the template refuses them */
export type ChatTemplate = (
  messages: readonly Message[],
  options: { readonly addGenerationPrompt: boolean },
) => string

/** Fixed inputs of a chat template. */
export interface ChatTemplateOptions {
  /** Date `YYYY-MM-DD` of `strftime_now`: the real one would change prompts overnight. @default '2025-01-01' */
  readonly date?: string
  /** More variables for the template, such as `enable_thinking`. @default {} */
  readonly variables?: Readonly<Record<string, unknown>>
}

const months =
  'January February March April May June July August September October November December'.split(' ')

/** `strftime_now` with a fixed date; hours and minutes are 0. */
function fixedStrftime(date: string): (format: string) => string {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date)
  const [, year = '', month = '', day = ''] = found ?? []
  const name = months[Number(month) - 1]
  if (name === undefined)
    throw new RangeError(`Expected \`date\` to be a day like 2025-01-31, got \`${date}\``)
  const parts: Readonly<Record<string, string>> = {
    '%Y': year,
    '%y': year.slice(2),
    '%m': month,
    '%d': day,
    '%B': name,
    '%b': name.slice(0, 3),
    '%H': '00',
    '%M': '00',
    '%S': '00',
    '%%': '%',
  }
  return (format) => format.replace(/%[YymdBbHMS%]/g, (part) => parts[part] ?? part)
}

/** Python's `range`. */
function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop]
  const length = Math.max(0, Math.ceil((to - from) / step))
  return Array.from({ length }, (_, i) => from + i * step)
}

function templateGlobals(date: string): Readonly<Record<string, unknown>> {
  return {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    range,
    strftime_now: fixedStrftime(date),
    raise_exception: (message: string) => {
      throw new Error(message)
    },
    tools: null,
    documents: null,
  }
}

/** Parses a template. The library's `Template` has a clock that no variable replaces, so its parts are used instead. */
async function createEngine(source: string) {
  const { Environment, Interpreter, parse, tokenize } = await import('@huggingface/jinja')
  // Python's Jinja reads CRLF as LF; this one does not.
  const unix = source.replaceAll('\r\n', '\n')
  const program = parse(tokenize(unix, { lstrip_blocks: true, trim_blocks: true }))
  return {
    render: (variables: Readonly<Record<string, unknown>>): string => {
      const environment = new Environment()
      for (const [name, value] of Object.entries(variables)) environment.set(name, value)
      const { value } = new Interpreter(environment).run(program)
      if (typeof value !== 'string') throw new TypeError(`Expected text, got \`${value}\``)
      return value
    },
  }
}

/** Parses a folder's chat template. @throws Fault `bad-input` naming its file where it is not valid Jinja */
export async function chatTemplate(
  { template: { source, file }, special }: TokenizerFolder,
  { date = '2025-01-01', variables = {} }: ChatTemplateOptions = {},
): Promise<ChatTemplate> {
  const names = { ...templateGlobals(date), ...special, ...variables }
  const engine = await rethrowAsFault('bad-input', `${file}: expected a Jinja chat template`, () =>
    createEngine(source),
  )
  return (messages, { addGenerationPrompt }) => {
    try {
      return engine.render({
        ...names,
        messages: messages.map(({ role, content }) => ({ role, content })),
        add_generation_prompt: addGenerationPrompt,
      })
    } catch (error) {
      const roles = messages.map(({ role }) => role).join(', ')
      throw new Fault(
        'bad-input',
        `${file}: expected a template that renders messages of the roles ${roles}: ${errorMessage(error)}`,
        { cause: error },
      )
    }
  }
}
