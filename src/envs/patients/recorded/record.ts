/**
 * The record patient: answers from a recorded dialogue, with the recorded words and nothing else.
 *
 * A question gets the answer of the recorded exchange that is likest to it by the words they share; where
 * none is like enough the patient says plainly that nothing was recorded, for the record is silent there.
 */
import type { Finding } from '../../../case.js'
import { inLanguage } from '../../../case.js'
import type { Patient, Reply } from '../../../patient.js'
import { pick } from '../../../seed.js'
import { normal } from '../../../text/phrase-search.js'
import { words } from '../../../text/word-stems.js'
import type { Language, Understanding } from '../../../turn.js'
import { courtesy, diagnosisRequest, history, injection } from '../nlu/acts.js'
import type { DialogueRecord, Likest } from './record-index.js'
import { likestOf, recordOf } from './record-index.js'

export interface RecordPatientOptions {
  /**
   * Least likeness, 0 to 1, at which a recorded exchange answers a question.
   * @default 0.35: in a hand-checked sample of questions from other dialogues, half of the answers just above
   * it fitted, and a third of those below
   */
  readonly threshold?: number
}

type Silence = 'unknown' | 'refused' | 'courtesy' | 'unclear'

const says: { readonly [kind in Silence]: { readonly [language in Language]: readonly string[] } } =
  {
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

/** What an utterance is without any record, if it is no question that a record could answer. */
function silenceOf(utterance: string): Silence | undefined {
  const { text } = normal(utterance)
  if (injection.test(text)) return 'refused'
  if (diagnosisRequest.test(text) && !history.test(text)) return 'refused'
  if (words(utterance).length > 0) return undefined
  return courtesy.test(text) ? 'courtesy' : 'unclear'
}

/** What the patient hears: no question for a record, or the exchanges likest to it. */
type Heard = { readonly silence: Silence } | Likest

const memoSize = 2000
const memos = new WeakMap<DialogueRecord, Map<string, Heard>>()

function hear(utterance: string, record: DialogueRecord): Heard {
  const memo = memos.get(record) ?? new Map<string, Heard>()
  memos.set(record, memo)
  const known = memo.get(utterance)
  if (known) return known
  if (memo.size >= memoSize) memo.clear()
  const silence = silenceOf(utterance)
  const heard = silence ? { silence } : likestOf(utterance, record)
  memo.set(utterance, heard)
  return heard
}

const questionsIn = (utterance: string): number => utterance.match(/[?？]+/g)?.length ?? 0

/**
 * Makes a patient for cases that carry recorded exchanges: findings with an `utterance`, and a `question`
 * it answered. Pure and offline; the seed decides the wording of what it does not know, and nothing else.
 * @throws RangeError when the threshold is not between 0 and 1
 */
export function recordPatient({ threshold = 0.35 }: RecordPatientOptions = {}): Patient {
  if (!(threshold >= 0 && threshold <= 1))
    throw new RangeError(`Expected \`threshold\` to be from 0 to 1, got \`${threshold}\``)

  return (utterance, { view, dialogue, seed, language }): Reply => {
    const without = (understood: Silence): Reply => ({
      text: pick(says[understood][language], seed, 'record', view.caseId, understood, utterance),
      understood,
      questions: understood === 'courtesy' ? 0 : Math.max(1, questionsIn(utterance)),
      asked: [],
      told: [],
    })
    const heard = hear(utterance, recordOf(view))
    if ('silence' in heard) return without(heard.silence)
    const { score, findings } = heard
    if (score < threshold || findings.length === 0) return without('unknown')
    const told = new Set(dialogue.flatMap(({ reply }) => reply.told.map(({ finding }) => finding)))
    const fresh = findings.find(({ id }) => !told.has(id))
    // `findings` is not empty here, and every one of them has an utterance.
    const finding = (fresh ?? findings[0]) as Finding
    const understood: Understanding = fresh ? 'answered' : 'repeated'
    return {
      text: inLanguage(finding.utterance ?? {}, language),
      understood,
      questions: Math.max(1, questionsIn(utterance)),
      asked: [finding.id],
      told: fresh ? [{ finding: finding.id, state: finding.state }] : [],
    }
  }
}
