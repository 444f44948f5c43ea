import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tokenizer } from '@huggingface/tokenizers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/chat.js'
import { openChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import { fc } from '../../fixtures/property.js'
import { asUtf8, families, folderOf, open, text } from './conversation.js'

const ask: readonly Message[] = [
  { role: 'system', content: 'You are a doctor.' },
  { role: 'user', content: 'I have a headache.' },
]

describe.each(families)('the %s tokenizer', (family) => {
  test('gives back every text it encodes', async () => {
    const tokenizer = await open(family)
    fc.assert(
      fc.property(text, (written) => {
        for (const special of [true, false])
          expect(tokenizer.decode(tokenizer.encode(written, { special }))).toBe(asUtf8(written))
      }),
    )
  })

  test('makes control tokens of spelt ones only where it is told to', async () => {
    const tokenizer = await open(family)
    const controls = new Set(tokenizer.controls.values())
    expect(controls.size).toBeGreaterThanOrEqual(3)
    for (const [control, id] of tokenizer.controls) {
      expect(tokenizer.encode(control, { special: true })).toEqual([id])
      expect(tokenizer.encode(control, { special: false })).not.toContain(id)
    }
    fc.assert(
      fc.property(text, (written) => {
        const ids = tokenizer.encode(written, { special: false })
        expect(ids.filter((id) => controls.has(id))).toEqual([])
      }),
    )
  })

  test('never lets the world write a control token, alone or with its neighbours', async () => {
    const tokenizer = await open(family)
    const controls = new Set(tokenizer.controls.values())
    const count = (messages: readonly Message[]) =>
      tokenizer.encodeChat(messages, { addGenerationPrompt: true }).filter((id) => controls.has(id))
    const said = (system: string, user: string): Message[] => [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ]
    const plain = count(said('x', 'x'))
    fc.assert(
      fc.property(text, text, (system, user) => {
        expect(count(said(system, user))).toEqual(plain)
      }),
      { numRuns: 200 },
    )
  })

  test('encodes harmless messages as the whole rendered text at once', async () => {
    const tokenizer = await open(family)
    const rendered = tokenizer.render(ask, { addGenerationPrompt: true })
    expect(tokenizer.encodeChat(ask, { addGenerationPrompt: true })).toEqual(
      tokenizer.encode(rendered, { special: true }),
    )
  })

  test('ends a turn with what its template puts there', async () => {
    const tokenizer = await open(family)
    const end = family === 'llama' ? '<|eot_id|>' : '<|im_end|>'
    expect(tokenizer.ends).toEqual([tokenizer.controls.get(end)])
  })
})

test('renders what the templates of the three families say', async () => {
  const [chatml, llama] = await Promise.all([open('chatml'), open('llama')])
  expect(chatml.render(ask, { addGenerationPrompt: true })).toBe(
    '<|im_start|>system\nYou are a doctor.<|im_end|>\n<|im_start|>user\nI have a headache.<|im_end|>\n<|im_start|>assistant\n',
  )
  expect(llama.render(ask.slice(1), { addGenerationPrompt: false })).toBe(
    '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nI have a headache.<|eot_id|>',
  )
})

test('gives the template the variables it is opened with', async () => {
  const tokenizer = await openChatTokenizer(folderOf('qwen'), {
    variables: { enable_thinking: false },
  })
  expect(tokenizer.render(ask, { addGenerationPrompt: true })).toMatch(
    /assistant\n<think>\n\n<\/think>\n\n$/,
  )
})

test('leaves the spaces before punctuation where they were', async () => {
  const tokenizer = await open('chatml')
  const written = "I do n't know , doctor ."
  expect(tokenizer.decode(tokenizer.encode(written, { special: false }))).toBe(written)
})

test('reads ids that no token has as nothing, and no ids as an empty text', async () => {
  const tokenizer = await open('chatml')
  expect(tokenizer.decode([])).toBe('')
  expect(tokenizer.decode([1_000_000])).toBe('')
  const hello = tokenizer.encode('Hello', { special: false })
  expect(tokenizer.decode([1_000_000, ...hello])).toBe('Hello')
})

test('the library still has types under this module resolution', () => {
  const typed: 0 extends 1 & Tokenizer ? 'any' : 'typed' = 'typed'
  expect(typed).toBe('typed')
})

describe('a folder', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bedside-tokenizer-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** The Llama-like folder with some files replaced, or taken away. */
  async function variant(name: string, files: Readonly<Record<string, string | null>>) {
    const path = join(folder, name)
    await cp(folderOf('llama'), path, { recursive: true })
    for (const [file, content] of Object.entries(files))
      if (content === null) await rm(join(path, file))
      else await writeFile(join(path, file), content)
    return path
  }

  const refuses = (name: string, files: Readonly<Record<string, string | null>>, said: RegExp) =>
    test(`${name} is bad input`, async () => {
      const path = await variant(name.replaceAll(' ', '-'), files)
      await expect(openChatTokenizer(path)).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringMatching(said),
      })
    })

  refuses('without tokenizer', { 'tokenizer.json': null }, /expected a tokenizer folder/)
  refuses('without template', { 'chat_template.jinja': null }, /expected a chat template, in chat/)
  refuses('with broken JSON', { 'tokenizer.json': '{"a":' }, /tokenizer\.json: expected valid JSON/)
  refuses('with a list', { 'tokenizer_config.json': '[]' }, /config\.json: expected a JSON object/)
  refuses('with half a tokenizer', { 'tokenizer.json': '{"added_tokens":[]}' }, /tokenizer\.json: /)
  refuses(
    'with a token without id',
    { 'tokenizer.json': '{"added_tokens":[{"content":"<s>"}]}' },
    /added_tokens\[0\]: expected .* got `\{"content":"<s>"\}`/,
  )
  refuses(
    'with an unknown eos',
    { 'tokenizer_config.json': '{"eos_token":"</s>"}' },
    /eos_token: expected a token of the vocabulary, got `<\/s>`/,
  )
  refuses(
    'with a template that is none',
    { 'chat_template.jinja': '{% for %}' },
    /chat_template\.jinja: expected a Jinja chat template/,
  )

  test('whose template throws is bad input that repeats what it says', async () => {
    const path = await variant('strict', {
      'chat_template.jinja': "{{ raise_exception('System role not supported') }}",
    })
    const tokenizer = await openChatTokenizer(path)
    expect(() => tokenizer.render(ask, { addGenerationPrompt: true })).toThrowError(
      expect.objectContaining({
        code: 'bad-input',
        message: expect.stringMatching(/jinja: .* roles system, user: System role not supported/),
      }),
    )
  })

  test('may keep its template in the config, by name, and its end in generation_config.json', async () => {
    const template = "{{ bos_token }}{% for m in messages %}[{{ m['content'] }}]{% endfor %}"
    const path = await variant('named', {
      'chat_template.jinja': null,
      'tokenizer_config.json': JSON.stringify({
        bos_token: { content: '<|begin_of_text|>' },
        chat_template: [
          { name: 'tool_use', template: 'x' },
          { name: 'default', template },
        ],
      }),
      'generation_config.json': '{"eos_token_id":[7,9]}',
    })
    const tokenizer = await openChatTokenizer(path)
    expect(tokenizer.render(ask, { addGenerationPrompt: true })).toBe(
      '<|begin_of_text|>[You are a doctor.][I have a headache.]',
    )
    expect(tokenizer.ends).toEqual([7, 9])
  })

  test('is told a day that does not pass, reads CRLF as LF, and writes JSON as Python does', async () => {
    const path = await variant('dated', {
      'chat_template.jinja':
        "{% if tools is none %}\r\n{{ strftime_now('%d %b %Y') }}\r\n{% endif %}{{ {'a': [1, 'é']} | tojson }}",
    })
    const rendered = async (options?: { readonly date: string }) =>
      (await openChatTokenizer(path, options)).render(ask, { addGenerationPrompt: true })
    expect(await rendered()).toBe('01 Jan 2025\n{"a": [1, "é"]}')
    expect(await rendered({ date: '2024-07-26' })).toBe('26 Jul 2024\n{"a": [1, "é"]}')
    await expect(rendered({ date: 'today' })).rejects.toThrow(
      'Expected `date` to be a day like 2025-01-31, got `today`',
    )
  })
})
