/**
 * What a patient says to an act of conversation, and to a question about something that nothing is known of.
 *
 * Long because it is one table of sentences in two languages.
 */
import type { ConversationAct } from '../../../knowledge/knowledge.js'
import type { SentenceBank } from './stock-sentences.js'

/** Replies to acts of conversation that ask for no information. */
export const speechSentences: { readonly [act in ConversationAct]: SentenceBank } = {
  greeting: {
    en: ['Hello, doctor.', 'Good day, doctor.', 'Hello.', 'Hi, doctor.', 'Nice to meet you.'],
    zh: ['医生您好。', '您好，大夫。', '您好。', '大夫好。', '哎，您好您好。'],
  },
  thanks: {
    en: [
      'Thank you, doctor.',
      'Thanks, doctor.',
      'No, thank you.',
      'Not at all, thank you.',
      "You're welcome.",
      'I have to thank you.',
    ],
    zh: [
      '谢谢医生。',
      '谢谢您。',
      '应该我谢谢您。',
      '麻烦您了，大夫。',
      '您客气了。',
      '辛苦您了。',
    ],
  },
  apology: {
    en: [
      "That's all right.",
      'No problem at all.',
      "Don't mention it, doctor.",
      "It's fine, really.",
      'Never mind.',
    ],
    zh: ['没关系的。', '没事没事。', '您别客气。', '不要紧。', '没事儿，您接着来。'],
  },
  sympathy: {
    en: [
      'Thank you, doctor.',
      'Yes, it has not been easy.',
      "That's kind of you.",
      'Thanks.',
      "Well, it can't be helped.",
      'I just want it over with.',
    ],
    zh: [
      '谢谢您。',
      '是啊，挺折腾人的。',
      '谢谢医生体谅。',
      '唉，可不是嘛。',
      '没办法，摊上了。',
      '就盼着早点好。',
    ],
  },
  reassurance: {
    en: [
      "That's good to hear.",
      'All right, thank you.',
      'Okay, doctor, that helps.',
      "That's a relief.",
      'I feel better already.',
      'Good, then I can breathe again.',
    ],
    zh: [
      '好的，那我就放心点了。',
      '听您这么说我心里踏实些。',
      '嗯，谢谢医生。',
      '那就好，那就好。',
      '有您这句话就行。',
      '哎，放心多了。',
    ],
  },
  agreement: {
    en: [
      'All right, doctor.',
      'Okay.',
      'Right, I see.',
      'Sure, that makes sense.',
      'Yes, fine.',
      "That's fine with me.",
      'Understood.',
      'If you say so, doctor.',
    ],
    zh: [
      '好的，医生。',
      '嗯，行。',
      '好，我听您的。',
      '明白了。',
      '嗯，我知道了。',
      '好，知道了。',
      '没问题。',
      '就按您说的办。',
    ],
  },
  consent: {
    en: [
      'Yes, of course, go ahead.',
      'Sure, please do.',
      'Okay, no problem.',
      "That's fine, doctor.",
      'By all means.',
      'Whenever you like.',
    ],
    zh: ['可以，您查吧。', '行，没问题。', '好的，您来。', '您查就是了。', '来吧。', '嗯，好。'],
  },
  confirm: {
    en: [
      "Yes, that's right.",
      "That's right.",
      'Yes, it is.',
      'Yes, I think so.',
      'Exactly.',
      'Correct, doctor.',
    ],
    zh: ['对，是这样。', '是的，没错。', '嗯，对。', '是的。', '就是这么回事。', '没错，大夫。'],
  },
  'any-questions': {
    en: [
      "No, I think that's all, thank you.",
      'Not right now, thank you.',
      "No, you've explained everything.",
      'Nothing I can think of.',
      "That's all I wanted to know.",
    ],
    zh: [
      '没有了，谢谢医生。',
      '暂时没什么要问的了。',
      '没有了，您说得挺清楚的。',
      '别的没啥了。',
      '想知道的都知道了。',
    ],
  },
  clear: {
    en: [
      "Yes, that's fine.",
      'Yes, that sounds good.',
      "Yes, that's clear, thank you.",
      'I think I got it all.',
      'All clear, doctor.',
      'Understood, thank you.',
    ],
    zh: [
      '行，没问题。',
      '可以的，就按您说的来。',
      '嗯，听明白了。',
      '都清楚了。',
      '懂了，大夫。',
      '好，就这么办。',
    ],
  },
  hearing: {
    en: [
      'Yes, I can hear you fine.',
      'Yes, loud and clear.',
      'Yes, I hear you well.',
      'I can hear you.',
      'Perfectly well, doctor.',
    ],
    zh: ['听得见，挺清楚的。', '能听见，您说。', '听得清。', '听着呢。', '没问题，听得到。'],
  },
  readiness: {
    en: [
      "Yes, that's fine, I can talk.",
      'Yes, I am ready.',
      'Sure, go ahead.',
      'Ask away, doctor.',
      'Okay, I am listening.',
    ],
    zh: ['方便，您问吧。', '可以，您说。', '行，开始吧。', '您尽管问。', '好，听着呢。'],
  },
  patience: {
    en: [
      'Sure, no hurry.',
      'Of course.',
      'Okay, take your time.',
      "I'll wait.",
      'No rush, doctor.',
    ],
    zh: ['好的，不着急。', '行，您忙您的。', '嗯，好。', '没事，我等着。', '您慢慢来。'],
  },
  repeat: {
    en: ['Sure, what did you miss?', 'Of course, which part?', 'Yes, which bit, doctor?'],
    zh: ['行，您哪句没听清？', '好，您要听哪一句？', '嗯，您说哪一句？'],
  },
  backchannel: {
    en: ['Yes.', 'Mm.', 'Right.', "That's it, yes.", 'Yeah.'],
    zh: ['嗯。', '是的。', '对。', '嗯嗯。', '是。', '哎。'],
  },
  parting: {
    en: [
      'Goodbye, doctor, thank you.',
      'Thank you, bye.',
      'Thanks for your time, doctor.',
      'Bye, doctor, and thanks.',
    ],
    zh: ['再见，谢谢医生。', '好的，那我先走了，谢谢您。', '谢谢大夫，再见。', '那您忙，再见。'],
  },
  praise: {
    en: ['Thank you.', "Good, I'm glad.", 'Oh, thanks.', "That's nice to hear.", 'I do my best.'],
    zh: ['谢谢。', '那就好。', '您过奖了。', '应该的。', '嗯，我尽量。'],
  },
  'small-talk': {
    en: ['Yes, it is, rather.', 'Ha, yes.', 'You could say that.', "That's true.", 'Indeed.'],
    zh: ['是啊。', '可不是嘛。', '呵呵，是。', '您说得是。', '对呀。'],
  },
}

/** What the carer of a small child says instead: `{he}` is the child. */
export const smallChildSentences: { readonly [act in ConversationAct]?: SentenceBank } = {
  consent: {
    en: [
      "Sure, I'll hold {him}.",
      'Go ahead, {he} can sit on my lap.',
      'Yes, of course, go ahead.',
      'Okay, no problem.',
    ],
    zh: ['行，我抱着{ta}。', '您查吧，我搂着{ta}。', '可以，您查吧。', '好的，您来。'],
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
      'None of that.',
      "I don't believe so.",
    ],
    zh: [
      '没有，没这种情况。',
      '没有吧，没觉得。',
      '这个没有。',
      '没有，没留意到。',
      '应该没有。',
      '没有过。',
      '倒没这回事。',
      '没有，没觉着。',
    ],
  },
  yes: {
    en: [
      'Yes, all fine there.',
      'Fine, I would say.',
      'Yes, no problem with that.',
      'Just as usual, really.',
      'Nothing out of the ordinary.',
      'As it should be.',
      "I can't complain there.",
    ],
    zh: [
      '还行，跟平常一样。',
      '挺正常的。',
      '还可以吧。',
      '没什么特别的，都正常。',
      '跟以前差不多。',
      '都好着呢。',
      '一般吧，没啥问题。',
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
      'Good question, no idea.',
      "Off the top of my head, I can't say.",
    ],
    zh: [
      '这个我还真说不准。',
      '具体的我也说不上来。',
      '没太注意过这个。',
      '这我得想想，一下子说不好。',
      '不太清楚啊。',
      '说不好，没往这上头想过。',
      '您这一问，还真不知道。',
      '没留过心，说不上来。',
    ],
  },
}

/** Said of a detail of a symptom that the patient has: which of two ways it is, or whether some occasion brings it. */
export const unsureDetailSentences: SentenceBank = {
  en: [
    'Which of those, I could not say for sure.',
    "I haven't paid attention to that detail.",
    'On that point I am not certain.',
  ],
  zh: ['您问的这个细节，我说不太准。', '这一点我没太留意。', '这么细，我还真说不准。'],
}

/** Answers to "Do you have …?" with the name of an illness. They are the same for all. */
export const hasIllnessSentences: SentenceBank = {
  en: [
    'Not that anyone has told me.',
    'Nobody has ever told me so.',
    'If I do, nobody has told me.',
    'No doctor has ever said that to me.',
    'I have never heard that from a doctor.',
    "That's never come up.",
  ],
  zh: [
    '没听哪个大夫这么说过。',
    '没人跟我说过得了这个。',
    '以前没查出来过。',
    '没听说过，反正没大夫告诉过我。',
    '大夫没跟我提过这个。',
    '这个没人说起过。',
  ],
}

/** What a caregiver answers to it: `{he}` is the patient. */
export const carerHasIllnessSentences: SentenceBank = {
  en: [
    'Not that anyone has told us.',
    'Nobody has ever told us so.',
    'If {he} does, nobody has said so.',
    'No doctor has ever said that of {him}.',
    "That's never come up.",
  ],
  zh: [
    '没听哪个大夫这么说过。',
    '没人跟我们说过{ta}得了这个。',
    '以前没查出来过。',
    '大夫没跟我们提过这个。',
    '这个没人说起过。',
  ],
}

/** Openings of the answer to a recap: it was right, or it was not. */
export const recapSentences: { readonly [right in 'right' | 'wrong']: SentenceBank } = {
  right: {
    en: ["Yes, that's right.", "That's right, doctor.", "Yes, that's it.", 'You got it all right.'],
    zh: ['对，是这样。', '对的，没错。', '嗯，您说得对。', '是，就这些。'],
  },
  wrong: {
    en: ['Not quite.', 'Well, not exactly.', 'Not all of that.'],
    zh: ['不全对。', '也不完全是。', '有点出入。'],
  },
}

/** Answers about "the pain" of somebody who has none. */
export const noPainSentences: SentenceBank = {
  en: [
    "It isn't really a pain.",
    "I wouldn't call it pain.",
    "There's no pain, as such.",
    'Pain is not the word for it.',
  ],
  zh: ['倒不是疼。', '也不算疼。', '没觉得疼。', '说不上疼。'],
}
