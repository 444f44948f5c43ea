/** The human doctor: a person at a terminal, or lines from a pipe. */
import type { Agent, Move } from '../agent.js'
import type { Observation } from '../env.js'
import { type LineStreams, lineReader, stripControls } from '../platform/line-reader.js'
import type { Action, Language } from '../turn.js'
import { labelled } from './grammars/labelled.js'
import { intakeText } from './intake.js'

/** Options of {@link humanDoctor}: its streams and the language of its prompts. */
export interface HumanDoctorOptions extends LineStreams {
  /** Language of the prompts. @default the observation's */
  readonly language?: Language
}

const words = {
  zh: {
    help: `直接输入就是向患者提问。另外还有：
  检查 <名称>    开一项检查
  诊断 <疾病>    给出诊断并结束
  帮助           再看一遍
  退出           放弃`,
    prompt: (left: number) =>
      left === 1 ? '医生（最后一回合：请给出诊断，“诊断 <疾病>”）> ' : `医生（剩余${left}回合）> `,
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
    prompt: (left: number) =>
      left === 1
        ? 'Doctor (last turn: give your diagnosis, "diagnose <disease>")> '
        : `Doctor (${left} turns left)> `,
    advice: 'Recommendation (may be empty)> ',
    what: {
      order: 'Order what? For example: order complete blood count',
      diagnose: 'What is the diagnosis? For example: diagnose influenza',
    },
    heard: { answered: 'Patient: ', examined: 'Report: ', rejected: 'Not done: ' },
  },
} as const

/** A parsed line. The commands of either language work in both. */
type Command =
  | { readonly kind: 'act'; readonly action: Action }
  | { readonly kind: 'help' | 'blank' }
  | { readonly kind: 'what'; readonly verb: 'order' | 'diagnose' }

const verbs: readonly (readonly ['order' | 'diagnose', RegExp])[] = [
  ['order', /^(?:order|检查)(?:\s+(.*))?$/i],
  ['diagnose', /^(?:diagnose|诊断)(?:\s+(.*))?$/i],
]

function parseCommand(line: string): Command {
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

/** Text of the last outcome; before the first turn, the intake and the help. */
function latestText({ intake, turns }: Observation, language: Language): string {
  const say = words[language]
  const last = turns.at(-1)?.outcome
  if (last === undefined) return `${intakeText(intake, language)}\n\n${say.help}`
  return last.kind === 'closed' ? '' : `${say.heard[last.kind]}${last.text}`
}

/**
 * Makes a doctor played by a person. A plain line is a question; `order X`, `diagnose X`, `help` and `quit` (or
 * 检查, 诊断, 帮助, 退出) are commands; the labelled grammar's lines work too. The end of the input gives up, so a
 * script may be piped in. Shows nothing beyond the observation.
 */
export function humanDoctor(options: HumanDoctorOptions): Agent {
  const { output } = options
  const reader = lineReader(options, 'the human doctor')
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
    output.write(`\n${stripControls(latestText(observation, language))}\n`)
    for (;;) {
      const line = await reader.read(say.prompt(observation.turnsLeft), signal)
      if (line === undefined) return done({ kind: 'give-up' }, '')
      const command = parseCommand(line)
      if (command.kind === 'act') return done(await advise(command.action), line)
      if (command.kind === 'help') output.write(`${say.help}\n`)
      if (command.kind === 'what') output.write(`${say.what[command.verb]}\n`)
    }
  }
}
