/** Stock sentences, for replies that no finding has a sentence for. None names a disease or a finding. */
import type { PatientContext } from '../../../patient.js'
import type { Language } from '../../../turn.js'
import { pickFresh } from './fresh.js'

/** An occasion for a stock sentence. */
export type Occasion =
  | 'unknown'
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
  | 'moot'
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
    ],
    zh: ['这个我说不清楚。', '我不太确定。', '说实话，我记不清了。', '我没留意过。'],
  },
  'exam-only': {
    en: [
      "I can't tell by myself, that would have to be tested.",
      'You would need to examine me to find that out.',
      'I have no way of knowing that without an examination.',
    ],
    zh: [
      '这个我自己不知道，得做检查才清楚。',
      '这要检查了才能知道。',
      '我说不上来，您给我查一下吧。',
    ],
  },
  'exam-request': {
    en: [
      'If you think it is needed, please go ahead and arrange it.',
      "All right, let's have it done then.",
      'Fine by me, please have it done.',
    ],
    zh: ['需要的话您就安排吧。', '行，该查的就查吧。', '可以，您看着安排就行。'],
  },
  'one-at-a-time': {
    en: [
      'Please ask me the rest one at a time.',
      "That's a lot at once, let's take the others one by one.",
      'You asked several things there, please ask the others again.',
    ],
    zh: [
      '您一下子问太多了，其他的请一个一个问。',
      '剩下的您慢慢问，一次一个。',
      '问得有点多，别的请再问一遍。',
    ],
  },
  'nothing-more': {
    en: ["I think that's everything.", 'Nothing else comes to mind.', "That's all I have noticed."],
    zh: ['别的就没有了。', '我能想到的就这些。', '其他的我没注意到什么。'],
  },
  refused: {
    en: [
      "I couldn't tell you, I came here to find that out.",
      "That's beyond me, I can only tell you how I have been.",
      "I don't know anything about that, please ask me how I am instead.",
    ],
    zh: [
      '这我可不知道，我就是来请您看的。',
      '这个我答不上来，您还是问问我的感受吧。',
      '我不懂这些，只能告诉您我身体怎么样。',
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
      '不好意思，没太听清楚您的意思。',
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
    ],
    zh: ['这个词我不懂，是什么意思？', '您能用大白话说吗？', '这些专业的词我听不明白。'],
  },
  withheld: {
    en: [
      'I would rather not talk about that.',
      'That is private.',
      'I do not feel comfortable answering that.',
    ],
    zh: ['这个我不太想说。', '这是私事，不说行不行。', '这个不方便讲吧。'],
  },
  'no-detail': {
    en: [
      'I have not noticed anything particular about that.',
      'I could not tell you more precisely.',
      'Nothing special that I have noticed.',
    ],
    zh: ['这方面我没有特别留意。', '再具体的我就说不上来了。', '没注意到有什么特别的。'],
  },
  moot: {
    en: [
      'That does not apply here, doctor.',
      'That cannot be, doctor.',
      'That cannot be so in this case, doctor.',
    ],
    zh: ['这个不适用，医生。', '这个不可能的，医生。', '这一条用不上吧。'],
  },
  'again-please': {
    en: [
      'Sorry, my mind wandered, what was the question?',
      'Would you mind repeating the question?',
      'I lost the thread, what did you ask?',
    ],
    zh: ['不好意思，我走神了，您刚问什么？', '您再说一遍好吗？', '我一时没跟上，您问的是什么？'],
  },
  again: {
    en: [
      'As I said:',
      'Like I told you:',
      'I mentioned it before:',
      'Same as before:',
      'As before:',
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
export const caregiverSentences: { readonly [occasion in 'exam-only' | 'refused']: SentenceBank } =
  {
    'exam-only': {
      en: [
        'I cannot tell from the outside, that would have to be tested.',
        'There is no way for us to see that at home.',
      ],
      zh: ['这个从外面看不出来，得做检查才清楚。', '我们在家里看不出来，要检查了才知道。'],
    },
    refused: {
      en: ['I could not tell you, that is why we came.', 'I know nothing about that, doctor.'],
      zh: ['这我可不知道，所以才来请您看的。', '这些我不懂，医生。'],
    },
  }

/** Occasions whose words are not said twice in a consultation, as long as there are others. */
const onceOnly: ReadonlySet<Occasion> = new Set<Occasion>(['unclear', 'ambiguous', 'again-please'])

/** Picks a stock sentence for an occasion that was not said lately, keyed by the seed and the length of the utterance. */
export function pickStockSentence(
  occasion: Occasion,
  context: Pick<PatientContext, 'language' | 'seed' | 'view' | 'dialogue'>,
  utterance: string,
): string {
  const { language, view } = context
  const instead =
    view.demographics.speaker === 'caregiver' &&
    (occasion === 'exam-only' || occasion === 'refused')
  const bank = instead ? caregiverSentences[occasion] : stockSentences[occasion]
  const turns = onceOnly.has(occasion) ? context.dialogue.length : undefined
  return pickFresh(bank[language], context, [occasion, utterance.length], turns)
}

/** Joins sentences into one text. */
export const joinSentences = (parts: readonly string[], language: Language): string =>
  parts.join(language === 'en' ? ' ' : '')
