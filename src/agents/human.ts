/** The human doctor: somebody at a terminal, or a pipe. */
import { createInterface, type Interface } from 'node:readline'
import type { Agent, Move } from '../agent.js'
import type { Observation } from '../env.js'
import { Fault } from '../error.js'
import type { Action, Language } from '../turn.js'
import { labelled } from './grammars/labelled.js'
import { intakeText } from './intake.js'

export interface HumanDoctorOptions {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** Of the prompts. @default the observation's */
  readonly language?: Language
}

const words = {
  zh: {
    help: `直接输入就是向患者提问。另外还有：
  检查 <名称>    开一项检查
  诊断 <疾病>    给出诊断并结束
  帮助           再看一遍
  退出           放弃`,
    prompt: (left: number) => `医生（剩余${left}回合）> `,
    advice: '建议（可留空）> ',
    what: { order: '检查什么？例如：检查 血常规', diagnose: '诊断是什么？例如：诊断 流感' },
    heard: { answered: '患者：', examined: '报告：', rejected: '未执行：' },
  },
  en: {
    help: `Type a question to the patient. Besides:
  order <exam>         orders an examination
  diagnose <disease>   gives your diagnosis and ends the consultation
  help                 shows this again
  quit                 gives up`,
    prompt: (left: number) => `Doctor (${left} turn${left === 1 ? '' : 's'} left)> `,
    advice: 'Recommendation (may be empty)> ',
    what: {
      order: 'Order what? For example: order complete blood count',
      diagnose: 'What is the diagnosis? For example: diagnose influenza',
    },
    heard: { answered: 'Patient: ', examined: 'Report: ', rejected: 'Not done: ' },
  },
} as const

/** A line as a person means it; commands of both languages work in both. */
type Command =
  | { readonly kind: 'act'; readonly action: Action }
  | { readonly kind: 'help' | 'blank' }
  | { readonly kind: 'what'; readonly verb: 'order' | 'diagnose' }

const verbs: readonly (readonly ['order' | 'diagnose', RegExp])[] = [
  ['order', /^(?:order|检查)(?:\s+(.*))?$/i],
  ['diagnose', /^(?:diagnose|诊断)(?:\s+(.*))?$/i],
]

function command(line: string): Command {
  const text = line.trim()
  if (text === '') return { kind: 'blank' }
  if (/^(help|\?|帮助)$/i.test(text)) return { kind: 'help' }
  if (/^(quit|exit|退出|放弃)$/i.test(text)) return { kind: 'act', action: { kind: 'give-up' } }
  for (const [verb, pattern] of verbs) {
    const match = pattern.exec(text)
    if (!match) continue
    const name = match[1]?.trim() ?? ''
    if (name === '') return { kind: 'what', verb }
    const action: Action =
      verb === 'order' ? { kind: 'order', exam: name } : { kind: 'diagnose', diagnosis: name }
    return { kind: 'act', action }
  }
  const written = labelled().parse(text)
  if (written.kind !== 'invalid') return { kind: 'act', action: written }
  return { kind: 'act', action: { kind: 'ask', text } }
}

/** Text of the world, without what a terminal would obey. */
const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut out
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')

/** Lines as they are asked for; those that come early wait, which `readline`'s own `question` would lose. */
function lineReader({ input, output }: HumanDoctorOptions) {
  const terminal = Boolean(input.isTTY && output.isTTY)
  const early: string[] = []
  let ended = false
  let wake = () => {}
  let reader: Interface | undefined
  const open = (): Interface => {
    const made = createInterface(terminal ? { input, output, terminal } : { input, terminal })
    made.on('line', (line) => {
      early.push(line)
      wake()
    })
    made.on('close', () => {
      if (reader !== made) return
      ended = true
      wake()
    })
    // A terminal in raw mode sends Ctrl-C as a key; it is turned back into the signal it stands for.
    made.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return made
  }
  return {
    /** The next line, or `undefined` at the end of the input. @throws Fault `aborted` with the signal */
    async read(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined> {
      if (signal?.aborted) throw new Fault('aborted', 'the human doctor was interrupted')
      if (!ended) {
        reader ??= open()
        reader.resume()
      }
      if (terminal && !ended) {
        reader?.setPrompt(prompt)
        reader?.prompt()
      } else output.write(prompt)
      if (early.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve
          signal?.addEventListener('abort', wake)
        })
        signal?.removeEventListener('abort', wake)
        if (signal?.aborted) throw new Fault('aborted', 'the human doctor was interrupted')
      }
      const line = early.shift()
      if (!terminal) output.write(`${line ?? ''}\n`)
      return line
    },
    /** Lets go of the input between consultations, so that the process may end. */
    release(): void {
      const held = reader
      if (!terminal) return void held?.pause()
      // A terminal is closed, to leave raw mode, and opened anew for the next consultation.
      reader = undefined
      held?.close()
    },
  }
}

/** What has come back since the doctor last spoke; at the start, the intake and how to play. */
function news({ intake, turns }: Observation, language: Language): string {
  const say = words[language]
  const last = turns.at(-1)?.outcome
  if (last === undefined) return `${intakeText(intake, language)}\n\n${say.help}`
  return last.kind === 'closed' ? '' : `${say.heard[last.kind]}${last.text}`
}

/**
 * A doctor played by whoever types: a plain line is a question, `order X`, `diagnose X`, `help` and `quit`
 * (or 检查, 诊断, 帮助, 退出) do what they say, and the labelled grammar's lines are read too. The end of the
 * input gives up, so a script may be piped in. Only what the observation holds is shown.
 */
export function humanDoctor(options: HumanDoctorOptions): Agent {
  const { output } = options
  const reader = lineReader(options)
  return async (observation, { signal }): Promise<Move> => {
    const language = options.language ?? observation.language
    const say = words[language]
    const done = (action: Action, text: string): Move => {
      const ends = action.kind === 'diagnose' || action.kind === 'give-up'
      if (ends || observation.turnsLeft <= 1) reader.release()
      return { action, text }
    }
    const advise = async (action: Action): Promise<Action> => {
      if (action.kind !== 'diagnose' || action.recommendation) return action
      const recommendation = (await reader.read(say.advice, signal))?.trim()
      return recommendation ? { ...action, recommendation } : action
    }
    output.write(`\n${plain(news(observation, language))}\n`)
    for (;;) {
      const line = await reader.read(say.prompt(observation.turnsLeft), signal)
      if (line === undefined) return done({ kind: 'give-up' }, '')
      const meant = command(line)
      if (meant.kind === 'act') return done(await advise(meant.action), line)
      if (meant.kind === 'help') output.write(`${say.help}\n`)
      if (meant.kind === 'what') output.write(`${say.what[meant.verb]}\n`)
    }
  }
}
