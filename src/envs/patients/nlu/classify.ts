/** The dialogue act of an utterance that asks about no finding, and what kind of answer it expects. */
import type { PhraseMatch } from '../../../text/phrase-search.js'
import * as act from './acts.js'
import { classifySpeech } from './conversation.js'
import type { LexiconEntry } from './lexicon.js'
import type { Expectation, ParsedUtterance } from './parsed-utterance.js'
import type { Sentence } from './sentences.js'

/** The dialogue act of an utterance that asks about no finding. */
export function classifyAct(
  text: string,
  sentences: readonly Sentence[],
  matches: readonly PhraseMatch<LexiconEntry>[],
): Pick<ParsedUtterance, 'kind' | 'speech'> {
  const named = (kind: LexiconEntry['kind']) => matches.some(({ value }) => value.kind === kind)
  // What is told before the question is none: 我看像带状疱疹，您同意吗.
  const namedInQuestion = (kind: LexiconEntry['kind']) =>
    matches.some(
      ({ value, start }) =>
        value.kind === kind &&
        sentences.some((one) => one.inquires && start >= one.start && start < one.end),
    )
  const asked = sentences.filter(({ inquires, fragment }) => inquires || fragment)
  const asks = sentences.some(({ inquires }) => inquires)
  const past = act.history.test(text) || act.family.test(text)
  if (act.asksDiagnosis(text)) return { kind: 'diagnosis-request' }
  const speech = classifySpeech(text, sentences)
  // "Anything else you wanted to ask?"
  if (speech === 'any-questions') return { kind: 'courtesy', speech }
  // "I think it's a migraine. Does that make sense?"
  const explains = sentences.length > 1 && asked.length === 1 && !/\p{Script=Han}/u.test(text)
  if (speech === 'clear' && explains) return { kind: 'courtesy', speech }
  const opens = (one: Sentence): boolean =>
    act.openQuestion.test(one.text) &&
    !act.wholeIllness.test(one.text) &&
    !act.pastTrouble.test(one.text) &&
    !act.invitesQuestions.test(one.text)
  if (asked.some(opens)) return { kind: 'open' }
  if (namedInQuestion('disease') && asks && !past)
    return act.hasIllness.test(text)
      ? { kind: 'diagnosis-request', speech: 'has-illness' }
      : { kind: 'diagnosis-request' }
  if (speech !== undefined && speech !== 'agreement') return { kind: 'courtesy', speech }
  if (named('exam') || act.examTalk.test(text)) return { kind: 'exam-request' }
  if (act.advice.test(text) && !(asks && /^[^\p{Script=Han}]*$/u.test(text)))
    return { kind: 'advice', speech: 'agreement' }
  if (speech !== undefined) return { kind: 'courtesy', speech }
  return { kind: asks && act.isWorded(text) ? 'unmodelled' : 'unclear' }
}

/** Offers a choice, which a no does not answer. */
const choiceZh =
  /还是|(?:干嘛|干什么|做什么)呢?$|(?:谁|哪|怎么|多少|为什么)[^吗么没]*(?:呢|呀|啊)$|多(?:说|讲)(?:一?[点些下]|几句)/

/** What an utterance whose topic is unknown expects for an answer, by its last question. */
export function expectation(sentences: readonly Sentence[]): Expectation {
  const last = sentences.findLast(({ inquires }) => inquires)?.text ?? ''
  if (act.asksIfInOrder(last)) return 'yes'
  if (act.asksAbility(last) || choiceZh.test(last)) return 'content'
  return act.isQuestionClause(last) ? 'no' : 'content'
}
