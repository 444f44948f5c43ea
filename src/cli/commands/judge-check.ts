/** `bedside rewards judge-check`: a judge against a labelled set. */
import { z } from 'zod'
import { openaiChat } from '../../chats/openai.js'
import { Fault } from '../../error.js'
import { checkJudge, type JudgeCheck, type LabelledRequest } from '../../evaluation/judge-check.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { cachedJudge } from '../../rewards/judges/cached-judge.js'
import { chatJudge } from '../../rewards/judges/chat-judge.js'
import type { Judge } from '../../rewards/judges/judge.js'
import { jury } from '../../rewards/judges/jury.js'
import type { PublishedPrompts } from '../../rewards/judges/published-prompts.js'
import { ruleJudge } from '../../rewards/judges/rule-judge.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import { parseJson, readLines, refuseArray } from '../../storage/compressed-lines.js'
import { functionProblem, isModule, loadModule } from '../../tasks/modules.js'
import { output, type PrintFlags, type Terminal, table } from '../print/output.js'
import { startProgress } from '../print/progress.js'

interface JudgeCheckFlags extends PrintFlags {
  readonly judge?: readonly string[]
  readonly model?: readonly string[]
  readonly baseUrl?: string
  readonly prompts?: 'own' | PublishedPrompts
  readonly temperature?: number
  readonly votes?: number
  readonly swap?: boolean
  readonly asks?: number
  readonly concurrency?: number
  readonly seed?: number
}

const texts = { reference: z.string(), answer: z.string() }
const verdict = z.enum(['Correct', 'Wrong'])
const Labelled = z.discriminatedUnion('task', [
  z.strictObject({ task: z.literal('same-diagnosis'), ...texts, label: verdict }),
  z.strictObject({
    task: z.literal('similarity'),
    of: z.enum(['diagnosis', 'recommendation']),
    ...texts,
    label: z.int().min(0).max(5),
  }),
  z.strictObject({
    task: z.literal('count-matched'),
    items: z.array(z.string()),
    list: z.array(z.string()),
    itemsAre: z.enum(['ordered', 'required']).exactOptional(),
    label: z.int().min(0),
  }),
])

/** Reads a labelled set, one request with its `label` a line. @throws Fault `bad-input` with file, line and path */
async function* readLabelled(path: string): AsyncGenerator<LabelledRequest> {
  let number = 0
  let task: string | undefined
  for await (const line of readLines(path)) {
    number += 1
    if (line.trim() === '') continue
    refuseArray(line.trimStart(), 'request', path)
    const where = `${path}:${number}`
    const parsed = Labelled.safeParse(parseJson(line, where))
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      throw new Fault('bad-input', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
    }
    const { label, ...request } = parsed.data
    task ??= request.task
    if (request.task !== task)
      throw new Fault(
        'bad-input',
        `${where}: task: expected one task in a labelled set, \`${task}\` as before, got \`${request.task}\``,
      )
    yield { request, label: String(label) }
  }
}

async function openJudge(name: string): Promise<Judge> {
  const knowledge = loadKnowledge()
  if (name === 'rule') return ruleJudge({ knowledge, formulary: formularyOf(knowledge) })
  if (!isModule(name))
    throw new Fault(
      'bad-input',
      `--judge: expected rule, or a module (.mjs) that exports \`judge\`, got \`${name}\`; --model names a chat model`,
    )
  const module = await loadModule(name, '--judge')
  const problem = functionProblem(module.judge)
  if (problem !== undefined)
    throw new Fault('bad-input', `--judge ${name}: export \`judge\`: ${problem}`)
  const ask = module.judge as Judge // its replies are read like any judge's
  return Object.assign((...given: Parameters<Judge>) => ask(...given), {
    judgeName: ask.judgeName ?? name,
  })
}

/** The judge of the flags: several of `--judge` and `--model` are a panel. */
async function judgeOf(flags: JudgeCheckFlags): Promise<Judge> {
  const { model = [], baseUrl, prompts = 'own', votes = 1, swap = false, asks } = flags
  const { judge: names = model.length > 0 ? [] : ['rule'], temperature } = flags
  const models = model.map((name) => {
    const chat = openaiChat({ model: name, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) })
    return chatJudge({ chat, name, prompts, ...(temperature === undefined ? {} : { temperature }) })
  })
  const panel = [...(await Promise.all(names.map(openJudge))), ...models]
  const [only] = panel
  const one =
    panel.length === 1 && votes === 1 && !swap && only
      ? only
      : jury(panel, { votes, swap, ...(asks === undefined ? {} : { asks }) })
  return cachedJudge(one)
}

const percent = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(1)} %`

const interval = (
  ci95: readonly [number, number] | null,
  format: (end: number) => string,
): string => (ci95 === null ? '' : ` [${format(ci95[0])}, ${format(ci95[1])}]`)

function checkText(report: JudgeCheck): string {
  const { judge, n, accuracy, agreement, kappa, weightedKappa, confusion, byLabel } = report
  const two = (value: number): string => value.toFixed(2)
  const kappaText = ({ value, ci95 }: JudgeCheck['kappa']): string =>
    value === null ? '– (chance alone agrees always)' : `${two(value)}${interval(ci95, two)}`
  const answers = Object.keys(Object.values(confusion)[0] ?? {})
  const rows = Object.entries(confusion).map(([label, counts]) => [
    label,
    ...answers.map((given) => String(counts[given] ?? 0)),
    String(byLabel[label]?.unavailable ?? 0),
    percent(byLabel[label]?.agreement ?? null),
  ])
  return [
    `${n} requests to ${judge}; brackets are 95 % intervals`,
    '',
    table(
      [
        ['accuracy', percent(accuracy.mean) + interval(accuracy.ci95, percent)],
        ['agreement', percent(agreement.mean) + interval(agreement.ci95, percent)],
        ['kappa', `${kappaText(kappa)}, n ${kappa.n}`],
        ...(weightedKappa ? [['weighted kappa', kappaText(weightedKappa)]] : []),
        ['without an answer', `${report.unavailable}, ${report.unreadable} of them unreadable`],
      ],
      { words: 2 },
    ),
    '',
    table([['label', ...answers, 'no answer', 'agreement'], ...rows]),
  ].join('\n')
}

/** Asks the judge all requests, with a progress display. */
async function runCheck(
  judge: Judge,
  requests: readonly LabelledRequest[],
  flags: JudgeCheckFlags,
  terminal: Terminal,
): Promise<JudgeCheck> {
  const { seed = 0, asks, concurrency = 8, quiet = false } = flags
  const bar = await startProgress(terminal, { label: 'judging', total: requests.length, quiet })
  async function* given() {
    yield* requests
  }
  try {
    return await checkJudge(judge, given(), {
      ...{ seed, concurrency, signal: terminal.signal },
      ...(asks === undefined ? {} : { asks }),
      onChecked: (done) => bar.update(done),
    })
  } finally {
    bar.stop()
  }
}

/**
 * Prints how a judge agrees with a labelled set.
 * @throws Fault `bad-input` for an invalid file, line or judge; `component-failed` where there was no answer at all
 */
export async function checkJudgeCommand(
  path: string,
  flags: JudgeCheckFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const requests: LabelledRequest[] = []
  for await (const one of readLabelled(path)) requests.push(one)
  if (requests.length === 0)
    throw new Fault('bad-input', `${path}: expected labelled requests, found none`)
  const report = await runCheck(await judgeOf(flags), requests, flags, terminal)
  const { trouble, ...document } = report
  if (report.unavailable === requests.length)
    throw new Fault(
      'component-failed',
      `${path}: none of ${requests.length} requests was answered; the first: ${trouble}`,
    )
  if (trouble !== undefined)
    await out.note(`${report.unavailable} without an answer; the first: ${trouble}`)
  return out.show(checkText(report), document)
}
