/** What a patient says to an act of conversation, and to a question about something that nothing is known of. */
import type { ConversationAct } from '../../../knowledge/knowledge.js'
import type { SentenceBank } from './stock-sentences.js'

/** Replies to acts of conversation that ask for no information. */
export const speechSentences: { readonly [act in ConversationAct]: SentenceBank } = {
  greeting: {
    en: ['Hello, doctor.', 'Good day, doctor.', 'Hello.'],
    zh: ['医生您好。', '您好，大夫。', '您好。'],
  },
  thanks: {
    en: ['Thank you, doctor.', 'Thanks, doctor.', 'No, thank you.', 'Not at all, thank you.'],
    zh: ['谢谢医生。', '谢谢您。', '应该我谢谢您。', '麻烦您了，大夫。'],
  },
  apology: {
    en: ["That's all right.", 'No problem at all.', "Don't mention it, doctor."],
    zh: ['没关系的。', '没事没事。', '您别客气。'],
  },
  sympathy: {
    en: ['Thank you, doctor.', 'Yes, it has not been easy.', "That's kind of you.", 'Thanks.'],
    zh: ['谢谢您。', '是啊，挺折腾人的。', '谢谢医生体谅。', '唉，可不是嘛。'],
  },
  reassurance: {
    en: ["That's good to hear.", 'All right, thank you.', 'Okay, doctor, that helps.'],
    zh: ['好的，那我就放心点了。', '听您这么说我心里踏实些。', '嗯，谢谢医生。'],
  },
  agreement: {
    en: ['All right, doctor.', 'Okay.', 'Right, I see.', 'Sure, that makes sense.', 'Yes, fine.'],
    zh: ['好的，医生。', '嗯，行。', '好，我听您的。', '明白了。', '嗯，我知道了。'],
  },
  consent: {
    en: ['Yes, of course, go ahead.', 'Sure, please do.', 'Okay, no problem.'],
    zh: ['可以，您查吧。', '行，没问题。', '好的，您来。'],
  },
  confirm: {
    en: ["Yes, that's right.", "That's right.", 'Yes, it is.', 'Yes, I think so.'],
    zh: ['对，是这样。', '是的，没错。', '嗯，对。', '是的。'],
  },
  'any-questions': {
    en: [
      "No, I think that's all, thank you.",
      'Not right now, thank you.',
      "No, you've explained everything.",
    ],
    zh: ['没有了，谢谢医生。', '暂时没什么要问的了。', '没有了，您说得挺清楚的。'],
  },
  clear: {
    en: ["Yes, that's fine.", 'Yes, that sounds good.', "Yes, that's clear, thank you."],
    zh: ['行，没问题。', '可以的，就按您说的来。', '嗯，听明白了。'],
  },
  hearing: {
    en: ['Yes, I can hear you fine.', 'Yes, loud and clear.', 'Yes, I hear you well.'],
    zh: ['听得见，挺清楚的。', '能听见，您说。', '听得清。'],
  },
  readiness: {
    en: ["Yes, that's fine, I can talk.", 'Yes, I am ready.', 'Sure, go ahead.'],
    zh: ['方便，您问吧。', '可以，您说。', '行，开始吧。'],
  },
  patience: {
    en: ['Sure, no hurry.', 'Of course.', 'Okay, take your time.'],
    zh: ['好的，不着急。', '行，您忙您的。', '嗯，好。'],
  },
  repeat: {
    en: ['Sure, what did you miss?', 'Of course, which part?', 'Yes, which bit, doctor?'],
    zh: ['行，您哪句没听清？', '好，您要听哪一句？', '嗯，您说哪一句？'],
  },
  backchannel: {
    en: ['Yes.', 'Mm.', 'Right.', "That's it, yes.", 'Yeah.'],
    zh: ['嗯。', '是的。', '对。', '嗯嗯。', '是。'],
  },
  parting: {
    en: ['Goodbye, doctor, thank you.', 'Thank you, bye.', 'Thanks for your time, doctor.'],
    zh: ['再见，谢谢医生。', '好的，那我先走了，谢谢您。', '谢谢大夫，再见。'],
  },
  praise: {
    en: ['Thank you.', "Good, I'm glad.", 'Oh, thanks.'],
    zh: ['谢谢。', '那就好。', '您过奖了。'],
  },
  'small-talk': {
    en: ['Yes, it is, rather.', 'Ha, yes.', 'You could say that.'],
    zh: ['是啊。', '可不是嘛。', '呵呵，是。'],
  },
}

/** Answers to a question whose topic nobody in the base has: denied, in order, or not known. */
export const unknownTopicSentences: {
  readonly [expects in 'no' | 'yes' | 'content']: SentenceBank
} = {
  no: {
    en: [
      'No, nothing like that.',
      'Not that I know of.',
      "No, I don't think so.",
      "No, not that I've noticed.",
      'No, nothing of the sort.',
      'Not as far as I can tell.',
    ],
    zh: [
      '没有，没这种情况。',
      '没有吧，没觉得。',
      '这个没有。',
      '没注意到有这样的。',
      '应该没有。',
      '没有过。',
    ],
  },
  yes: {
    en: [
      'Yes, all fine there.',
      'Fine, I would say.',
      'Yes, no problem with that.',
      'Just as usual, really.',
      'Nothing out of the ordinary.',
    ],
    zh: [
      '还行，跟平常一样。',
      '挺正常的。',
      '还可以吧。',
      '没什么特别的，都正常。',
      '跟以前差不多。',
    ],
  },
  content: {
    en: [
      "I couldn't tell you exactly.",
      "I'd have to think about that.",
      "That I don't really know.",
      'Hard to say, I have not kept track.',
      "I'm not certain, to be honest.",
      'I never paid much attention to it.',
    ],
    zh: [
      '这个我还真说不准。',
      '具体的我也说不上来。',
      '没太注意过这个。',
      '这我得想想，一下子说不好。',
      '不太清楚啊。',
      '说不好，没往这上头想过。',
    ],
  },
}

/** Answers to "Do you have …?" with the name of an illness. They are the same for all. */
export const hasIllnessSentences: SentenceBank = {
  en: [
    'Not that anyone has told me.',
    'Nobody has ever told me so.',
    'If I do, nobody has told me.',
    'No doctor has ever said that to me.',
  ],
  zh: [
    '没听哪个大夫这么说过。',
    '没人跟我说过得了这个。',
    '以前没查出来过。',
    '没听说过，反正没大夫告诉过我。',
  ],
}

/** Openings of the answer to a recap: it was right, or it was not. */
export const recapSentences: { readonly [right in 'right' | 'wrong']: SentenceBank } = {
  right: {
    en: ["Yes, that's right.", "That's right, doctor.", "Yes, that's it."],
    zh: ['对，是这样。', '对的，没错。', '嗯，您说得对。'],
  },
  wrong: {
    en: ['Not quite.', 'Well, not exactly.', 'Not all of that.'],
    zh: ['不全对。', '也不完全是。', '有点出入。'],
  },
}

/** Answers about "the pain" of somebody who has none. */
export const noPainSentences: SentenceBank = {
  en: ["It isn't really a pain.", "I wouldn't call it pain.", "There's no pain, as such."],
  zh: ['倒不是疼。', '也不算疼。', '没觉得疼。'],
}
