/**
 * The record patient: answers from a recorded dialogue, with the recorded words only. A question gets the answer of the
 * most similar recorded exchange; where none is similar enough, the patient says that nothing was recorded.
 */
import { type Finding, textInLanguage } from '../../../case.js'
import type { Patient, Reply } from '../../../patient.js'
import { memoizeByIdentity, memoizeText } from '../../../platform/memoize.js'
import { pick } from '../../../seed.js'
import { normaliseText } from '../../../text/phrase-search.js'
import { wordStems } from '../../../text/word-stems.js'
import type { Understanding } from '../../../turn.js'
import type { SentenceBank } from '../nlg/stock-sentences.js'
import { courtesy, diagnosisRequest, history, injection } from '../nlu/acts.js'
import type { DialogueRecord, ExchangeMatch } from './record-index.js'
import { dialogueRecord, findExchanges } from './record-index.js'

/** Options of `recordPatient`. */
export interface RecordPatientOptions {
  /**
   * Least similarity, 0 to 1, at which a recorded exchange answers a question.
   * @default 0.35: in a hand-checked sample of questions from other dialogues, half of the answers just above
   * it fitted, and a third of those below
   */
  readonly threshold?: number
}

/** Why an utterance gets a stock sentence instead of a recorded answer. */
type FallbackKind = 'unknown' | 'refused' | 'courtesy' | 'unclear'

const fallbacks: { readonly [kind in FallbackKind]: SentenceBank } = {
  unknown: {
    en: [
      'Nothing was recorded about that.',
      'There is nothing about that in my record, so I cannot say.',
      'That was not written down, I have no answer to it.',
      'My record says nothing on that point.',
    ],
    zh: [
      '这个没有记录。',
      '我的记录里没有提到这个，说不上来。',
      '这一点当时没有记下来，我没法回答。',
      '关于这个，记录里什么都没有。',
    ],
  },
  refused: {
    en: [
      'I do not know what it is, doctor. That is what I came to ask you.',
      'That is for you to say, doctor.',
      'I can only tell you how I feel.',
    ],
    zh: ['我不知道是什么病，所以才来问您。', '这得由您来判断，医生。', '我只能说说自己的感觉。'],
  },
  courtesy: {
    en: ['Alright, doctor.', 'Okay.', 'Thank you, doctor.'],
    zh: ['好的，医生。', '嗯，好。', '谢谢医生。'],
  },
  unclear: {
    en: [
      'Sorry, what do you mean?',
      'I did not understand the question.',
      'Could you ask that another way?',
    ],
    zh: ['不好意思，您是什么意思？', '我没听懂您的问题。', '您能换个说法再问一遍吗？'],
  },
}

/** The fallback of an utterance that no record could answer; none for a question. */
function fallbackKind(utterance: string): FallbackKind | undefined {
  const { text } = normaliseText(utterance)
  if (injection.test(text)) return 'refused'
  if (diagnosisRequest.test(text) && !history.test(text)) return 'refused'
  if (wordStems(utterance).length > 0) return undefined
  return courtesy.test(text) ? 'courtesy' : 'unclear'
}

/** Looks up an utterance in a record: a fallback, or the most similar exchanges. Cached per record. */
const lookUp = memoizeByIdentity((record: DialogueRecord) =>
  memoizeText(
    (utterance): { readonly fallback: FallbackKind } | ExchangeMatch => {
      const fallback = fallbackKind(utterance)
      return fallback ? { fallback } : findExchanges(utterance, record)
    },
    { most: 2000, longest: Number.POSITIVE_INFINITY },
  ),
)

const questionsIn = (utterance: string): number => utterance.match(/[?？]+/g)?.length ?? 0

/**
 * Makes a patient for cases with recorded exchanges: findings with an `utterance` and the `question` it answered.
 * Pure and offline; the seed decides only the wording of fallback replies.
 * @throws RangeError when the threshold is not between 0 and 1
 */
export function recordPatient({ threshold = 0.35 }: RecordPatientOptions = {}): Patient {
  if (!(threshold >= 0 && threshold <= 1))
    throw new RangeError(`Expected \`threshold\` to be from 0 to 1, got \`${threshold}\``)

  return (utterance, { view, dialogue, seed, language }): Reply => {
    const fallBack = (understood: FallbackKind): Reply => ({
      text: pick(fallbacks[understood][language], seed, 'record', understood, utterance),
      understood,
      questions: understood === 'courtesy' ? 0 : Math.max(1, questionsIn(utterance)),
      asked: [],
      told: [],
    })
    const found = lookUp(dialogueRecord(view))(utterance)
    if ('fallback' in found) return fallBack(found.fallback)
    const { score, findings } = found
    if (score < threshold || findings.length === 0) return fallBack('unknown')
    const told = new Set(dialogue.flatMap(({ reply }) => reply.told.map(({ finding }) => finding)))
    const fresh = findings.find(({ id }) => !told.has(id))
    // `findings` is not empty here, and every one of them has an utterance.
    const finding = (fresh ?? findings[0]) as Finding
    const understood: Understanding = fresh ? 'answered' : 'repeated'
    return {
      text: textInLanguage(finding.utterance ?? {}, language),
      understood,
      questions: Math.max(1, questionsIn(utterance)),
      asked: [finding.id],
      told: fresh ? [{ finding: finding.id, state: finding.state }] : [],
    }
  }
}
