import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Message } from '../../src/chat.js'
import { humanChat } from '../../src/chats/human-chat.js'

/** A person at a pipe. */
function person(script: string) {
  const input = new PassThrough()
  const output = new PassThrough()
  input.end(script)
  const chat = humanChat({ input, output, other: 'Doctor: ', prompt: 'You> ' })
  return { chat, printed: () => String(output.read() ?? '') }
}

const system: Message = { role: 'system', content: 'You cough.' }
const asked = (content: string): Message => ({ role: 'user', content })

test('is told the rules once, and each time what was said last', async () => {
  const { chat, printed } = person('\n  \nYes.\nNo.\n')
  const first = [system, asked('Do you \u001b[2Jcough?')]
  expect((await chat(first)).text).toBe('Yes.')
  expect(printed()).toBe('\nYou cough.\n\nDoctor: Do you [2Jcough?\nYou> \nYou>   \nYou> Yes.\n')
  const second = [...first, { role: 'assistant', content: 'Yes.' } as const, asked('Fever?')]
  expect(await chat(second)).toEqual({
    text: 'No.',
    usage: { promptTokens: 0, completionTokens: 0 },
  })
  expect(printed()).toBe('\nDoctor: Fever?\nYou> No.\n')
})

test('the end of the input is no answer', async () => {
  const { chat } = person('')
  await expect(chat([asked('Fever?')])).rejects.toMatchObject({ code: 'component-failed' })
})

test('an abort ends the wait', async () => {
  const { chat } = { chat: humanChat({ input: new PassThrough(), output: new PassThrough() }) }
  await expect(chat([asked('Fever?')], { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
    code: 'aborted',
  })
})
