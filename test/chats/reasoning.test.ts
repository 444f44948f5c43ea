/** What a doctor thinks is its own: it is kept in the episode, and no patient, examiner or judge is shown it. */
import { describe, expect, test } from 'vitest'
import { chatDoctor } from '../../src/agents/chat.js'
import { type GrammarName, grammarNames, namedGrammar } from '../../src/agents/grammars/named.js'
import { primaryDiagnosis } from '../../src/case.js'
import type { Chat, ChatReply } from '../../src/chat.js'
import { freePatient } from '../../src/envs/patients/free/free.js'
import { Fault } from '../../src/error.js'
import type { ExamSimulator } from '../../src/exam.js'
import { chatJudge } from '../../src/rewards/judges/chat-judge.js'
import { play } from '../../src/rollout.js'
import { task } from '../../src/tasks/task.js'
import type { Action } from '../../src/turn.js'
import { seen } from '../fixtures/consulting.js'

const usage = { promptTokens: 1, completionTokens: 1 }

/** Ways in which a model gives its reasoning beside a reply. */
const ways: Readonly<Record<string, (reply: ChatReply) => ChatReply>> = {
  'in tags': (reply) => ({ ...reply, text: `<think>SECRET</think>\n${reply.text}` }),
  'in tags that the template opened': (reply) => ({
    ...reply,
    text: `SECRET\n</think>\n${reply.text}`,
  }),
  'apart, by the server': (reply) => ({ ...reply, reasoning: 'SECRET </think> SECRET' }),
}

/** The reply with which a doctor takes an action in a grammar. */
function replyFor(name: GrammarName, action: Action): ChatReply {
  const { render } = namedGrammar(name)
  const said = render(seen([{ action, outcome: { kind: 'closed' } }])).findLast(
    ({ role }) => role === 'assistant',
  )
  const calls = said?.tool_calls
  return { text: said?.content ?? '', usage, ...(calls ? { calls } : {}) }
}

const begun: readonly Action[] = [
  { kind: 'ask', text: 'Do you cough?' },
  { kind: 'order', exam: 'chest X-ray' },
]

const askers = grammarNames.filter((name) => name !== 'huatuo' && name !== 'diagagent')

describe.each(Object.entries(ways))('%s', (_, think) => {
  test.each(askers)('%s', async (name) => {
    const heard: string[] = []
    const listening =
      (says: string): Chat =>
      async (messages) => {
        heard.push(JSON.stringify(messages))
        return { text: says, usage }
      }
    const exams: ExamSimulator = (order) => {
      heard.push(order)
      return undefined
    }
    const judging = listening('0.5')
    const { heldOut, makeEnv, reward } = await task({
      ...{ heldOut: 1, reward: 'grpodx-head', exams },
      patient: freePatient({ chat: listening('Yes, I do.') }),
      judge: chatJudge({ chat: judging, name: 'judge' }),
    })
    const [truth] = heldOut
    if (!truth) throw new Error('Expected a case, got none')
    // A judge is asked about the questions of a doctor who is right.
    const right: Action = {
      kind: 'diagnose',
      diagnosis: primaryDiagnosis(truth.gold).name.en ?? '',
    }
    const doctor: Chat = async (messages) => {
      heard.push(JSON.stringify(messages))
      const turn = messages.filter(({ role }) => role === 'assistant').length
      return think(replyFor(name, begun[turn] ?? right))
    }
    const played = await play(truth, {
      ...{ makeEnv, agent: chatDoctor({ chat: doctor, grammar: namedGrammar(name) }) },
      ...{ agentName: 'chat', seeds: { envSeed: 0, agentSeed: 0 }, rewards: { reward } },
    })
    if (Fault.is(played)) throw played
    const { turns, stop } = played.episode
    expect([stop, turns.map(({ action }) => action.kind)]).toEqual([
      'diagnosed',
      ['ask', 'order', 'diagnose'],
    ])
    for (const { text } of turns) expect(text).toContain('SECRET')
    expect(heard.some((said) => said.includes('Do you cough?'))).toBe(true)
    expect(heard.some((said) => said.includes('chest X-ray'))).toBe(true)
    expect(heard.length).toBeGreaterThan(5)
    expect(heard.filter((said) => said.includes('SECRET'))).toEqual([])
  })
})
