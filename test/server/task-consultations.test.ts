import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { namedGrammar } from '../../src/agents/grammars/named.js'
import { evaluationSeeds } from '../../src/seed.js'
import { taskConsultations } from '../../src/server/task-consultations.js'
import { startTokenPlay } from '../../src/server/token-play.js'
import { task } from '../../src/tasks/task.js'
import { openChatTokenizer } from '../../src/trainers/tokens/chat-tokenizer.js'

const chatml = fileURLToPath(new URL('../fixtures/tokenizers/chatml', import.meta.url))
const limits = { maxTokens: 8, contextLength: 8192 }

test('the consultations of a recipe: clients choose the case alone, and what was played is recorded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bedside-record-'))
  try {
    const record = join(folder, 'a', 'record.jsonl')
    const played = await task({
      preset: 'takes-two',
      clinic: ['upper-airway'],
      heldOut: 2,
      maxTurns: 2,
    })
    const grammar = namedGrammar('takes-two')
    const consultations = taskConsultations(played, { grammar, seed: 3, record })
    await expect(consultations.open({ tier: 'hard' })).rejects.toThrow(
      /recipe says the rest, got `tier`/,
    )
    await expect(consultations.open({ split: 'heldout', index: 2 })).rejects.toThrow(/below 2/)
    const tokenizer = await openChatTokenizer(chatml)
    const options = { split: 'heldout', index: 1 } as const
    const { signal } = new AbortController()
    const session = await startTokenPlay(consultations, tokenizer, {
      options,
      limits,
      draws: [],
      signal,
    })
    for (let next = session.next; !next.done; ) {
      const [stop = 0] = next.stop
      const drawn = {
        index: next.index,
        tokens: [stop],
        logprobs: [-1],
        policyVersion: 5 + next.index,
      }
      next = await session.draw(drawn, signal)
      // Asked for again, it is answered as before, and recorded once.
      expect(await session.draw(drawn, signal)).toBe(next)
    }
    const lines = (await readFile(record, 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(1)
    const truth = played.heldOut[1]
    const line = JSON.parse(lines[0] ?? '')
    expect(line).toMatchObject({ split: 'heldout', index: 1, version: 6, turns: 2, forks: 0 })
    expect(line.seed).toBe(evaluationSeeds(3, truth?.id ?? '').envSeed)
    expect(line.episode.caseId).toBe(truth?.id)
    expect(line.scores.accuracy.total).toBe(0)
    await session.close()
  } finally {
    await rm(folder, { recursive: true })
  }
})
