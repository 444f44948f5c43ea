/**
 * The record patient: answers from what was written down, a dialogue, a profile or both, with those words only. A question
 * gets the recorded passage that is most similar to it; what nothing recorded answers, the patient cannot say.
 */
import { textInLanguage } from '../../../case.js'
import type { Patient, PatientContext, Reply } from '../../../patient.js'
import { memoizeByIdentity, memoizeText } from '../../../platform/memoize.js'
import { pick } from '../../../seed.js'
import { normaliseText } from '../../../text/phrase-search.js'
import { wordStems } from '../../../text/word-stems.js'
import type { SentenceBank } from '../nlg/stock-sentences.js'
import { courtesy, diagnosisRequest, history, injection } from '../nlu/acts.js'
import { type Concepts, questionConcepts } from './concepts.js'
import { everydayAnswer } from './everyday.js'
import { type DialogueRecord, dialogueRecord } from './record-index.js'
import { findPassages, type PassageMatch } from './retrieve.js'

/** Least similarity at which a recorded passage goes before an everyday answer. */
const certain = 0.9
/** Least similarity at which a recorded exchange goes before what else there is to tell. */
const wellKnown = 0.6

const confirmations: SentenceBank = {
  en: ["Yes, that's right.", 'Yes, doctor.', "That's it, yes."],
  zh: ['对。', '是的。', '嗯，是这样。'],
}

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
type FallbackKind = 'unknown' | 'nothing-more' | 'refused' | 'courtesy' | 'unclear'

const fallbacks: { readonly [kind in FallbackKind]: SentenceBank } = {
  unknown: {
    en: [
      "I couldn't tell you, doctor.",
      "I'm not sure about that one.",
      "I really can't say.",
      "That I don't know, I'm afraid.",
      "I'd have to think about that, I don't know.",
    ],
    zh: [
      '这个我说不好。',
      '这我也不太清楚。',
      '这个我还真说不上来。',
      '这我不知道怎么说。',
      '不太清楚，大夫。',
    ],
  },
  'nothing-more': {
    en: [
      "I think that's everything I have to say.",
      'Nothing more that I can think of.',
      "That's all that comes to mind.",
    ],
    zh: ['别的我想不起来了。', '就这些了。', '能想到的都说了。'],
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
  const { aspects, symptoms, frames, more } = questionConcepts(utterance)
  if (more || aspects.length + symptoms.length + frames.length > 0) return undefined
  if (wordStems(utterance).length > 0) return undefined
  return courtesy.test(text) ? 'courtesy' : 'unclear'
}

/** An utterance as looked up in a record: a fallback, or the passages most similar to it. */
type Found = { readonly fallback: FallbackKind } | PassageMatch

const fallbackOf = memoizeText(fallbackKind, { most: 2000, longest: 500 })

/** Makes a function that looks up an utterance in a record. Cached per record. */
const lookUpWith = (threshold: number) =>
  memoizeByIdentity((record: DialogueRecord) =>
    memoizeText(
      (utterance): Found => {
        const fallback = fallbackOf(utterance)
        return fallback ? { fallback } : findPassages(utterance, record, threshold)
      },
      { most: 2000, longest: Number.POSITIVE_INFINITY },
    ),
  )

const questionsIn = (utterance: string): number => utterance.match(/[?？]+/g)?.length ?? 0

interface Asked {
  readonly utterance: string
  readonly context: PatientContext
  readonly told: ReadonlySet<string>
}

/** A stock reply; not in the words of the reply before. */
function stockReply({ utterance, context }: Asked, understood: FallbackKind): Reply {
  const { dialogue, seed, language } = context
  const last = dialogue.at(-1)?.reply.text
  const texts = fallbacks[understood][language].filter((text) => text !== last)
  return {
    text: pick(texts, seed, 'record', understood, utterance),
    understood: understood === 'nothing-more' ? 'open' : understood,
    questions: understood === 'courtesy' ? 0 : Math.max(1, questionsIn(utterance)),
    asked: [],
    told: [],
  }
}

/** A reply that reveals no finding: what the intake says. */
function intakeReply(text: string, { utterance, context }: Asked, open: boolean): Reply {
  const before = context.dialogue.some(({ reply }) => reply.text === text)
  return {
    ...{ text, questions: Math.max(1, questionsIn(utterance)), asked: [], told: [] },
    understood: before ? 'repeated' : open ? 'open' : 'answered',
  }
}

/** The reply of one passage for each thing asked, those not yet told first. */
function passageReply(parts: PassageMatch['parts'], asked: Asked): Reply {
  const { utterance, context, told } = asked
  const chosen = parts.flatMap((passages) => {
    const fresh = passages.find(({ finding }) => finding && !told.has(finding.id))
    return fresh ?? passages[0] ?? []
  })
  const text = [...new Set(chosen.map((one) => textInLanguage(one.text, context.language)))].join(
    context.language === 'zh' ? '' : ' ',
  )
  const findings = chosen.flatMap(({ finding }) => finding ?? [])
  if (findings.length === 0) return intakeReply(text, asked, false)
  const fresh = findings.filter(({ id }) => !told.has(id))
  return {
    text,
    understood: fresh.length > 0 ? 'answered' : 'repeated',
    questions: Math.max(1, questionsIn(utterance)),
    asked: findings.map(({ id }) => id),
    told: fresh.map(({ id, state }) => ({ finding: id, state })),
  }
}

/** What the patient adds when asked for more: the next symptom of the profile that was not told. */
function moreReply(asked: Asked, { passages }: DialogueRecord): Reply {
  const next = passages.find(
    ({ finding }) =>
      finding !== undefined &&
      (finding.topic === 'course' || finding.topic === 'system') &&
      finding.state === 'present' &&
      !asked.told.has(finding.id),
  )
  if (!next) return stockReply(asked, 'nothing-more')
  return { ...passageReply([[next]], asked), understood: 'open' }
}

/** "…, is that right?": the doctor sums up. */
const recap =
  /(?:对吗|对吧|对不对|是吗|是吧|是这样吗|没错吧)[?？。]?\s*$|\b(?:is that (?:right|correct)|right|correct|am i right)\?\s*$/i
const isRecap = (utterance: string): boolean => recap.test(utterance)

/** Whether the record has every symptom that a recap names. */
const holdsAll = ({ symptoms }: Concepts, { passages }: DialogueRecord): boolean =>
  symptoms.length > 0 &&
  symptoms.every((symptom) =>
    passages.some(({ concepts, finding }) => concepts.has(symptom) && finding?.state !== 'absent'),
  )

/** A yes to a recap: nothing new is told. */
const confirmation = ({ utterance, context: { language, seed } }: Asked): Reply => ({
  text: pick(confirmations[language], seed, 'record', 'recap', utterance),
  understood: 'repeated',
  questions: 1,
  asked: [],
  told: [],
})

/**
 * Makes a patient for cases with a record: findings with an `utterance`, and the `question` it answered or the `topic`
 * it is about. What the record does not hold is not known. Pure and offline; the seed decides only the wording of
 * stock replies.
 * @throws RangeError when the threshold is not between 0 and 1
 */
export function recordPatient({ threshold = 0.35 }: RecordPatientOptions = {}): Patient {
  if (!(threshold >= 0 && threshold <= 1))
    throw new RangeError(`Expected \`threshold\` to be from 0 to 1, got \`${threshold}\``)
  const lookUp = lookUpWith(threshold)

  return (utterance, context): Reply => {
    const { view, dialogue, language } = context
    const told = new Set(dialogue.flatMap(({ reply }) => reply.told.map(({ finding }) => finding)))
    const asked: Asked = { utterance, context, told }
    const record = dialogueRecord(view)
    const found = lookUp(record)(utterance)
    if ('fallback' in found) return stockReply(asked, found.fallback)
    const { score, parts, about: concepts } = found
    const known = parts.length > 0
    // A recorded exchange goes before the intake: it was asked in nearly these words.
    if (known && score >= certain) return passageReply(parts, asked)
    if (isRecap(utterance) && holdsAll(concepts, record)) return confirmation(asked)
    const everyday = everydayAnswer(concepts, view, language)
    if (everyday) return intakeReply(everyday, asked, concepts.frames.includes('@complaint'))
    const exchange = parts.some((passages) => passages.some((one) => one.asked.length > 0))
    const anything = concepts.more && concepts.symptoms.length === 0
    if (anything && !(exchange && score > wellKnown)) return moreReply(asked, record)
    return known ? passageReply(parts, asked) : stockReply(asked, 'unknown')
  }
}
