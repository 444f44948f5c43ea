import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TinyModelShape } from '../../../../src/cli/commands/sidecar/make-tiny-model.js'
import { makeTinyModel, tinyCorpus } from '../../../../src/cli/commands/sidecar/make-tiny-model.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import { parseRecipe } from '../../../../src/runs/recipe.js'
import { openChatTokenizer } from '../../../../src/trainers/tokens/chat-tokenizer.js'
import { checkTemplate } from '../../../../src/trainers/tokens/template-check.js'
import { describeWithPython, pythonOf } from '../../../fixtures/python.js'
import { bedside } from '../../terminal.js'

const recipe = (language: 'en' | 'zh') =>
  parseRecipe('', 'test', [`language=${language}`, 'cases.clinic=[tiredness]', 'cases.heldOut=1'])

const small: TinyModelShape = { vocab: 900, layers: 1, width: 32, heads: 2, kvHeads: 1 }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-tiny-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = []
  for await (const item of items) out.push(item)
  return out
}

const made = (out: string, shape: TinyModelShape = small, language: 'en' | 'zh' = 'en') =>
  makeTinyModel({
    ...{ recipe: recipe(language), cases: 12, shape },
    ...{ out: join(folder, out), python: pythonOf('sidecar') ?? '' },
  })

/** Every file of a model folder by name. */
const filesOf = async (out: string) =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(join(folder, out))).map(
        async (name) => [name, (await readFile(join(folder, out, name))).toString('hex')] as const,
      ),
    ),
  )

describe('the corpus of a tiny model', () => {
  test('names every disease, examination and finding, in the language of the recipe alone', async () => {
    for (const language of ['en', 'zh'] as const) {
      const texts = await all(tinyCorpus({ recipe: recipe(language), cases: 3 }))
      const { diseases, exams, findings } = loadKnowledge()
      for (const { name } of [...diseases, ...exams, ...findings])
        expect(texts.filter((text) => text === name[language]).length).toBeGreaterThanOrEqual(2)
      expect(texts.some((text) => /\p{Script=Han}/u.test(text))).toBe(language === 'zh')
    }
  })

  test('holds both sides of as many consultations as asked for, the same every time', async () => {
    const corpus = (cases: number) => all(tinyCorpus({ recipe: recipe('en'), cases }))
    const five = await corpus(5)
    expect(five.filter((text) => text.startsWith('Patient: ')).length).toBeGreaterThanOrEqual(5)
    expect(five.filter((text) => text.includes('Complaint: '))).toHaveLength(5 + 2)
    expect(await corpus(5)).toEqual(five)
  })
})

describeWithPython('a tiny model', 'sidecar', () => {
  test('is made of the same bytes again, and of others by another seed', async () => {
    const { parameters } = await made('first')
    expect(parameters).toBeGreaterThan(30_000)
    expect((await made('again')).parameters).toBe(parameters)
    expect(await filesOf('again')).toEqual(await filesOf('first'))
    const options = { recipe: recipe('en'), cases: 12, shape: small, seed: 1 }
    await makeTinyModel({
      ...options,
      out: join(folder, 'other'),
      python: pythonOf('sidecar') ?? '',
    })
    const [first, other] = [await filesOf('first'), await filesOf('other')]
    expect(other['tokenizer.json']).toBe(first['tokenizer.json'])
    expect(other['model.safetensors']).not.toBe(first['model.safetensors'])
  })

  for (const pieces of ['words', 'phrases'] as const)
    test(`has a tokenizer of ${pieces} that gives back any text, and a template that only appends`, async () => {
      const out = `${pieces}-zh`
      await made(out, { ...small, pieces }, 'zh')
      const tokenizer = await openChatTokenizer(join(folder, out))
      const texts = [
        '您发烧吗？没有发烧。',
        'Do you have a fever?\n',
        '👩🏽‍⚕️ 🤒 ×10⁹/L µg',
        ' <|im_end|> x',
        '\u0000',
      ]
      for (const text of texts)
        expect(tokenizer.decode(tokenizer.encode(text, { special: false }))).toBe(text)
      expect(tokenizer.ends.map((id) => tokenizer.decode([id]))).toEqual([
        '<|im_end|>',
        '<|endoftext|>',
      ])
      expect([...tokenizer.controls.values()].every((id) => id < 900)).toBe(true)
      expect(await checkTemplate(join(folder, out))).toMatchObject({
        ok: true,
        seams: 0,
        refused: [],
      })
    })

  test('reads a name of its world as few tokens', async () => {
    await made('names', { ...small, vocab: 2048 })
    const tokenizer = await openChatTokenizer(join(folder, 'names'))
    const { diseases } = loadKnowledge()
    const lengths = diseases.map(({ name }) => {
      const text = `Diagnosis: ${name.en}`
      return tokenizer.encode(text, { special: false }).length / text.split(/[ -]/).length
    })
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4)
  })

  test('is refused where the sizes do not fit, and nothing is left', async () => {
    await expect(made('refused', { width: 1024, layers: 8 })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(/at most 50,000,000 parameters, got [\d,]{10}/),
    })
    expect(existsSync(join(folder, 'refused'))).toBe(false)
  })

  test('is made by the command, quiet but for the result', async () => {
    const out = join(folder, 'quiet')
    const sizes = '--consultations 3 --vocab 900 --layers 1 --width 32 --heads 2 --kv-heads 1'
    const argv = ['sidecar', 'tiny-model', '--out', out, ...sizes.split(' '), '--quiet', '--json']
    const { code, stdout, stderr } = await bedside(argv)
    expect(code).toBe(0)
    expect(stderr).toBe(`${out}: 41 thousand parameters, random weights\n`)
    expect(JSON.parse(stdout)).toMatchObject({ out, parameters: expect.any(Number) })
  })

  test('is refused where something lies already', async () => {
    await mkdir(join(folder, 'taken'))
    await writeFile(join(folder, 'taken', 'config.json'), '{}')
    await expect(made('taken')).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(/taken: expected no folder, or an empty one/),
    })
    expect(await readdir(join(folder, 'taken'))).toEqual(['config.json'])
  })
})

describeWithPython('the sizes of a tiny model', 'sidecar', (run) => {
  test('are checked, and a corpus is read to the line', () => {
    const shape = (sizes: object) => ({ shape: sizes })
    const given = [
      shape({ width: 30, heads: 4 }),
      shape({ heads: 4, kv_heads: 3 }),
      shape({ vocab: 100 }),
      shape({ init_range: 0 }),
      shape({ layers: 0 }),
      { corpus: '{"text": "a"}\n\n{"txt": "b"}\n' },
      { corpus: '{"text": 1}' },
      { corpus: 'a' },
      { corpus: '\n' },
    ]
    expect(run('tiny_model_refusals.py', given)).toEqual([
      'Expected a width that 4 heads share in even parts, got 30',
      'Expected kv-heads that divide 4 heads, got 3',
      'Expected a vocab of at least 261, all bytes and controls, got 100',
      'Expected init-range above 0, got 0',
      'Expected layers of at least 1, got 0',
      'corpus.jsonl:3: expected {"text": "…"}, got {"txt": "b"}',
      'corpus.jsonl:1: expected {"text": "…"}, got {"text": 1}',
      'corpus.jsonl:1: expected {"text": "…"}, got a',
      'corpus.jsonl: expected lines of {"text": "…"}, got none',
    ])
  })
})

const messages = [
  { role: 'system', content: 'You are the doctor.' },
  { role: 'user', content: '您发烧吗？ I feel hot 🤒' },
] as const

describeWithPython('a tiny model in transformers', 'sidecar', (run) => {
  test('is read whole, with the same ids as in TypeScript', { timeout: 120_000 }, async () => {
    const untied = [false, true]
    const folders = untied.map((own) => join(folder, `read-${own}`))
    const models = []
    for (const own of untied) models.push(await made(`read-${own}`, { ...small, untied: own }))
    const tokenizer = await openChatTokenizer(join(folder, 'read-true'))
    expect(run('tiny_model_read.py', { folders, messages })).toEqual(
      models.map(({ parameters }, i) => ({
        architecture: 'Qwen3ForCausalLM',
        missing: [],
        unexpected: [],
        parameters,
        tied: !untied[i],
        ids: tokenizer.encodeChat(messages, { addGenerationPrompt: true }),
        ends: tokenizer.ends,
        vocabulary: 900,
      })),
    )
  })
})
