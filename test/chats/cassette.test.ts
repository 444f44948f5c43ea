import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Chat, Message } from '../../src/chat.js'
import { type CassetteMode, openCassette } from '../../src/chats/cassette.js'
import { ModelFault } from '../../src/chats/model-fault.js'
import { memoryStore, shareReplies } from '../../src/chats/shared-replies.js'
import { Fault } from '../../src/error.js'

const usage = { promptTokens: 3, completionTokens: 2 }
const ask = (content: string): readonly Message[] => [{ role: 'user', content }]
const by = { role: 'patient', model: 'm', sampling: { temperature: 0.5 } }

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bedside-cassette-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A model that says how often it was asked, in `mode` over a cassette. */
function tape(mode: CassetteMode, { role = by, secrets = [] as string[], says = 'reply' } = {}) {
  const cassette = openCassette({ file: join(folder, 'c.jsonl'), mode, secrets })
  const asked: string[] = []
  const model: Chat = async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    asked.push(messages[0]?.content ?? '')
    if (messages[0]?.content === 'fail') throw new ModelFault('timeout', 'late', { retries: 2 })
    return { text: `${says} ${asked.length}`, usage }
  }
  return { cassette, asked, chat: shareReplies(model, role, cassette) }
}
const text = () => readFileSync(join(folder, 'c.jsonl'), 'utf8')

describe('a cassette', () => {
  test('replays what it recorded, with the usage, and asks nothing', async () => {
    const first = tape('record')
    const said = [await first.chat(ask('b'), { seed: 1 }), await first.chat(ask('a'), { seed: 1 })]
    first.cassette.close()
    const again = tape('strict')
    expect([
      await again.chat(ask('b'), { seed: 1 }),
      await again.chat(ask('a'), { seed: 1 }),
    ]).toEqual(said)
    expect(again.asked).toEqual([])
  })

  test('is the same file, whatever order the replies came in', async () => {
    const first = tape('record', { says: 'x' })
    await Promise.all(['b', 'a', 'c'].map((q) => first.chat(ask(q))))
    first.cassette.close()
    const lines = text().trim().split('\n')
    expect(lines[0]).toBe('{"cassette":1}')
    expect(lines.slice(1).map((line) => JSON.parse(line).asked)).toEqual(['a', 'b', 'c'])
    const again = tape('replay')
    await again.chat(ask('c'))
    again.cassette.close()
    expect(text().trim().split('\n')).toEqual(lines)
  })

  test.each([
    ['seed', ask('a'), { seed: 2 }, by],
    ['stop string', ask('a'), { seed: 1, stop: ['x'] }, by],
    ['message', ask('b'), { seed: 1 }, by],
    ['model', ask('a'), { seed: 1 }, { ...by, model: 'n' }],
    ['temperature', ask('a'), { seed: 1 }, { ...by, sampling: { temperature: 0 } }],
    ['role', ask('a'), { seed: 1 }, { ...by, role: 'judge' }],
  ])('has no reply for another %s, and says so', async (_, messages, options, role) => {
    const first = tape('record')
    await first.chat(ask('a'), { seed: 1 })
    first.cassette.close()
    const again = tape('strict', { role })
    await expect(again.chat(messages, options)).rejects.toMatchObject({
      code: 'no-recording',
      message: expect.stringContaining('has no reply'),
    })
    expect(again.asked).toEqual([])
  })

  test('in mode replay asks for what it lacks, and keeps it', async () => {
    const first = tape('record')
    await first.chat(ask('a'))
    first.cassette.close()
    const more = tape('replay')
    await more.chat(ask('a'))
    await more.chat(ask('b'))
    more.cassette.close()
    expect(more.asked).toEqual(['b'])
    const again = tape('strict')
    await again.chat(ask('b'))
    expect(again.cassette.size).toBe(2)
  })

  test('in mode record asks again', async () => {
    const [first, second] = [tape('record', { says: 'old' }), tape('record', { says: 'new' })]
    await first.chat(ask('a'))
    first.cassette.close()
    expect((await second.chat(ask('a'))).text).toBe('new 1')
    second.cassette.close()
    expect((await tape('strict').chat(ask('a'))).text).toBe('new 1')
  })

  test('replays a fault as the fault it was, and asks again where it may', async () => {
    const first = tape('record')
    const fault = { kind: 'timeout', retries: 2, message: 'late' }
    await expect(first.chat(ask('fail'))).rejects.toMatchObject(fault)
    await expect(first.chat(ask('fail'))).rejects.toMatchObject(fault)
    expect(first.asked).toEqual(['fail'])
    first.cassette.close()
    await expect(tape('strict').chat(ask('fail'))).rejects.toMatchObject(fault)
    const later = tape('replay')
    await expect(later.chat(ask('fail'))).rejects.toMatchObject(fault)
    expect(later.asked).toEqual(['fail'])
  })

  test.each(['strict', 'replay'] as const)(
    'of another prompt version is a clear error in mode %s',
    async (mode) => {
      const first = tape('record')
      await first.chat(ask('a'), { prompt: 'chat-patient/1' })
      first.cassette.close()
      const again = tape(mode)
      await expect(again.chat(ask('a, reworded'), { prompt: 'chat-patient/2' })).rejects.toThrow(
        /prompt `chat-patient\/2`.*got those to `chat-patient\/1`/,
      )
      expect(again.asked).toEqual([])
    },
  )

  test('holds no key: neither one it is told of nor one that looks like it', async () => {
    const told = 'local-key-0001'
    const alike = `sk-${'a1'.repeat(12)}`
    const first = tape('record', { secrets: [told], says: `${told} ${alike}` })
    const reply = await first.chat(ask(`keys ${told}, ${alike}`))
    first.cassette.close()
    expect(text()).not.toContain(told)
    expect(text()).not.toContain(alike)
    // The recording run itself goes on with what a replay will hear.
    expect(reply.text).toBe('[key] [key] 1')
  })

  test('of a process that died keeps every whole line', async () => {
    const first = tape('record')
    await first.chat(ask('a'))
    appendFileSync(join(folder, 'c.jsonl'), '{"role":"pat')
    const again = tape('replay')
    expect((await again.chat(ask('a'))).text).toBe('reply 1')
    await again.chat(ask('b'))
    again.cassette.close()
    expect(tape('strict').cassette.size).toBe(2)
  })

  test('that is none is refused, with its place', async () => {
    expect(() => tape('strict')).toThrow(/expected a recording, found none/)
    writeFileSync(join(folder, 'c.jsonl'), 'hello\n')
    expect(() => tape('replay')).toThrow(/expected a cassette.*hello/)
    writeFileSync(join(folder, 'c.jsonl'), '{"cassette":1}\n{"role":"patient"}\n')
    expect(() => tape('replay')).toThrow(/c\.jsonl:2/)
  })
})

describe('shared replies', () => {
  /** A model that never says the same twice. */
  function fickle() {
    let asked = 0
    const model: Chat = async (_, { signal } = {}) => {
      const n = ++asked
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (signal?.aborted) throw new Fault('aborted', 'aborted')
      return { text: `reply ${n}`, usage }
    }
    return { chat: shareReplies(model, by, memoryStore()), asked: () => asked }
  }

  test('are the same for all who ask the same, at once or later; one of them pays', async () => {
    const { chat, asked } = fickle()
    const now = await Promise.all([1, 2, 3].map(() => chat(ask('a'), { seed: 1 })))
    const later = await chat(ask('a'), { seed: 1 })
    expect([...now, later].map((one) => one.text)).toEqual(Array(4).fill('reply 1'))
    expect([...now, later].filter((one) => !one.reused)).toHaveLength(1)
    await chat(ask('a'), { seed: 2 })
    expect(asked()).toBe(2)
  })

  test('one that is aborted leaves the others to ask again', async () => {
    const { chat, asked } = fickle()
    const abort = new AbortController()
    const first = chat(ask('a'), { signal: abort.signal })
    const second = chat(ask('a'))
    abort.abort()
    await expect(first).rejects.toMatchObject({ code: 'aborted' })
    expect((await second).text).toBe('reply 2')
    expect(asked()).toBe(2)
  })

  test('are heard by a listener too', async () => {
    const { chat } = fickle()
    await chat(ask('a'))
    const heard: string[] = []
    await chat(ask('a'), { onText: (piece) => void heard.push(piece) })
    expect(heard).toEqual(['reply 1'])
  })

  test('are forgotten, the oldest first, when there are too many', async () => {
    let asked = 0
    const model: Chat = async () => ({ text: `${++asked}`, usage })
    const store = memoryStore(2)
    const chat = shareReplies(model, by, store)
    for (const q of ['a', 'b', 'c', 'c', 'b', 'a']) await chat(ask(q))
    expect([asked, store.forgotten]).toEqual([4, 2])
  })
})
