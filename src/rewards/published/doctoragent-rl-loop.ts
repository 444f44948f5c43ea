/** Parity with DoctorAgent-RL's released episode loop: its turn-by-turn rewards, bugs included. */
import type { Episode, EpisodeTurn } from '../../episode.js'
import { strip } from '../text/python-text.js'
import { countSubstring, rawReply, readAnswerTag, readLabels } from './doctoragent-rl-texts.js'

/** An exchange accepted so far; the released code keeps the doctor's words as it parsed them. */
export interface LoopExchange {
  readonly doctor: string
  readonly patient: string
}

/** Rules in which the three environments differ. */
export interface LoopRules {
  /** Reward of a reply in an invalid form. */
  readonly invalid: number
  /** Whether a question must have exactly one question mark, or costs 2. */
  readonly oneMark: boolean
  /**
   * Handling of "Diagnosis" without its colon: it is put to the patient even past the turn limit, treated as a
   * question, or ignored.
   */
  readonly unlabelled: 'put' | 'question' | 'nothing'
  /** Whether an episode at its turn limit ends for good. */
  readonly absorbing: boolean
  /** Whether replies that were not accepted are kept in the history too. */
  readonly remembersAll: boolean
  /** Reward of a question that reached the patient; it also adds the question to the history. */
  readonly ask: (
    question: string,
    turn: EpisodeTurn,
    history: LoopExchange[],
  ) => number | Promise<number>
}

/** Limits of the released loop. */
export interface LoopLimits {
  /** Number of generations of the training loop; it caps the episode's own turn limit. */
  readonly loop: number
  /** Whether no other episode is in the batch. */
  readonly alone: boolean
}

/** Result of the released loop over an episode. */
export interface LoopResult {
  /** Sum of the rewards of the turns. */
  readonly turns: number
  /** The same by turn of the episode. */
  readonly paid: readonly number[]
  /** The doctor's final diagnosis; absent without one. */
  readonly commitment?: { readonly diagnosis: string; readonly recommendation?: string }
  readonly history: readonly LoopExchange[]
}

const stateStart = '<start-state>'
const stateEnd = '<end-state>'
/** The value of `re.DOTALL`, which the released code passes as the count. */
const maxStatesRemoved = 16

/** Cleans up a reply like the loop: later answer tags lose their brackets, forged states are cut out. */
function cleanReply(reply: string): string {
  let text = reply
  const start = text.indexOf('<answer>')
  const end = start < 0 ? -1 : text.indexOf('</answer>', start)
  if (end >= 0) text = text.slice(0, end + 9) + removeAnswerTags(text.slice(end + 9))
  for (let cut = 0; cut < maxStatesRemoved; cut++) {
    const from = text.indexOf(stateStart)
    const to = from < 0 ? -1 : text.indexOf(stateEnd, from + stateStart.length)
    if (to < 0) return text
    text = text.slice(0, from) + text.slice(to + stateEnd.length)
  }
  return text
}

/** Removes the tags of each answer pair, found from left to right. */
function removeAnswerTags(text: string): string {
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

/** Reads the action of a cleaned reply; undefined for an invalid form. */
function readAction(text: string): string | undefined {
  const answer = readAnswerTag(text)
  if (answer === undefined || countSubstring(text, '</answer>') !== 1) return undefined
  const rest = text.slice(text.indexOf('</answer>') + 9)
  // Python's `$` also matches before a final line break.
  if (rest !== '' && rest !== '\n' && !rest.startsWith('<|im_end|>')) return undefined
  const action = strip(answer)
  return action === 'No question.' ? undefined : action
}

const countQuestionMarks = (text: string): number =>
  countSubstring(text, '?') + countSubstring(text, '？')

type Commitment = NonNullable<LoopResult['commitment']>
type ActionVerdict = 'invalid' | 'ignored' | 'limit' | 'marks' | 'question' | Commitment

function classifyAction(
  action: string | undefined,
  late: boolean,
  rules: LoopRules,
): ActionVerdict {
  if (action === undefined) return 'invalid'
  const diagnosing = action.includes('Diagnosis')
  const { diagnosis, recommendation } = diagnosing ? readLabels(action) : {}
  if (diagnosis !== undefined)
    return recommendation === undefined ? { diagnosis } : { diagnosis, recommendation }
  if (diagnosing && rules.unlabelled === 'nothing') return 'ignored'
  if (late && !(diagnosing && rules.unlabelled === 'put')) return 'limit'
  return rules.oneMark && countQuestionMarks(action) !== 1 ? 'marks' : 'question'
}

/**
 * Replays an episode through the released loop. While another episode of the batch goes on and the limit is not
 * absorbing, an episode at its limit is asked again every other step, with an empty reply between; a doctor without
 * turns left then is assumed to continue without a diagnosis.
 */
export async function replayLoop(
  { turns: played, maxTurns }: Episode,
  { loop, alone }: LoopLimits,
  rules: LoopRules,
): Promise<LoopResult> {
  const costs = { invalid: rules.invalid, ignored: 0, limit: -5, marks: -2 }
  const budget = Math.min(maxTurns, loop)
  const history: LoopExchange[] = []
  const paid: number[] = played.map(() => 0)
  let turns = 0
  let next = 0
  let active = true
  /** What the loop pays an episode that is over already goes to its last turn. */
  const pay = (amount: number): void => {
    turns += amount
    const at = Math.min(next, played.length) - 1
    if (at >= 0) paid[at] = (paid[at] ?? 0) + amount
  }
  for (let count = 1; count <= loop && (active || !alone); count++) {
    const turn: EpisodeTurn | undefined = active ? played[next++] : undefined
    // An episode that ended early in a way unknown to the released loop is over.
    if (active && !turn && count <= budget) break
    const text = turn ? cleanReply(rawReply(turn, { tagged: true })) : ''
    const action = readAction(text)
    const verdict: ActionVerdict =
      active && !turn ? 'limit' : classifyAction(action, count >= budget, rules)
    if (typeof verdict === 'object') return { turns, paid, history, commitment: verdict }
    active = verdict !== 'limit'
    if (verdict !== 'question') {
      pay(costs[verdict])
      if (rules.remembersAll && verdict !== 'ignored') history.push({ doctor: text, patient: '' })
    } else if (turn && action !== undefined) pay(await rules.ask(action, turn, history))
    if (verdict === 'limit' && rules.absorbing) break
  }
  return { turns, paid, history }
}
