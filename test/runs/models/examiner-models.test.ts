/** The exam simulators that a recipe's model plays: how they are named, asked and paid, and what their failures do. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { scripted } from '../../../src/agents/scripted.js'
import { evaluate } from '../../../src/evaluation/evaluate.js'
import { openRoleModels } from '../../../src/runs/models/role-models.js'
import { parseRecipe } from '../../../src/runs/recipe.js'
import { taskOf } from '../../../src/runs/task-of-recipe.js'
import type { Task } from '../../../src/tasks/task.js'
import { chatServer, completion, type Handler, json } from '../../fixtures/chat-server.js'

type Server = Awaited<ReturnType<typeof chatServer>>

const open: Server[] = []
async function serve(...handlers: readonly Handler[]): Promise<Server> {
  const server = await chatServer(...handlers)
  open.push(server)
  return server
}
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

/** A completion server: a result that depends on the prompt. */
const results: Handler = (response, { path, body }) => {
  if (path !== '/v1/completions') return json({ error: 'no such route' }, 404)(response, never)
  const text = ` Value: ${String(body.prompt).length}; Units: mmol/L`
  json({
    choices: [{ text, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 4 },
  })(response, never)
}
/** Handlers of JSON read no request. */
const never = { path: '', body: {}, headers: {} }

const recipeText = (baseURL: string, more = '', exams = '[record, diaggym, knowledge]') => `
cases: { heldOut: 4 }
env: { exams: ${exams} }
models: { examiner: { model: EHRGenerator, base-url: '${baseURL}', max-retries: 0${more} } }
`

/** Two examinations that no knowledge base has, and one that the case records. */
const doctor = scripted([
  { kind: 'order', exam: 'serum selenium' },
  { kind: 'order', exam: 'serum zinc' },
  { kind: 'order', exam: 'CBC' },
  { kind: 'diagnose', diagnosis: 'flu' },
])

async function evaluated(text: string, set: readonly string[] = []) {
  const recipe = parseRecipe(text, 'r.yaml', set)
  using models = openRoleModels(recipe.models)
  const task: Task = await taskOf(recipe, {
    ...{ chats: models.chats, completions: models.completions, examiners: models.examiners },
  })
  const episodes: unknown[] = []
  const report = await evaluate(task, doctor, {
    references: false,
    concurrency: 1,
    onPlayed: ({ episode }) => episodes.push(episode),
  }).catch((error: Error) => error)
  return { report, episodes, usage: models.ledger.used() }
}

describe('the exam simulators of a model', () => {
  test('are asked over completions, counted as the examiner, and named in the episode', async () => {
    const server = await serve(results)
    const { report, episodes, usage } = await evaluated(recipeText(server.baseURL))
    expect(report).toMatchObject({ episodes: 4, unavailable: 0 })
    expect(server.requests).toHaveLength(8)
    expect(server.requests[0]).toMatchObject({
      path: '/v1/completions',
      body: { model: 'EHRGenerator', temperature: 0, max_tokens: 512 },
    })
    expect(server.requests[0]?.body.stop).toEqual(['<SEP>', '<endoftext>'])
    expect(usage.examiner).toMatchObject({ calls: 8, promptTokens: 88, completionTokens: 32 })
    expect(episodes[0]).toMatchObject({
      turns: [
        { facts: { exams: ['serum selenium'], simulatedBy: ['diaggym'] } },
        { facts: { exams: ['serum zinc'], simulatedBy: ['diaggym'] } },
        { facts: { ordered: 'resulted' } },
        {},
      ],
    })
    expect(JSON.stringify(episodes).match(/simulatedBy/g)).toHaveLength(8)
  })

  test('replay from a cassette with the server gone, to the same bytes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bedside-examiner-'))
    const file = join(folder, 'replies.jsonl')
    const server = await serve(results)
    const cassette = (mode: string) =>
      `${recipeText(server.baseURL).replace(/ \}\n$/, '')}, cassette: { file: '${file}', mode: ${mode} } }\n`
    const first = await evaluated(cassette('record'))
    server.close()
    const again = await evaluated(cassette('strict'))
    expect(JSON.stringify(again.episodes)).toBe(JSON.stringify(first.episodes))
    expect(again.report).toEqual(first.report)
    expect(readFileSync(file, 'utf8').match(/"role":"examiner"/g)).toHaveLength(8)
    rmSync(folder, { recursive: true })
  })

  test.each<[string, Handler, string]>([
    ['fails', json({ error: { message: 'out of memory' } }, 500), 'server'],
    ['is no completion server', json({ detail: 'Not Found' }, 404), 'refused'],
    ['answers as a chat server', completion('All normal.'), 'unparsable'],
    [
      'answers prose',
      json({ choices: [{ text: "I'm sorry, I cannot do that.", finish_reason: 'stop' }] }),
      'unparsable',
    ],
  ])('a server that %s loses the consultation, and is never a finding', async (_, bad, kind) => {
    // The first consultation goes well, so that there is a report.
    const server = await serve(results, results, bad)
    const { report, episodes } = await evaluated(recipeText(server.baseURL))
    expect(report).toMatchObject({ episodes: 1, unavailable: 3, faults: { [kind]: 3 } })
    expect(episodes.filter(Boolean)).toHaveLength(1)
  })

  test('draw as in the release by the name of the release', async () => {
    const server = await serve(results)
    await evaluated(recipeText(server.baseURL, '', '[diaggym-parity]'))
    expect(server.requests).toHaveLength(12)
    for (const { body } of server.requests) {
      expect(body.temperature).toBe(1)
      expect(body.prompt).toContain('Final Diagnosis:\n')
    }
    expect(server.requests[2]?.body.prompt).toMatch(
      /serum selenium[\s\S]*serum zinc[\s\S]*CBC\nExam results:\n$/,
    )
  })

  test('take the settings of the recipe', async () => {
    const server = await serve(results)
    await evaluated(recipeText(server.baseURL, ', temperature: 0.5, max-tokens: 64, draws: true'))
    expect(server.requests[0]?.body).toMatchObject({
      ...{ temperature: 0.5, max_tokens: 64, logprobs: 0, return_token_ids: true },
    })
    expect(server.requests[0]?.body.seed).toEqual(expect.any(Number))
  })
})

describe('a recipe that names a simulator by a model', () => {
  test('needs the model', () => {
    expect(() => parseRecipe('env: { exams: [record, diaggym] }', 'r.yaml')).toThrow(
      'models.examiner: expected the model of env.exams `diaggym` (model, base-url)',
    )
  })

  test('is told what to set where a program or a flag names one', async () => {
    await expect(taskOf(parseRecipe('', 'r.yaml'), { exams: ['diaggym'] })).rejects.toThrow(
      '--exams (env.exams): `diaggym` needs the model that plays it: set models.examiner (model, base-url)',
    )
  })
})
