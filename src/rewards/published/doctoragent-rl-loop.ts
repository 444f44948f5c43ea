/** The episode loop of DoctorAgent-RL as released: what its environments pay a doctor turn by turn, faults included. */
import { countOf, readLabels, strip, withinAnswer } from './doctoragent-rl-texts.js'

/** A turn as the released environment sees it: the doctor's raw reply, and what the world behind it holds. */
export interface Step<T> {
  readonly reply: string
  readonly turn: T
}

/** What was accepted so far; the released code keeps the doctor's words as it read them. */
export interface Remembered {
  readonly doctor: string
  readonly patient: string
}

/** In what the three environments differ. */
export interface Rules<T> {
  /** For a reply whose form is not the asked one. */
  readonly invalid: number
  /** Whether a question has exactly one question mark, or costs 2. */
  readonly oneMark: boolean
  /**
   * What becomes of "Diagnosis" without its colon: it is put to the patient even past the turn limit, it is taken for a
   * question, or nothing comes of it at all.
   */
  readonly unlabelled: 'put' | 'question' | 'nothing'
  /** Whether the turn limit is an end that stays. */
  readonly absorbing: boolean
  /** Whether replies that were not accepted are remembered too. */
  readonly remembersAll: boolean
  /** What a question that reached the patient earns; it is remembered by who answers it. */
  readonly ask: (question: string, turn: T, history: Remembered[]) => number | Promise<number>
}

export interface LoopOptions {
  /** The environment's own turn limit. */
  readonly budget: number
  /** Generations of the training loop. */
  readonly loop: number
  /** No other episode is in the batch. */
  readonly alone: boolean
}

export interface Walked {
  /** Σ over turns of what they earn. */
  readonly turns: number
  /** What the doctor ended with; absent without a diagnosis. */
  readonly commitment?: { readonly diagnosis: string; readonly recommendation?: string }
  readonly history: readonly Remembered[]
}

const stateStart = '<start-state>'
const stateEnd = '<end-state>'
/** `re.DOTALL`, given in the place of the count. */
const mostStates = 16

/** A reply after the loop's clean-up: later answer tags lose their brackets, forged states are cut out. */
function cleaned(reply: string): string {
  let text = reply
  const start = text.indexOf('<answer>')
  const end = start < 0 ? -1 : text.indexOf('</answer>', start)
  if (end >= 0) text = text.slice(0, end + 9) + unbracketed(text.slice(end + 9))
  for (let cut = 0; cut < mostStates; cut++) {
    const from = text.indexOf(stateStart)
    const to = from < 0 ? -1 : text.indexOf(stateEnd, from + stateStart.length)
    if (to < 0) return text
    text = text.slice(0, from) + text.slice(to + stateEnd.length)
  }
  return text
}

/** Text with the brackets of each answer pair taken off, the pairs found from left to right. */
function unbracketed(text: string): string {
  let kept = ''
  let at = 0
  for (;;) {
    const start = text.indexOf('<answer>', at)
    const end = start < 0 ? -1 : text.indexOf('</answer>', start + 8)
    if (end < 0) return kept + text.slice(at)
    kept += text.slice(at, start) + text.slice(start + 8, end)
    at = end + 9
  }
}

/** What the doctor does, of a cleaned reply; undefined where its form is not the asked one. */
function actionIn(text: string): string | undefined {
  const answer = withinAnswer(text)
  if (answer === undefined || countOf(text, '</answer>') !== 1) return undefined
  const rest = text.slice(text.indexOf('</answer>') + 9)
  // Python's `$` also stands before a last line break.
  if (rest !== '' && rest !== '\n' && !rest.startsWith('<|im_end|>')) return undefined
  const action = strip(answer)
  return action === 'No question.' ? undefined : action
}

const marksIn = (text: string): number => countOf(text, '?') + countOf(text, '？')

type Commitment = NonNullable<Walked['commitment']>
type Verdict = 'invalid' | 'ignored' | 'limit' | 'marks' | 'question' | Commitment

/** What the environment makes of an action, in the released order of its checks. */
function verdictOn(action: string | undefined, late: boolean, rules: Rules<never>): Verdict {
  if (action === undefined) return 'invalid'
  const diagnosing = action.includes('Diagnosis')
  const { diagnosis, recommendation } = diagnosing ? readLabels(action) : {}
  if (diagnosis !== undefined)
    return recommendation === undefined ? { diagnosis } : { diagnosis, recommendation }
  if (diagnosing && rules.unlabelled === 'nothing') return 'ignored'
  if (late && !(diagnosing && rules.unlabelled === 'put')) return 'limit'
  return rules.oneMark && marksIn(action) !== 1 ? 'marks' : 'question'
}

/**
 * Walks an episode as the loop does. Where another episode goes on and the limit is no end that stays, an episode at its
 * limit is asked again every other step, with an empty reply between; a doctor whose turns have run out by then is taken
 * to go on without a diagnosis.
 */
export async function walk<T>(
  steps: readonly Step<T>[],
  { budget, loop, alone }: LoopOptions,
  rules: Rules<T>,
): Promise<Walked> {
  const costs = { invalid: rules.invalid, ignored: 0, limit: -5, marks: -2 }
  const history: Remembered[] = []
  let turns = 0
  let next = 0
  let active = true
  for (let count = 1; count <= loop && (active || !alone); count++) {
    const step: Step<T> | undefined = active ? steps[next++] : undefined
    // An episode that ended early in a way the released loop does not know is over.
    if (active && !step && count <= budget) break
    const text = step ? cleaned(step.reply) : ''
    const action = actionIn(text)
    const verdict: Verdict = active && !step ? 'limit' : verdictOn(action, count >= budget, rules)
    if (typeof verdict === 'object') return { turns, history, commitment: verdict }
    active = verdict !== 'limit'
    if (verdict !== 'question') {
      turns += costs[verdict]
      if (rules.remembersAll && verdict !== 'ignored') history.push({ doctor: text, patient: '' })
    } else if (step && action !== undefined) turns += await rules.ask(action, step.turn, history)
    if (verdict === 'limit' && rules.absorbing) break
  }
  return { turns, history }
}
