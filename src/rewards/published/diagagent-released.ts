/**
 * How the released code of DiagAgent reads a consultation and its judge's replies: the whole transcript, the world's
 * words included, by substrings. Facts of the repository MAGIC-AI4Med/DiagGym at commit bc49719.
 */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { Fault } from '../../error.js'
import type { RewardContext } from '../../reward.js'
import type { Judge } from '../judges/judge.js'

/** What ends a consultation there, and what its reward looks for. */
const finish = 'The available information is sufficient to make a diagnosis'
/** The most replies of a doctor, and the count of turns of every consultation that ended, however it did. */
export const releasedTurns = 12

/** A reply in the published grammar, for a doctor who acts without writing. */
function writtenAs({ action }: EpisodeTurn): string {
  switch (action.kind) {
    case 'order':
      return `Current diagnosis: …\nThe following investigation(s) should be performed: ${action.exam}\nReason: …`
    case 'diagnose':
      return `${finish}.\n\nDiagnosis: ${action.diagnosis}\nReason: …`
    case 'ask':
    case 'invalid':
      return action.text
    case 'give-up':
      return ''
  }
}

/** The examination ordered: behind a marker in the second line, without any dot; undefined where there is none. */
function orderedIn(reply: string): string | undefined {
  const line = reply.split('\n')[1] ?? ''
  const marker = ['needed:', 'performed:'].find((text) => line.includes(text))
  return marker && line.split(marker)[1]?.replaceAll('.', '').trim()
}

/** What the reward manager makes of an entry of the history. */
const listedAs = (exam: string): string =>
  (`Exam name:\n${exam}`.split('Exam results:')[0] ?? '').split('Exam name:')[1]?.trim() ?? ''

/** What the reward is computed on. */
export interface ReleasedReading {
  /** Every reply and every result, one behind the other. */
  readonly transcript: string
  /** Every examination ordered, repeats included. */
  readonly exams: readonly string[]
}

/**
 * Reads the replies as its rollout does: until one concludes, one orders nothing that can be read, or there are
 * twelve. A reply is the text as written, or the action in the published grammar; a question that was never written
 * as text has no counterpart where there is no patient, and is passed over.
 */
export function readReleased({ turns }: Episode): ReleasedReading {
  const exams: string[] = []
  let transcript = ''
  let replies = 0
  for (const turn of turns) {
    if (turn.text === undefined && turn.action.kind === 'ask') continue
    const reply = turn.text ?? writtenAs(turn)
    transcript += `${replies === 0 ? '' : 'assistant\n'}${reply}`
    replies++
    const exam = reply.includes(`${finish}.`) ? undefined : orderedIn(reply)
    if (exam === undefined) break
    exams.push(listedAs(exam))
    const { outcome } = turn
    transcript += `user\nHere is the test result: ${outcome.kind === 'closed' ? '' : outcome.text}`
    if (replies === releasedTurns) break
  }
  return { transcript, exams }
}

/** No list of examinations is this long, so no count is. */
export const mostCounted = 1_000_000

/** The first integer of a reply, whatever it counts; 0 where there is none. */
function firstInteger(reply: string): number {
  // Python's figures are those of any script; the full-width ones are those a judge may write.
  const count = Number(/\p{Nd}+/u.exec(reply)?.[0].normalize('NFKC') ?? 0)
  if (count <= mostCounted) return count
  throw new Fault('model-unreadable', `judge: expected a count of examinations, got \`${count}\``)
}

/** F1 of two counts that were judged apart; more than 1 where they exceed the lists. */
async function countedF1(
  keys: readonly string[],
  exams: readonly string[],
  judge: Judge,
  context: RewardContext,
): Promise<number> {
  if (keys.length === 0 && exams.length === 0) return 1
  if (keys.length === 0 || exams.length === 0) return 0
  const count = async (items: readonly string[], list: readonly string[]) =>
    firstInteger(await judge({ task: 'count-matched', items, list }, context))
  const precision = (await count(exams, keys)) / exams.length
  const recall = (await count(keys, exams)) / keys.length
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

/** The three terms of the released sum. */
export interface ReleasedTerms {
  /** .1 where the phrase stands anywhere, with a diagnosis behind it to judge. */
  readonly complete: number
  readonly correct: 0 | 1
  /** Half the F1. */
  readonly exams: number
}

/**
 * The released terms. A judge that is down is a fault here too, though the released code made it a 0.
 * @throws Fault where the judge cannot be asked, or counts beyond a million
 */
export async function releasedTerms(
  episode: Episode,
  { gold }: GraderView,
  judge: Judge,
  context: RewardContext,
): Promise<ReleasedTerms> {
  const { transcript, exams } = readReleased(episode)
  const slice = transcript.split(`${finish}.`)[1]?.split('Reason:')[0]?.trim()
  let correct: 0 | 1 = 0
  if (slice !== undefined) {
    const reference = inLanguage(primary(gold).name, episode.language)
    const reply = await judge({ task: 'same-diagnosis', reference, answer: slice }, context)
    correct = reply.toLowerCase().includes('correct') ? 1 : 0
  }
  const f1 = await countedF1(gold.exams?.required ?? [], exams, judge, context)
  return { complete: slice === undefined ? 0 : 0.1, correct, exams: 0.5 * f1 }
}
