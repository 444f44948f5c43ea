/**
 * Stock sentences, for replies that no finding has a sentence for. None names a disease or a finding. No two of an
 * occasion begin alike.
 *
 * Long because it is one table of sentences in two languages.
 */
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { withOpening, withoutOpening } from '../../../text/reply-openings.js'
import type { Language } from '../../../turn.js'
import { pickFresh } from './fresh.js'

/** An occasion for a stock sentence. */
export type Occasion =
  | 'unknown'
  /** The same of what nobody forgets, but may not have noticed. */
  | 'unnoticed'
  | 'exam-only'
  | 'exam-request'
  | 'one-at-a-time'
  | 'nothing-more'
  | 'refused'
  | 'unclear'
  | 'ambiguous'
  | 'jargon'
  | 'withheld'
  | 'no-detail'
  | 'again-please'
  /** A few words before an answer that was given before. */
  | 'again'

/** Sentences to choose from, by language. */
export type SentenceBank = { readonly [language in Language]: readonly string[] }

/** All stock sentences, by occasion and language. */
export const stockSentences: { readonly [occasion in Occasion]: SentenceBank } = {
  unknown: {
    en: [
      "I'm not sure about that.",
      "I couldn't really say.",
      "To be honest, I don't remember.",
      "I haven't paid attention to that.",
      'No idea, sorry.',
      "You've got me there.",
      "That I can't tell you.",
      "Hmm, I don't know.",
    ],
    zh: [
      '这个我说不清楚。',
      '我不太确定。',
      '说实话，我记不清了。',
      '我没留意过。',
      '不知道啊，没注意。',
      '还真不好说。',
      '哎，这个没太在意。',
      '不清楚呢。',
    ],
  },
  unnoticed: {
    en: [
      "I'm not sure about that.",
      "I couldn't really say.",
      "I haven't paid attention to that.",
      "That I can't tell you.",
      'Hard to say, honestly.',
      "I can't tell, to be honest.",
    ],
    zh: [
      '这个我说不清楚。',
      '我不太确定。',
      '我没留意过。',
      '还真不好说。',
      '哎，这个没太在意。',
      '我自己也拿不准。',
    ],
  },
  'exam-only': {
    en: [
      "I can't tell by myself, that would have to be tested.",
      'You would need to examine me to find that out.',
      'I have no way of knowing that without an examination.',
      'How should I know that, doctor?',
      'Nobody has ever checked, as far as I know.',
      "That's something for you to find out, doctor.",
    ],
    zh: [
      '这个我自己不知道，得做检查才清楚。',
      '这要检查了才能知道。',
      '我说不上来，您给我查一下吧。',
      '没查过，不知道。',
      '自己哪看得出来呀。',
      '得您给查查才知道。',
    ],
  },
  'exam-request': {
    en: [
      'If you think it is needed, please go ahead and arrange it.',
      "All right, let's have it done then.",
      'Fine by me, please have it done.',
      'Yes, do that, doctor.',
      'Okay, whatever you think is best.',
      "I don't mind, if it helps.",
      'Good, then we will know.',
    ],
    zh: [
      '需要的话您就安排吧。',
      '行，该查的就查吧。',
      '可以，您看着安排就行。',
      '好，听您的。',
      '查查也好，心里有数。',
      '那就做吧。',
      '嗯，您给开单子吧。',
    ],
  },
  'one-at-a-time': {
    en: [
      'Please ask me the rest one at a time.',
      "That's a lot at once, let's take the others one by one.",
      'You asked several things there, please ask the others again.',
      'One thing after the other, please.',
      'What was the rest again?',
    ],
    zh: [
      '您一下子问太多了，其他的请一个一个问。',
      '剩下的您慢慢问，一次一个。',
      '问得有点多，别的请再问一遍。',
      '一样一样来，后头的您再问。',
      '后面您还问了什么来着？',
    ],
  },
  'nothing-more': {
    en: [
      "I think that's everything.",
      'Nothing else comes to mind.',
      "That's all I have noticed.",
      'No, nothing else.',
      'I have told you all there is.',
      "Otherwise I can't complain.",
      'Not that I can think of.',
    ],
    zh: [
      '别的就没有了。',
      '我能想到的就这些。',
      '其他的我没注意到什么。',
      '没了，就这些。',
      '都跟您说了。',
      '其他的都还好。',
      '一时想不起别的了。',
    ],
  },
  refused: {
    en: [
      "I couldn't tell you, I came here to find that out.",
      "That's beyond me, I can only tell you how I have been.",
      "I don't know anything about that, please ask me how I am instead.",
      'You are the doctor, not me.',
      'I was hoping to hear that from you.',
      'If I knew that, I would not be here.',
    ],
    zh: [
      '这我可不知道，我就是来请您看的。',
      '这个我答不上来，您还是问问我的感受吧。',
      '我不懂这些，只能告诉您我身体怎么样。',
      '您是大夫，这得问您呀。',
      '我还想听您说呢。',
      '要是知道，我就不来了。',
    ],
  },
  unclear: {
    en: [
      "Sorry, I didn't follow that, please put it another way.",
      "I'm not sure what you mean, please ask it differently.",
      'I did not quite understand, please say it more simply.',
      "Sorry, I don't quite get what you're asking.",
      "You've lost me there, doctor.",
      'I beg your pardon, how do you mean?',
      'Sorry, could you put that in other words?',
      "I can't make out what you mean, sorry.",
    ],
    zh: [
      '不好意思，我没听明白，您换个说法吧。',
      '您的话我没太懂，请再说一遍。',
      '我没听懂您在问什么，麻烦说得简单点。',
      '您这话是什么意思？',
      '抱歉，我没反应过来您问的什么。',
      '这句我没听懂，您再讲讲？',
      '您是想问哪方面的事？',
      '啊？没太听清楚您的意思。',
    ],
  },
  ambiguous: {
    en: [
      'What exactly do you mean by that?',
      'I am not sure what you are after, could you be more specific?',
      'Do you mean something in particular?',
      'In what way, doctor?',
      'How do you mean that?',
      "Which thing do you mean, I'm not sure?",
    ],
    zh: [
      '您具体是指哪方面？',
      '您问的是哪一样？说具体点。',
      '您这话我不太确定是问什么，能说细一点吗？',
      '您指的是什么样的？',
      '您是说哪一种？',
      '怎么讲？您说具体些。',
    ],
  },
  jargon: {
    en: [
      'I do not know that word, what does it mean?',
      'Could you say that in plain words?',
      'That is doctors’ language to me, please say it simply.',
      'What is that when it is at home?',
      'Sorry, what was that word?',
      'You will have to explain that to me.',
    ],
    zh: [
      '这个词我不懂，是什么意思？',
      '您能用大白话说吗？',
      '这些专业的词我听不明白。',
      '啥叫这个？您说简单点。',
      '我没念过多少书，您说明白些。',
      '您说的那个是什么呀？',
    ],
  },
  withheld: {
    en: [
      'I would rather not talk about that.',
      'That is private.',
      'I do not feel comfortable answering that.',
      'Do I have to answer that?',
      'Could we leave that out?',
      "Let's not go into that.",
    ],
    zh: [
      '这个我不太想说。',
      '这是私事，不说行不行。',
      '这个不方便讲吧。',
      '能不能不说这个？',
      '咱先不提这个行吗？',
      '非得说吗？',
    ],
  },
  'no-detail': {
    en: [
      'I have not noticed anything particular about that.',
      'I could not tell you more precisely.',
      'Nothing special that I have noticed.',
      "More than that I can't say.",
      'It is just as I told you.',
      'I have not looked at it that closely.',
    ],
    zh: [
      '这方面我没有特别留意。',
      '再具体的我就说不上来了。',
      '没注意到有什么特别的。',
      '细的就不知道了。',
      '就是我跟您说的那样。',
      '没看那么仔细。',
    ],
  },
  'again-please': {
    en: [
      'Sorry, my mind wandered, what was the question?',
      'Would you mind repeating the question?',
      'I lost the thread, what did you ask?',
      'Once more, please, I was somewhere else.',
      'What was it you wanted to know?',
      'Come again, doctor?',
    ],
    zh: [
      '不好意思，我走神了，您刚问什么？',
      '您再说一遍好吗？',
      '我一时没跟上，您问的是什么？',
      '啊？您刚才说啥？',
      '等等，您问到哪儿了？',
      '刚才没听进去，您再问一下。',
    ],
  },
  again: {
    en: [
      'As I said:',
      'Like I told you:',
      'I mentioned it before:',
      'I did say that already:',
      'As mentioned:',
      'Well, again:',
      'Once more:',
    ],
    zh: [
      '刚才说过：',
      '我前面讲过：',
      '还是那句话：',
      '跟刚才说的一样：',
      '这个提过了：',
      '再说一遍：',
      '就是前面说的：',
    ],
  },
}

/** What a caregiver says instead. */
export const caregiverSentences: { readonly [occasion in Occasion]?: SentenceBank } = {
  unknown: {
    en: [
      "We haven't noticed.",
      "I couldn't tell you for sure.",
      'Hard to say, from the outside.',
      "I can't answer that one.",
      'No idea, sorry.',
      "That I don't know.",
    ],
    zh: [
      '这个没太注意。',
      '说不准呢。',
      '不太清楚，没留意过。',
      '从外头看不大出来。',
      '还真不知道。',
      '哎，没在意这个。',
    ],
  },
  'exam-only': {
    en: [
      'I cannot tell from the outside, that would have to be tested.',
      'There is no way for us to see that at home.',
      "That's something for you to find out, doctor.",
      'Nobody has ever checked, as far as I know.',
    ],
    zh: [
      '这个从外面看不出来，得做检查才清楚。',
      '我们在家里看不出来，要检查了才知道。',
      '没查过，不知道。',
      '得您给查查才知道。',
    ],
  },
  'nothing-more': {
    en: [
      "I think that's everything.",
      'Nothing else comes to mind.',
      "That's all we have noticed.",
      'No, nothing else.',
      'Not that I can think of.',
      'The rest has been as usual.',
    ],
    zh: [
      '别的就没有了。',
      '我能想到的就这些。',
      '其他的没看出来什么。',
      '没了，就这些。',
      '别的都跟平时一样。',
      '一时想不起别的了。',
    ],
  },
  refused: {
    en: [
      'I could not tell you, that is why we came.',
      'I know nothing about that, doctor.',
      'You are the doctor, not me.',
      'We were hoping to hear that from you.',
    ],
    zh: [
      '这我可不知道，所以才来请您看的。',
      '这些我不懂，医生。',
      '您是大夫，这得问您呀。',
      '我们还想听您说呢。',
    ],
  },
}

/** What forgetful people say who cannot tell. */
export const forgetfulSentences: SentenceBank = {
  en: [
    "It's gone, I can't remember.",
    'I used to know that.',
    'Now that has slipped my mind.',
    "Don't ask me, I forget everything.",
    "I'd have to think back.",
    "I can't call it to mind just now.",
  ],
  zh: [
    '哎哟，想不起来了。',
    '一下子记不得了。',
    '忘了，真忘了。',
    '我这记性，一时对不上了。',
    '前头还记得呢，这会儿说不上来。',
    '记不住了，不好意思。',
  ],
}

/** Occasions whose words are not said twice in a consultation, as long as there are others. */
const onceOnly: ReadonlySet<Occasion> = new Set<Occasion>(['unclear', 'ambiguous', 'again-please'])

type StockContext = Pick<PatientContext, 'language' | 'seed' | 'view' | 'dialogue'>

/** The sentences for an occasion, by who speaks. */
function bankFor(
  occasion: Occasion,
  { view: { demographics, persona } }: StockContext,
): SentenceBank {
  if (occasion === 'unknown' && dialLevel(persona, 'forgetful') >= 2) return forgetfulSentences
  // From the outside, carers remember nothing that they could not see.
  const said = occasion === 'unnoticed' ? 'unknown' : occasion
  const carers = demographics.speaker === 'caregiver' ? caregiverSentences[said] : undefined
  return carers ?? stockSentences[occasion]
}

/**
 * Picks a stock sentence for an occasion that was not said lately, keyed by the seed and the length of the utterance.
 * @param saying what the reply says so far @default ''
 */
export function pickStockSentence(
  occasion: Occasion,
  context: StockContext,
  utterance: string,
  saying = '',
): string {
  const bank = bankFor(occasion, context)[context.language]
  const turns = onceOnly.has(occasion) ? { turns: context.dialogue.length } : {}
  return pickFresh(bank, context, [occasion, utterance.length], { ...turns, saying })
}

/** A sentence after words that end in a colon ("As I said: …"). */
export const introduced = (words: string, sentence: string, language: Language): string =>
  withOpening(language === 'en' ? `${words} ` : words, sentence, language)

/** Joins sentences into one text. */
export const joinSentences = (parts: readonly string[], language: Language): string =>
  parts.join(language === 'en' ? ' ' : '')

const sentenceEnd = { en: /(?<=[.!?]) /, zh: /(?<=[。！？])/ } as const

/** What a sentence says beside its opening and a "As I said:" before it. */
const saysOf = (sentence: string, language: Language): string => {
  const plain = sentence.replace(/^[^,，。：:]{2,12}[：:] ?/, '')
  return withoutOpening(plain, language) ?? plain
}

/** The texts one after the other, without a sentence that one before it has said, whatever its opening. */
export function joinOnce(texts: readonly string[], language: Language): string {
  const said = new Set<string>()
  const parts = texts.map((text) =>
    text.split(sentenceEnd[language]).filter((sentence) => {
      const core = saysOf(sentence, language)
      if (core === '' || said.has(core)) return false
      said.add(core)
      return true
    }),
  )
  return joinSentences(parts.flat(), language)
}
