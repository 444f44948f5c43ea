/** Language models in a run: settings, recordings, budgets and failing servers, from the command line. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Evaluation } from '../../../src/evaluation/evaluate.js'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import {
  chatServer,
  completion,
  drip,
  type Handler,
  json,
  raw,
  reset,
  stall,
} from '../../fixtures/chat-server.js'
import { bedside, document } from '../terminal.js'
import { weights } from './small-run.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-models-'))
})
afterAll(() => rm(folder, { recursive: true }))
const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const said = 'No, I have not noticed that.'

/** Doctor `d` asks twice and then commits; patient `p` says the same always. */
const speak: Handler = (response, request) => {
  const { model, messages } = request.body as { model: string; messages: readonly unknown[] }
  const doctor =
    messages.length > 4 ? 'Diagnosis: Influenza\nRecommendation: Rest.' : 'Question: Do you cough?'
  completion(model === 'd' ? doctor : said)(response, request)
}

const serve = async (...handlers: readonly Handler[]) => {
  const server = await chatServer(...handlers)
  open.push(server.close)
  return server
}

const settings = (...all: readonly string[]): string[] =>
  all.flatMap((one) => ['--set', `models.${one}`])

const chatFlags = (url: string) => [
  ...['evaluate', '--agent', 'chat', '--model', 'd', '--base-url', url, '--patient', 'free'],
  ...settings('patient.model=p', `patient.base-url=${url}`),
]

const evaluation = async (argv: readonly string[]): Promise<Evaluation> =>
  (await document(argv)) as Evaluation // with --json it is one

const lines = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, 'utf8')).trimEnd().split('\n').sort()

describe('evaluate with models', () => {
  test('each role has its own, with usage and prices by role and episode', async () => {
    const { baseURL, requests } = await serve(speak)
    const out = join(folder, 'priced')
    const { usage } = await evaluation([
      ...[...chatFlags(baseURL), '--cases', '4', '--out', out],
      ...settings('prices.d.input=10', 'prices.d.output=100', 'patient.temperature=0.5'),
    ])
    const [calls, retries] = [12, 0]
    expect(usage.doctor).toEqual({
      ...{ calls, failed: 0, retries, promptTokens: 84, completionTokens: 36 },
      cost: expect.closeTo((84 * 10 + 36 * 100) / 1e6, 9),
    })
    // It is the patient of floor and ceiling too.
    const patients = requests.filter(({ body }) => body.model === 'p').length
    expect(patients).toBeGreaterThan(8)
    expect(usage.patient).toMatchObject({ calls: patients, cost: null })
    for (const { body } of requests)
      expect(body.temperature).toBe(body.model === 'p' ? 0.5 : undefined)
    for await (const { episode } of readSavedEpisodes(join(out, 'episodes.jsonl')))
      expect(episode.usage).toMatchObject({ doctor: { calls: 3 }, patient: { calls: 2 } })
  })

  test('the doctor writes in the grammar that is named, here or in the recipe', async () => {
    const call = (name: string, given: object) => ({
      ...{ id: 'a', type: 'function' },
      function: { name, arguments: JSON.stringify(given) },
    })
    const { baseURL, requests } = await serve((response, request) => {
      const { messages } = request.body as { messages: readonly unknown[] }
      const one =
        messages.length > 3
          ? call('diagnose', { diagnosis: 'Influenza' })
          : call('ask_patient', { question: 'Do you cough?' })
      const message = { role: 'assistant', content: null, tool_calls: [one] }
      json({ choices: [{ message, finish_reason: 'tool_calls' }] })(response, request)
    })
    const doctor = ['evaluate', '--agent', 'chat', '--base-url', baseURL, '--cases', '2']
    const flag = await evaluation([...doctor, '--model', 'd', '--grammar', 'tools'])
    const named = settings('doctor.model=d', 'doctor.grammar=tools')
    const recipe = await evaluation([...doctor, ...named])
    for (const { stops, turns } of [flag, recipe]) expect([stops.diagnosed, turns]).toEqual([2, 2])
    expect(requests).toHaveLength(8)
    for (const { body } of requests) expect(body.tools).toHaveLength(3)
  })

  test('is recorded, and played again from the recording without a server', async () => {
    const server = await serve(json({}, 500), json({}, 500), json({}, 500), speak)
    const file = join(folder, 'cassette.jsonl')
    const play = (name: string, mode: string) =>
      evaluation([
        ...[...chatFlags(server.baseURL), '--cases', '6', '--out', join(folder, name)],
        ...settings(`cassette.file=${file}`, `cassette.mode=${mode}`, 'doctor.max-retries=0'),
      ])
    const first = await play('recorded', 'record')
    // Three of the first six calls meet a 500 each.
    expect([first.faults, first.episodes]).toEqual([{ server: 3 }, 3])
    server.close()
    const asked = server.requests.length
    const again = await play('replayed', 'strict')
    expect({ ...again, timing: 0 }).toEqual({ ...first, timing: 0 })
    expect(server.requests).toHaveLength(asked)
    // Another question than those of the recording ends the run at once.
    const other = ['--cases', '6', '--seed', '5', ...settings(`cassette.file=${file}`)]
    const refused = await bedside([
      ...[...chatFlags(server.baseURL), ...other, ...settings('cassette.mode=strict')],
      ...['--out', join(folder, 'refused')],
    ])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('it has no reply')])
    const episodes = (name: string) => lines(join(folder, name, 'episodes.jsonl'))
    expect(await episodes('replayed')).toEqual(await episodes('recorded'))
  })

  test('what lost most of its consultations has failed, report and all; played again, it has not', async () => {
    let fails = true
    let asked = 0
    // Every fourth consultation is answered: never so many in a row are lost that nothing more is tried.
    const server = await chatServer((response, request) => {
      const answered = completion('Diagnosis: Influenza')
      const handler: Handler =
        fails && asked++ % 4 > 0 ? json({ error: { message: 'no' } }, 400) : answered
      return handler(response, request)
    })
    open.push(server.close)
    const out = join(folder, 'mostly-lost')
    const argv = ['evaluate', '--agent', 'chat', '--model', 'd', '--base-url', server.baseURL]
    const lost = await bedside([
      ...argv,
      '--cases',
      '8',
      '--concurrency',
      '1',
      '--out',
      out,
      '--json',
    ])
    expect(JSON.parse(lost.stdout)).toMatchObject({ episodes: 2, faults: { refused: 6 } })
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining(`--resume ${out}`)])
    fails = false
    const whole = await bedside(['evaluate', '--resume', out, '--json'])
    expect(JSON.parse(whole.stdout)).toMatchObject({ episodes: 8, unavailable: 0 })
    expect(whole.code).toBe(0)
  })

  test('a budget stops it, what is done is kept, and it goes on from there', async () => {
    const { baseURL } = await serve(speak)
    const out = join(folder, 'spent')
    const stopped = await bedside([
      ...[...chatFlags(baseURL), '--cases', '6', '--concurrency', '1', '--out', out],
      ...settings('budget.tokens=120'),
    ])
    expect(stopped.code).toBe(1)
    expect(stopped.stderr).toContain('the budget of 120 tokens is spent')
    expect(stopped.stderr).toContain(`--resume ${out}`)
    // Five calls a case, of ten tokens each.
    expect(await lines(join(out, 'episodes.jsonl'))).toHaveLength(2)
    const rest = await evaluation(['evaluate', '--resume', out, ...settings('budget.tokens=10000')])
    expect(rest).toMatchObject({ episodes: 6, usage: { doctor: { promptTokens: 18 * 7 + 7 } } })
  })

  test('a third of the requests failing in every way: nothing is made up', async () => {
    const faults: readonly Handler[] = [
      ...[json({}, 500), json({}, 429, { 'retry-after': '0.01' }), reset, stall, drip],
      ...[raw('{"choices":[{'), completion(null), json({ error: { message: 'busy' } })],
      json({ text: said }),
    ]
    let asked = 0
    const { baseURL } = await serve((response, request) => {
      const n = asked++
      const fault = n % 3 === 0 ? faults[(n / 3) % faults.length] : undefined
      ;(fault ?? speak)(response, request)
    })
    const out = join(folder, 'faulty')
    const quick = (role: string) =>
      settings(`${role}.timeout-ms=1200`, `${role}.backoff-ms=2`, `${role}.max-retries=2`)
    const report = await evaluation([
      ...[...chatFlags(baseURL), '--cases', '40', '--concurrency', '16', '--out', out],
      ...[...quick('doctor'), ...quick('patient')],
    ])
    const lost = Object.values(report.faults ?? {}).reduce((sum, count) => sum + count, 0)
    expect(report.episodes + lost).toBe(40)
    expect(report.episodes).toBeGreaterThan(0)
    expect(report.usage.doctor?.retries).toBeGreaterThan(10)
    for await (const { episode } of readSavedEpisodes(join(out, 'episodes.jsonl')))
      for (const { action, outcome } of episode.turns)
        if (action.kind === 'ask') expect(outcome).toEqual({ kind: 'answered', text: said })
  })

  test.each([
    ['models.doctor.model', ['--agent', 'chat'], 'models.doctor.model=NAME'],
    [
      'a URL',
      ['--agent', 'chat', ...settings('doctor.model=m', 'doctor.base-url=host')],
      'baseUrl',
    ],
    ['another path', ['--agent', 'random', '--set', 'cases.tier=hard'], 'models.…=value'],
    [
      'a key',
      ['--agent', 'random', ...settings('judge.model=m', 'judge.api-key-env=sk-1-2')],
      '[hidden]',
    ],
    [
      'no key',
      ['--agent', 'random', ...settings('judge.model=m', 'judge.api-key-env=NO_SUCH_KEY')],
      'NO_SUCH_KEY',
    ],
    [
      'a price',
      [
        '--agent',
        'random',
        ...settings('judge.model=m', 'judge.base-url=http://h', 'budget.money=1'),
      ],
      'models.prices',
    ],
    [
      'a recording',
      ['--agent', 'random', ...settings('cassette.file=none.jsonl', 'cassette.mode=strict')],
      'found none',
    ],
  ])('what is wrong with %s is said before anything is asked', async (_, flags, says) => {
    const { code, stderr } = await bedside(['evaluate', ...flags, '--cases', '2'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(stderr).not.toContain('sk-1-2')
  })
})

test('rewards score asks the judge that is named, and says what it used', async () => {
  const out = join(folder, 'judged')
  await document(['evaluate', '--agent', 'oracle', '--cases', '3', '--out', out])
  const { baseURL, requests } = await serve(completion('0.25'))
  const scored = await document([
    ...['rewards', 'score', out, '--reward', 'grpodx-head'],
    ...settings('judge.model=j', `judge.base-url=${baseURL}`),
  ])
  expect(requests.length).toBeGreaterThan(0)
  expect(requests.every(({ body }) => body.model === 'j')).toBe(true)
  expect(scored).toMatchObject({
    ...{ episodes: 3, unavailable: 0 },
    usage: { judge: { calls: requests.length, failed: 0, cost: null } },
  })
})

test('rewards that verify an answer ask the model of the judge, for a verdict or for its log-probs', async () => {
  const out = join(folder, 'verified')
  await document(['evaluate', '--agent', 'complaint-only', '--cases', '4', '--out', out])
  const by = [
    'rewards',
    'score',
    out,
    '--reward',
    'verified-answer',
    '--reward',
    'doctor-agent-ppo-parity',
  ]
  const mean = async (...more: readonly string[]) =>
    (await document([...by, ...more])) as { reward: { mean: number } } // with --json it is one
  const rule = await mean()
  const logprobs = {
    content: [
      {
        token: 'True',
        logprob: -0.1,
        top_logprobs: [
          { token: 'True', logprob: Math.log(0.3) },
          { token: 'False', logprob: Math.log(0.7) },
        ],
      },
    ],
  }
  const message = { role: 'assistant', content: 'True' }
  const choices = [{ index: 0, finish_reason: 'stop', message, logprobs }]
  const { baseURL, requests } = await serve(
    json({ choices, usage: { prompt_tokens: 9, completion_tokens: 1 } }),
  )
  const model = settings('judge.model=j', `judge.base-url=${baseURL}`)
  expect(rule.reward.mean).toBeLessThan(1)
  expect(await mean(...model)).toMatchObject({ reward: { mean: 1 } })
  const asked = requests.length
  expect(asked).toBeGreaterThan(0)
  // .3 is not above the threshold of .5, and above .2.
  expect(await mean(...model, ...settings('judge.verifier=logprobs'))).toMatchObject({
    reward: rule.reward,
  })
  expect(requests.at(-1)?.body).toMatchObject({ logprobs: true })
  const low = by.map((one) => (one === 'verified-answer' ? 'verified-answer:threshold=0.2' : one))
  expect(await document([...low, ...model, ...settings('judge.verifier=logprobs')])).toMatchObject({
    reward: { mean: 1 },
  })
})

/** What a patient does not know can be read; each time it is said otherwise. */
const unsure = (n: number): string => `I'm not sure${'!'.repeat(n)}`

describe('train with models', () => {
  const recipe = [
    ...['--clinic', 'upper-airway', '--cases', '4', '--steps', '2'],
    ...['evaluateCases=4', 'evaluateEvery=2', 'groupsPerStep=2', 'groupSize=3'].flatMap((one) => [
      ...['--set', `training.${one}`],
    ]),
  ]

  test('a model plays the patient; siblings hear the same, and the report has its usage', async () => {
    let [asked, spoken] = [new Set<string>(), 0]
    const { baseURL } = await serve((response, request) => {
      asked.add(JSON.stringify(request.body))
      completion(unsure(++spoken))(response, request)
    })
    const out = join(folder, 'trained')
    const report = await document([
      ...['train', ...recipe, '--out', out, '--set', 'training.episodesEvery=1'],
      ...settings('patient.model=p', `patient.base-url=${baseURL}`),
    ])
    expect(report).toMatchObject({ usage: { patient: { calls: spoken, failed: 0, cost: null } } })
    // No request was sent twice, though the model never says the same twice.
    expect(asked.size).toBe(spoken)
    const usage = JSON.parse(await readFile(join(out, 'usage.json'), 'utf8'))
    expect(usage.patient.calls).toBe(spoken)
  })

  test('a recorded run is trained again without a server, to the same weights', async () => {
    let spoken = 0
    const server = await serve((response, request) =>
      completion(unsure(++spoken))(response, request),
    )
    const run = async (name: string, mode: string) => {
      const out = join(folder, name)
      await document([
        ...['train', ...recipe, '--out', out],
        ...settings('patient.model=p', `patient.base-url=${server.baseURL}`),
        ...settings(`cassette.file=${join(folder, 'train.jsonl')}`, `cassette.mode=${mode}`),
      ])
      const metrics = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trimEnd().split('\n')
      const timeless = metrics.map((line) => ({ ...JSON.parse(line), seconds: 0 }))
      return [timeless, await weights(out, 2), await readFile(join(out, 'usage.json'), 'utf8')]
    }
    const recorded = await run('train-recorded', 'record')
    server.close()
    expect(await run('train-replayed', 'strict')).toEqual(recorded)
    expect(server.requests).toHaveLength(spoken)
  })

  test('a budget ends it with what is done, to go on with', async () => {
    const { baseURL } = await serve(completion(unsure(0)))
    const { code, stderr } = await bedside([
      ...['train', ...recipe, '--out', join(folder, 'broke')],
      ...settings('patient.model=p', `patient.base-url=${baseURL}`, 'budget.tokens=300'),
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('the budget of 300 tokens is spent')
    expect(stderr).toContain('--resume')
  })
})
