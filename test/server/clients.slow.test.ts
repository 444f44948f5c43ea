import { expect, test } from 'vitest'
import { labelled } from '../../src/agents/grammars/labelled.js'
import { spoken } from '../../src/agents/grammars/spoken.js'
import { ended } from '../../src/env.js'
import { make } from '../../src/index.js'
import { describeWithPython } from '../fixtures/python.js'
import { builtPackage } from './built.js'

const seeds = [3, 11]
const actions = ['Do you have a fever?', 'Order: ECG', 'Diagnosis: pneumonia']

const { serve } = builtPackage()

/** What an env of this process says to the same actions. */
async function transcript(seed: number) {
  const env = make('consultation', { tier: 'standard', grammar: spoken() })
  const { render } = labelled()
  let { observation } = await env.reset({ seed })
  const told: unknown[] = [[render(observation).at(-1)?.content, null, false, false]]
  for (const action of actions) {
    const step = await env.step(action)
    observation = step.observation
    const message = ended(step) ? '' : render(observation).at(-1)?.content
    told.push([message, step.reward, step.terminated, step.truncated])
  }
  return told
}

/** Runs `bedside serve` for as long as a test takes. */
async function withServer<T>(test: (address: string, token: string) => T): Promise<T> {
  const { address, token, server } = await serve()
  try {
    return test(address, token)
  } finally {
    server.kill('SIGKILL')
  }
}

describeWithPython('the official clients of OpenEnv', 'gym', (run) => {
  test('play as an env of this process does', async () => {
    const [seed = 0] = seeds
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const told: any = await withServer((address, token) =>
      run('openenv_clients.py', { address: `${address}/t/${token}`, seed, actions }),
    )
    const expected = (await transcript(seed)).map((one) => {
      const [message, reward, ...end] = one as [string, number | null, boolean, boolean]
      const done = end.includes(true)
      return [message, done ? reward : null, done]
    })
    expect(told.steps).toEqual(expected)
    expect(told.sync).toEqual(expected)
    expect(told.state).toMatchObject({ step_count: actions.length })
    expect(told.wrong[0]).toContain('seed')
    expect(told.wrong[1]).toContain('message')
    expect(told.tools).toEqual(['ask_patient', 'order_exam', 'diagnose'])
    expect(told.called).toBe(expected[1]?.[0])
  }, 300_000)
})

/** The actions as tool calls. */
const calls = [
  ['ask_patient', { question: 'Do you have a fever?' }],
  ['order_exam', { exam: 'ECG' }],
  ['diagnose', { diagnosis: 'pneumonia' }],
]

describeWithPython('the official clients of ORS', 'wires', (run) => {
  test('play as an env of this process does, and so does TRL by them', async () => {
    const [seed = 0] = seeds
    const options = { seed, tier: 'standard' }
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const { client, trl }: any = await withServer((address, token) =>
      run('ors_clients.py', { address, token, index: seed, options, calls }),
    )
    const expected = (await transcript(seed)).slice(1).map((one) => {
      const [message, reward, ...end] = one as [string, number | null, boolean, boolean]
      const done = end.includes(true)
      return [message, done ? reward : null, done]
    })
    expect(client.options).toEqual(expected)
    expect(client).toMatchObject({
      ...{ splits: ['train', 'heldout'], task: { split: 'heldout', index: 3 } },
      ...{ tools: calls.map(([name]) => name), after: 'episode_finished' },
    })
    expect(client.steps.at(-1)).toEqual(['', expect.any(Number), true])
    expect(client.wrong.map(([reason]: [string]) => reason)).toEqual([
      ...['not_found', 'input_validation'],
    ])
    expect(trl.rows).toBe(seed + 1)
    expect(trl.prompt).toBe(client.prompt)
    expect(trl.heard).toEqual([
      ...client.steps.slice(0, -1).map(([said]: [string]) => said),
      '(no output)',
    ])
    expect(trl.reward).toEqual([client.steps.at(-1)[1]])
  }, 300_000)
})

describeWithPython('the gymnasium agent of NeMo Gym', 'wires', (run) => {
  test('plays as an env of this process does, by text and by tools', async () => {
    const [seed = 0] = seeds
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const told: any = await withServer((address, token) => {
      const { hostname: host, port } = new URL(address)
      const options = { seed, tier: 'standard' }
      return run('nemo_agent.py', { host, port, token, options, texts: actions, calls })
    })
    const expected = (await transcript(seed)) as [string, number][]
    const [intake] = expected[0] ?? []
    expect(told.shown[0].at(-1).content).toContain(intake)
    const heard = expected.slice(1, -1).map(([message]) => message)
    const users = told.shown.at(-1).filter(({ role }: { role?: string }) => role === 'user')
    expect(users.slice(2).map(({ content }: { content: string }) => content)).toEqual(heard)
    expect(told.heard).toEqual(heard)
    const end = { reward: expected.at(-1)?.[1], terminated: true, truncated: false }
    expect(told.text).toMatchObject(end)
    expect(told.tools).toMatchObject(end)
  }, 300_000)
})
