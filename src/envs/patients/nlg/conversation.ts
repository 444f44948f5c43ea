/** Replies to utterances that ask about no finding: topics the base does not model, and acts of conversation. */
import { dialLevel } from '../../../persona.js'
import { nameToAskBack } from '../nlu/follow-ups/asked-back.js'
import type { ParsedUtterance } from '../nlu/parsed-utterance.js'
import type { AnswerDraft, AnswerInput } from './answer-input.js'
import { answerAsides, speechSentence } from './aside-answers.js'
import { biographySentence } from './biography-sentences.js'
import { consentSentence } from './consent.js'
import { pickFresh } from './fresh.js'
import { graveDetail } from './grave.js'
import { closedGate, reportedState } from './recall.js'
import { speakOfPatient } from './speaker.js'
import {
  carerHasIllnessSentences,
  hasIllnessSentences,
  noPainSentences,
  unknownTopicSentences,
} from './speech-sentences.js'
import { joinSentences } from './stock-sentences.js'

/** Whether a vague question can be denied: what it may have meant is no secret, and the patient does not have it. */
function isSafelyDenied(id: string, { knowledge, context, absentPolicy }: AnswerInput): boolean {
  const finding = knowledge.finding.get(id)
  if (!finding || finding.stigma > 0 || finding.knownBy === 'exam') return false
  const closed = closedGate(knowledge, finding, context.view) !== undefined
  return reportedState(finding, closed, context, absentPolicy) === 'absent'
}

/** Answers a question whose topic is unknown. */
function answerUnknownTopic({ expects = 'content' }: ParsedUtterance, input: AnswerInput) {
  const { context } = input
  const upset = expects === 'content' ? graveDetail(context) : undefined
  if (upset !== undefined) return { text: upset, understood: 'unknown', told: [] } as const
  const bank = unknownTopicSentences[expects][context.language]
  const terse = dialLevel(context.view.persona, 'terse') >= 2
  const brief = terse ? [...bank].sort((a, b) => a.length - b.length).slice(0, 5) : bank
  const text = pickFresh(brief, context, ['unmodelled', context.dialogue.length])
  return { text, understood: 'unknown', told: [] } as const
}

/** The reply to "Describe the pain" of a patient who has none. */
export function denyPain({ context }: AnswerInput): AnswerDraft {
  const bank = noPainSentences[context.language]
  const text = pickFresh(bank, context, ['no-pain', context.dialogue.length])
  return { text, understood: 'answered', told: [] }
}

/** The answer to "Do you have …?" with the name of an illness. */
function answerIllness(context: AnswerInput['context']): string {
  const carer = context.view.demographics.speaker === 'caregiver'
  const bank = (carer ? carerHasIllnessSentences : hasIllnessSentences)[context.language]
  const texts = bank.map((text) => speakOfPatient(text, context))
  return pickFresh(texts, context, ['illness', context.dialogue.length])
}

/** What the patient thinks it is, once; undefined for one who has said so or has nothing to go by. */
export function ownIdea(context: AnswerInput['context']): string | undefined {
  const text = biographySentence('ideas', context)
  const said = context.dialogue.some(({ reply }) => text && reply.text.includes(text))
  return said ? undefined : text
}

/** Names what nobody takes lightly: an operation, a stay in hospital, a team for emergencies. */
const grave =
  /\b(?:surgeons?|surgery|operat(?:e|ion)|theatre|admit\w*|(?:to|in|into) (?:the )?hospital|the ward|ambulance|crisis team|psychiatr\w+|intensive care|specialists?)\b/i
const newsSentences = [
  "If you think that's needed, doctor.",
  "Oh. I wasn't expecting that.",
  'All right. Will it be today?',
  'Is it that bad? Well, if it has to be.',
  'Will you tell me what happens then?',
]

/** What an English patient says to news that is not taken lightly; undefined for other words. */
function newsReply({ utterance, context }: AnswerInput): string | undefined {
  const { language, dialogue } = context
  if (language !== 'en' || !grave.test(utterance)) return undefined
  return pickFresh(newsSentences, context, ['news', dialogue.length])
}

/** Questions back with the name of what may have been meant. */
const askBackSentences = {
  en: [
    'Do you mean {name}?',
    'Is it {name} you are asking about?',
    'About {name}, is that what you mean?',
  ],
  zh: ['您是问{name}吗？', '您说的是{name}吧？', '{name}，您是问这个吗？'],
} as const

/** Asks whether a finding was meant; undefined where the patient has no name for it. */
function askBack(id: string, { knowledge, context }: AnswerInput): string | undefined {
  const name = nameToAskBack(knowledge, id, context.language)
  if (name === undefined) return undefined
  const bank = askBackSentences[context.language].map((text) => text.replace('{name}', name))
  return pickFresh(bank, context, ['ask-back', context.dialogue.length])
}

/** The reply to an utterance without a finding; undefined for one that only a stock sentence answers. */
export function answerConversation(
  parsed: ParsedUtterance,
  input: AnswerInput,
): AnswerDraft | undefined {
  const { kind, asides, speech, near } = parsed
  const { context } = input
  if (kind === 'aside') {
    const { sentences, told, how } = answerAsides(asides, input)
    return { text: joinSentences(sentences, context.language), understood: how, told }
  }
  if (speech === 'has-illness') {
    return { text: answerIllness(context), understood: 'refused', told: [] }
  }
  if (speech === 'consent')
    return { text: consentSentence(input), understood: 'courtesy', told: [] }
  const news = speech === 'agreement' ? newsReply(input) : undefined
  if (news !== undefined) return { text: news, understood: 'courtesy', told: [] }
  if (kind === 'advice' || kind === 'courtesy')
    return {
      text: speechSentence(speech ?? 'agreement', context),
      understood: 'courtesy',
      told: [],
    }
  const asked = kind === 'ambiguous' ? near : undefined
  const denied = asked !== undefined && isSafelyDenied(asked, input)
  if (kind === 'unmodelled' || denied) return answerUnknownTopic(parsed, input)
  const back = asked === undefined ? undefined : askBack(asked, input)
  return back === undefined ? undefined : { text: back, understood: 'ambiguous', told: [] }
}
