import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkTemplate } from '../../../src/trainers/tokens/template-check.js'
import { folderOf, open } from './conversation.js'

test('finds the ChatML family append-only', async () => {
  const check = await checkTemplate(folderOf('chatml'))
  expect(check).toMatchObject({
    ok: true,
    firstDifference: null,
    families: ['chatml'],
    forks: 0,
    seams: 0,
  })
  expect(check.refused).toEqual([])
  expect(check.conversations.map(({ name }) => name)).toContain('replies cut by length')
})

test('shows where the Llama-like template trims a reply, and that it does nothing else', async () => {
  const check = await checkTemplate(folderOf('llama'))
  const { decode } = await open('llama')
  expect(check).toMatchObject({ ok: false, families: ['llama'] })
  expect(check.conversations.filter(({ forks }) => forks > 0)).toEqual([
    { name: 'replies that end in a line break', forks: 2 },
  ])
  const { firstDifference } = check
  expect(firstDifference).toMatchObject({
    conversation: 'replies that end in a line break',
    turn: 0,
    reason: 'history',
    expected: { text: '?\n' },
    got: { text: '?' },
  })
  for (const token of [firstDifference?.expected, firstDifference?.got])
    expect(decode([token?.id ?? -1])).toBe(token?.text)
  expect(firstDifference?.text).toContain('fever?<|eot_id|>')
})

test('shows where the Qwen-like template drops reasoning', async () => {
  const check = await checkTemplate(folderOf('qwen'))
  expect(check).toMatchObject({ ok: false, families: ['chatml', 'qwen-think'] })
  expect(check.firstDifference).toMatchObject({
    conversation: 'replies with reasoning',
    reason: 'history',
    expected: { text: '<think>' },
  })
  // The second reply is drawn from a prompt that has been forked already, and forks again.
  expect(check.conversations.filter(({ forks }) => forks > 0)).toEqual([
    { name: 'replies with reasoning', forks: 2 },
  ])
})

describe('a template', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bedside-check-'))
    await cp(folderOf('llama'), folder, { recursive: true })
  })
  afterAll(() => rm(folder, { recursive: true }))

  const check = async (template: string) => {
    await writeFile(join(folder, 'chat_template.jinja'), template)
    return checkTemplate(folder)
  }
  const line = '{{ m.role }}: {{ m.content }}{{ eos_token }}'

  test('that refuses system messages is held to the other conversations', async () => {
    const found = await check(
      `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system') }}{% endif %}${line}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`,
    )
    expect(found).toMatchObject({ ok: true, families: ['other'] })
    expect(found.refused.map(({ name }) => name)).toContain('system message')
    for (const { message } of found.refused) expect(message).toMatch(/No system$/)
    expect(found.conversations.length + found.refused.length).toBe(12)
  })

  test('without control tokens may leave seams, which are no forks', async () => {
    await writeFile(join(folder, 'tokenizer_config.json'), '{}')
    const found = await check(
      "{% for m in messages %}{{ m.role + ':\\n' + m.content + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant:\\n' }}{% endif %}",
    )
    expect(found).toMatchObject({ ok: true, forks: 0 })
    expect(found.seams).toBeGreaterThan(0)
  })

  test('that renders nothing is bad input', async () => {
    await expect(check("{{ raise_exception('Never') }}")).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(
        /chat_template\.jinja: expected a template that renders .*Never/,
      ),
    })
  })

  test('that shows only the last message differs from the first id on', async () => {
    const found = await check(`{% for m in messages[-1:] %}${line}{% endfor %}`)
    expect(found.ok).toBe(false)
    expect(found.firstDifference).toMatchObject({ conversation: 'no system message', turn: 0 })
    expect(found.forks).toBeGreaterThan(20)
  })
})
