/** Published environments from the command line: which doctor meets whom, and what a broken simulator does. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Episode } from '../../../src/episode.js'
import type { Evaluation } from '../../../src/evaluation/evaluate.js'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { chatServer, completion, type Handler, json } from '../../fixtures/chat-server.js'
import { bedside, document } from '../terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-published-'))
})
afterAll(() => rm(folder, { recursive: true }))
const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const order = (exam: string): string =>
  `Current diagnosis: flu\nBased on the patient's initial presentation, the following investigation(s) should be performed: ${exam}\nReason: fever`
const conclude =
  'The available information is sufficient to make a diagnosis.\n\nDiagnosis: influenza\nReason: fever'

/** A DiagAgent over chat, and a DiagGym over completions. */
const play =
  (simulate: Handler): Handler =>
  (response, request) => {
    if (request.path.endsWith('/completions') && !request.path.includes('/chat/'))
      return simulate(response, request)
    const { messages } = request.body as { messages: readonly unknown[] }
    completion(messages.length > 3 ? conclude : order('Serum selenium'))(response, request)
  }
const result = json({
  choices: [{ text: 'Value: 1.1; Units: umol/L', finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10 },
})

async function serve(handler: Handler) {
  const server = await chatServer(handler)
  open.push(server.close)
  return server
}

const diagagent = (url: string): readonly string[] => [
  ...['evaluate', '--env', 'diagagent', '--agent', 'chat', '--model', 'd', '--base-url', url],
  ...['--exams', 'record,diaggym', '--cases', '3'],
  ...['--set', 'models.examiner.model=EHRGenerator', '--set', `models.examiner.base-url=${url}`],
  ...['--set', 'models.examiner.max-retries=0'],
]

describe('--env', () => {
  test('plays DiagAgent with its grammar and its history, against DiagGym', async () => {
    const { baseURL, requests } = await serve(play(result))
    const out = join(folder, 'diagagent')
    const report = (await document([...diagagent(baseURL), '--out', out])) as Evaluation
    expect(report).toMatchObject({ episodes: 3, unavailable: 0, exams: 1, questions: 0 })
    expect(report.usage?.examiner).toMatchObject({ failed: 0, cost: null })
    const asked = requests.filter(({ path }) => path.includes('/chat/'))
    const [system, user] = (asked[0]?.body.messages ?? []) as readonly { content: string }[]
    expect(system?.content).toContain('at most 12')
    expect(user?.content).toMatch(/- Chief Complaint: .*\n- History of Present Illness: /)
    // Floor and ceiling play too, and order what they like.
    const prompts = requests.flatMap(({ path, body }) =>
      path.includes('/chat/') ? [] : body.prompt,
    )
    const ours = prompts.filter((prompt) =>
      /Exam name:\nSerum selenium\nExam results:\n$/.test(String(prompt)),
    )
    expect(ours).toHaveLength(3)
    for await (const { episode } of readSavedEpisodes(join(out, 'episodes.jsonl'))) {
      expect(episode.turns[0]?.facts).toMatchObject({
        ...{ exams: ['serum selenium'], simulatedBy: ['diaggym'], unread: ['told'] },
      })
      expect(episode.turns[0]?.outcome).toEqual({
        ...{ kind: 'examined', text: 'Serum selenium: Value: 1.1; Units: umol/L' },
      })
    }
  })

  test('loses what a broken simulator breaks, and plays it again when it works', async () => {
    let left = 1
    const { baseURL } = await serve(
      play((response, request) =>
        (left-- > 0 ? result : json({ error: { message: 'out of memory' } }, 500))(
          response,
          request,
        ),
      ),
    )
    const out = join(folder, 'broken')
    const argv = [...diagagent(baseURL), '--concurrency', '1', '--out', out]
    const first = await bedside([...argv, '--json'])
    expect(JSON.parse(first.stdout)).toMatchObject({
      ...{ episodes: 1, unavailable: 2, faults: { server: 2 } },
    })
    expect(first.stderr).toContain(`evaluate --resume ${out}`)
    left = 1000
    const report = (await document(['evaluate', '--resume', out])) as Evaluation
    expect(report).toMatchObject({ episodes: 3, unavailable: 0 })
  })

  test('plays GRPODx in five turns, without examinations', async () => {
    const argv = ['consult', '--env', 'grpodx', '--agent', 'oracle']
    const { turns, maxTurns, budget } = (await document(argv)) as Episode
    expect(maxTurns).toBe(5)
    // More than all examinations cost.
    expect(budget.money).toBeGreaterThan(5 * 1000)
    expect(turns.every(({ action }) => action.kind !== 'order')).toBe(true)
  })

  test('says what a released simulator needs, and which names there are', async () => {
    const parity = await bedside(['consult', '--env', 'diagagent-parity', '--agent', 'oracle'])
    expect(parity).toMatchObject({ code: 2 })
    expect(parity.stderr).toMatch(/`diaggym-parity` needs the model .* set models\.examiner/)
    const wrong = await bedside(['consult', '--env', 'takestwo', '--agent', 'oracle'])
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toMatch(/takes-two/)
  })
})
