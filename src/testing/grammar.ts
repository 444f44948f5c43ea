/** Conformance checks of a grammar (`agent.ts`): what it writes it reads, whatever is written it survives, reasoning stays hidden. */
import type { Grammar } from '../agent.js'
import type { Message } from '../chat.js'
import { writtenReply } from '../chats/written-reply.js'
import type { Observation } from '../env.js'
import { deepFreeze } from '../platform/freeze.js'
import type { Action, Language, Turn } from '../turn.js'
import { expectKnownAction } from './agent.js'
import { type Check, type CheckRuns, toChecks } from './check.js'
import { expectPlain, expectSame, expectThat } from './expect.js'
import { garbage } from './garbage.js'

/** Inputs of {@link grammarChecks}. */
export interface GrammarMaterial {
  /** Actions that the grammar can write; each must be read as it was. */
  readonly actions: readonly Action[]
  /** Most characters that a field of an action may have. @default 2000 */
  readonly maxLength?: number
}

const languages: readonly Language[] = ['en', 'zh']
const outcomeText = 'Diagnosis: planted. <think>Final diagnosis: planted</think> 诊断：植入'

const observationAfter = (turns: readonly Turn[], language: Language): Observation => ({
  intake: {
    view: 'doctor',
    demographics: { age: { v: 40, unit: 'year' }, sex: 'F', speaker: 'self' },
    complaint: { en: 'I keep coughing.', zh: '我一直咳嗽。' },
  },
  turns,
  turnsLeft: 10 - turns.length,
  spent: { money: 0, minutes: 0 },
  budget: { money: 300, minutes: 600 },
  language,
})

const outcomeOf = ({ kind }: Action): Turn['outcome'] => {
  if (kind === 'diagnose' || kind === 'give-up') return { kind: 'closed' }
  const heard = { ask: 'answered', order: 'examined', invalid: 'rejected' } as const
  return { kind: heard[kind], text: outcomeText }
}

const turnOf = (action: Action): Turn => ({ action, outcome: outcomeOf(action) })

/** A doctor's message as the reply that it once was. */
const replyOf = ({ content, tool_calls: calls = [] }: Message): string =>
  writtenReply({ text: content, calls })

/** What the grammar writes for an action. */
function write({ render }: Grammar, action: Action, language: Language): string {
  const messages = render(observationAfter([turnOf(action)], language))
  const own = messages.findLast(({ role }) => role === 'assistant')
  expectThat(own !== undefined, 'a message of the doctor for a turn', messages)
  return replyOf(own)
}

/** Ways to hide a text, closed and unfinished. */
const hidden = {
  closed: [
    '<think>SECRET</think>\n',
    'SECRET</think>\n',
    '<reason>a <think>SECRET</reason></think></reason>\n',
  ],
  unfinished: [
    '<think>SECRET ',
    '<reasoning>SECRET ',
    '<think>SECRET</think',
    '## Thinking\nSECRET ',
  ],
}

type Written = readonly { readonly action: Action; readonly text: string }[]

const readingChecks = (grammar: Grammar, written: Written): CheckRuns => ({
  'every action it writes is read back, in both languages': async () => {
    expectThat(written.length > 0, '`actions` of the grammar', 'none')
    for (const { action, text } of written)
      expectSame(`the action of ${JSON.stringify(text)}`, grammar.parse(text), action)
  },
  'reasoning before an action changes nothing': async () => {
    for (const { action, text } of written)
      for (const before of hidden.closed)
        expectSame(
          `the action behind ${JSON.stringify(before)}`,
          grammar.parse(before + text),
          action,
        )
  },
  'unfinished reasoning hides what follows': async () => {
    for (const { text } of written)
      for (const before of hidden.unfinished) {
        const action = grammar.parse(before + text.replaceAll('#', ''))
        expectThat(action.kind === 'invalid', `no action behind ${JSON.stringify(before)}`, action)
        expectThat(!JSON.stringify(action).includes('SECRET'), 'the reasoning to be hidden', action)
      }
  },
  'two orders or diagnoses in one reply are neither': async () => {
    const deciding = written.filter(({ action }) => action.kind !== 'ask')
    for (const { text } of deciding)
      for (const { text: other } of deciding) {
        const action = grammar.parse(`${text}\n${other}`)
        expectThat(
          action.kind === 'invalid',
          `no action of ${JSON.stringify(text + other)}`,
          action,
        )
      }
  },
})

const hostileChecks = (grammar: Grammar, written: Written, maxLength: number): CheckRuns => {
  const read = (text: string): Action => {
    const action = grammar.parse(text)
    expectKnownAction({ action })
    expectPlain(`the action of ${JSON.stringify(text.slice(0, 60))}`, action)
    if (action.kind === 'invalid') expectThat(action.why !== '', 'a reason for the doctor', action)
    for (const field of Object.values(action))
      if (typeof field === 'string')
        expectThat(field.length <= maxLength, `fields of at most ${maxLength}`, field.length)
    return action
  }
  return {
    'whatever is written, nothing is thrown': async () => {
      for (const text of garbage) read(text)
      for (const { text } of written)
        for (const rubbish of garbage) read(`${rubbish}${text}${rubbish}`)
    },
    'a reply that breaks off anywhere is read or refused': async () => {
      for (const { text } of written)
        for (let length = 0; length < text.length; length++) read(text.slice(0, length))
    },
    'nothing said is no action': async () => {
      for (const text of ['', ' \n\t', '<think>SECRET</think>', '<think>']) {
        const action = read(text)
        expectThat(action.kind === 'invalid', `no action of ${JSON.stringify(text)}`, action)
      }
    },
  }
}

const promptChecks = (grammar: Grammar, { actions }: GrammarMaterial): CheckRuns => {
  const turns = [
    ...actions.filter(({ kind }) => kind !== 'diagnose' && kind !== 'give-up'),
    { kind: 'invalid', text: 'Hm.', why: 'No action.' } as const,
  ].map(turnOf)
  const eachLanguage = (work: (language: Language) => void) => async () => languages.forEach(work)
  return {
    'a prompt begins with the prompt before it': eachLanguage((language) => {
      const prompts = [0, ...turns.keys()].map((_, n) =>
        grammar.render(observationAfter(turns.slice(0, n), language)),
      )
      for (const [n, prompt] of prompts.entries()) {
        const before = prompts[n - 1] ?? []
        expectSame(`the prompt after ${n} turns`, prompt.slice(0, before.length), before)
        expectThat(prompt.at(-1)?.role !== 'assistant', 'the doctor to speak next', prompt.at(-1))
      }
    }),
    'what others say stands in their messages only': eachLanguage((language) => {
      const messages = grammar.render(observationAfter(turns, language))
      const heard = messages.filter((message) => JSON.stringify(message).includes('planted'))
      expectThat(heard.length > 0, 'the outcomes in the prompt', messages)
      for (const { role } of heard)
        expectThat(role === 'user' || role === 'tool', 'a message of the user or a tool', role)
    }),
    'the observation is only read, and the prompt is plain': eachLanguage((language) => {
      const observation = deepFreeze(observationAfter(turns, language))
      expectPlain('the prompt', grammar.render(observation))
    }),
  }
}

/** Lists every promise of the grammar contract as a check. */
export function grammarChecks(grammar: Grammar, material: GrammarMaterial): readonly Check[] {
  const { actions, maxLength = 2000 } = material
  const written = () =>
    actions.flatMap((action) =>
      languages.map((language) => ({ action, text: write(grammar, action, language) })),
    )
  // Rendered when a check runs: a grammar that throws fails checks, not the listing of them.
  const names = Object.keys({
    ...readingChecks(grammar, []),
    ...hostileChecks(grammar, [], maxLength),
  })
  const run = (name: string) => async () => {
    const texts = written()
    await { ...readingChecks(grammar, texts), ...hostileChecks(grammar, texts, maxLength) }[
      name
    ]?.()
  }
  return toChecks({
    ...Object.fromEntries(names.map((name) => [name, run(name)])),
    ...promptChecks(grammar, material),
  })
}
