/**
 * Parity with DiagAgent's released reward (repository MAGIC-AI4Med/DiagGym, commit bc49719): how it reads a
 * consultation and the judge's replies, by substrings of the whole transcript, the environment's words included.
 */
import { primaryDiagnosis, textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { RewardContext } from '../../reward.js'
import type { RewardArguments } from '../define.js'
import { askUntilRead } from '../judges/ask-judge.js'
import type { Judge } from '../judges/judge.js'
import { pythonNumber, strip } from '../text/python-text.js'
import { writeAction } from './doctoragent-rl-texts.js'

/** The phrase that ends a consultation there, and that the reward searches for. */
const finish = 'The available information is sufficient to make a diagnosis'
/** Maximum number of replies of a doctor; also the turn count of every finished consultation, however it ended. */
export const parityTurns = 12

/** The published grammar, for a doctor who acts without text. */
const forms = {
  order: (exam: string) =>
    `Current diagnosis: …\nThe following investigation(s) should be performed: ${exam}\nReason: …`,
  diagnose: ({ diagnosis }: { readonly diagnosis: string }) =>
    `${finish}.\n\nDiagnosis: ${diagnosis}\nReason: …`,
}

/** The examination ordered: the text after a marker in the second line, without dots; undefined where there is none. */
function readOrder(reply: string): string | undefined {
  const line = reply.split('\n')[1] ?? ''
  const marker = ['needed:', 'performed:'].find((text) => line.includes(text))
  const exam = marker === undefined ? undefined : line.split(marker)[1]
  return exam === undefined ? undefined : strip(exam.replaceAll('.', ''))
}

/** The examination as the released reward manager reads it from a history entry. */
const readHistoryEntry = (exam: string): string =>
  strip((`Exam name:\n${exam}`.split('Exam results:')[0] ?? '').split('Exam name:')[1] ?? '')

/**
 * Reads the replies like the released rollout, concatenated with their results, and every examination ordered, repeats
 * included: until one concludes, one has no readable order, or there are twelve. A
 * reply is the text as written, or the action in the published grammar; a question never written as text has no
 * counterpart there, as there is no patient, and is skipped.
 */
export function readTranscriptParity({ turns }: Episode) {
  const exams: string[] = []
  let transcript = ''
  let replies = 0
  for (const turn of turns) {
    if (turn.text === undefined && turn.action.kind === 'ask') continue
    const reply = turn.text ?? writeAction(turn.action, forms)
    transcript += `${replies === 0 ? '' : 'assistant\n'}${reply}`
    replies++
    const exam = reply.includes(`${finish}.`) ? undefined : readOrder(reply)
    if (exam === undefined) break
    exams.push(readHistoryEntry(exam))
    const { outcome } = turn
    transcript += `user\nHere is the test result: ${outcome.kind === 'closed' ? '' : outcome.text}`
    if (replies === parityTurns) break
  }
  return { transcript, exams }
}

/** How often the release asks its judge for a reply that it can read, at most. */
export const releasedAsks = 10

/** Maximum plausible count of examinations in a judge's reply. */
export const maxExamCount = 1_000_000

/** Reads the first integer of a reply, whatever it counts; undefined where there is none. */
function readFirstInteger(reply: string): number | undefined {
  // Python's \d matches digits of any script; a judge may write full-width ones.
  const digits = /\p{Nd}+/u.exec(reply)?.[0]
  if (digits === undefined) return undefined
  const count = pythonNumber(digits)
  if (count <= maxExamCount) return count
  throw new Fault('model-unreadable', `judge: expected a count of examinations, got \`${count}\``)
}

/** F1 from two counts judged separately; above 1 where a count exceeds its list. */
async function computeCountF1(
  keys: readonly string[],
  exams: readonly string[],
  judge: Judge,
  context: RewardContext,
): Promise<number> {
  if (keys.length === 0 && exams.length === 0) return 1
  if (keys.length === 0 || exams.length === 0) return 0
  const count = async (itemsAre: 'ordered' | 'required'): Promise<number> => {
    const [items, list] = itemsAre === 'ordered' ? [exams, keys] : [keys, exams]
    const asked = { asks: releasedAsks, read: readFirstInteger, context }
    const request = { task: 'count-matched', items, list, itemsAre } as const
    // As released: no number in ten replies counts 0.
    return (await askUntilRead(judge, request, asked)).answer ?? 0
  }
  const precision = (await count('ordered')) / exams.length
  const recall = (await count('required')) / keys.length
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

/**
 * Computes the terms of the released sum: `complete`, .1 where the finishing phrase occurs anywhere, followed by a
 * diagnosis to judge; `correct`, 0 or 1; `exams`, half the F1 of the examinations. A judge that is down is a fault here too, though the released code scores it 0.
 * @throws Fault where the judge cannot be asked, or counts more than a million
 */
export async function computeParityTerms(
  [episode, { gold }, context]: RewardArguments,
  judge: Judge,
) {
  const { transcript, exams } = readTranscriptParity(episode)
  const concluded = transcript.split(`${finish}.`)[1]?.split('Reason:')[0]
  const slice = concluded === undefined ? undefined : strip(concluded)
  let correct: 0 | 1 = 0
  if (slice !== undefined) {
    const reference = textInLanguage(primaryDiagnosis(gold).name, episode.language)
    const reply = await judge({ task: 'same-diagnosis', reference, answer: slice }, context)
    correct = reply.toLowerCase().includes('correct') ? 1 : 0
  }
  const f1 = await computeCountF1(gold.exams?.required ?? [], exams, judge, context)
  return { complete: slice === undefined ? 0 : 0.1, correct, exams: 0.5 * f1 }
}
