/**
 * Remarks: what a persona adds to an answer, by what the answer was about. None mentions a finding or names a disease of the
 * knowledge base; a test reads every sentence as if a doctor had said it and must find nothing in it.
 *
 * Long because it is one table of sentences in two languages.
 */
import type { Dial } from '../../../persona.js'
import type { SentenceBank } from './stock-sentences.js'

/**
 * What an answer was about: a symptom the patient has, something else that is so (an illness, a habit, a relative), a
 * symptom or something else that is not, a matter of life asked for in passing, a time, what something is like, a
 * delicate matter that is so, an examination about to be made, or a comforting word.
 */
export type ReplyMoment =
  | 'symptom'
  | 'history'
  | 'denial'
  | 'never'
  | 'life'
  | 'time'
  | 'quality'
  | 'delicate'
  | 'exam'
  | 'comfort'

/** Remarks by moment. */
export type Remarks = { readonly [moment in ReplyMoment]?: SentenceBank }

const impatience: SentenceBank = {
  en: [
    'Is that all you need?',
    'Can we move on?',
    'Will this take much longer?',
    'Others are waiting for me, doctor.',
  ],
  zh: ['还要问多久啊？', '咱能快点不？', '我后头还有事呢。', '能不能拣要紧的问？'],
}

const distrust: SentenceBank = {
  en: [
    'Why do you need to know that?',
    "What's that got to do with it?",
    'Do you have to write that down?',
    'Do you ask everybody that?',
    'Who gets to read all this?',
    'I hope this leads somewhere.',
  ],
  zh: [
    '您问这个干什么？',
    '这跟看病有关系吗？',
    '这个也要记下来？',
    '您对谁都这么问？',
    '这些话谁都能看见吗？',
    '问这么多有用吗？',
  ],
}

const confusion: SentenceBank = {
  en: [
    'Is that what you were asking?',
    'Or did you mean something else?',
    'I may be mixing things up.',
    'Wait, what was I saying?',
    'Now where were we?',
  ],
  zh: [
    '您问的是这个吧？',
    '我这么说对得上您问的吗？',
    '等等，我说到哪儿了？',
    '我是不是弄混了？',
    '脑子有点乱，我说清楚了吗？',
  ],
}

/** The remarks of each dial. They fit every speaker: the patient, a caregiver or an interpreter. */
export const remarks: { readonly [dial in Dial]?: Remarks } = {
  anxious: {
    symptom: {
      en: [
        'Is that a bad sign, doctor?',
        'Could it be something serious?',
        'What could that mean?',
        'I keep imagining the worst.',
        "Please tell me it's nothing bad.",
        'Do you see that often?',
        'Can it be put right?',
      ],
      zh: [
        '医生，这要紧吗？',
        '不会是什么大毛病吧？',
        '这说明什么呢？',
        '这种情况您见得多吗？',
        '能治好吧，大夫？',
        '这个严不严重啊？',
        '我总怕查出什么不好的来。',
      ],
    },
    history: {
      en: [
        'Does that make it worse?',
        'Could it have to do with that?',
        'Should I have told you before?',
      ],
      zh: ['跟这个有关系吗？', '这个要不要紧？', '是不是早该跟您说？'],
    },
    denial: {
      en: [
        "That's good, isn't it?",
        'Is it bad that you ask?',
        'Should I watch out for that?',
        'Would that have been serious?',
      ],
      zh: [
        '那就是没事吧？',
        '您问这个，是怀疑什么吗？',
        '这个要是不好，是不是就严重了？',
        '那我要不要留意着点？',
      ],
    },
    never: {
      en: ['Does that matter?', 'Is that important?', 'Would that have been a clue?'],
      zh: ['这个要紧吗？', '有没有这个，差别大吗？', '这跟病有关系吗？'],
    },
    exam: {
      en: [
        'Will it hurt?',
        'What are you looking for, doctor?',
        'How soon will we know?',
        'Do you suspect something bad?',
      ],
      zh: ['做这个难受吗？', '您是怀疑什么不好的吗？', '结果多久能出来？', '不会查出什么吧？'],
    },
    comfort: {
      en: ['Are you quite sure?', "You would tell me, wouldn't you?", 'I hope you are right.'],
      zh: ['您可别瞒着我。', '真的没事吗？', '但愿是这样。'],
    },
  },
  verbose: {
    symptom: {
      en: [
        'At home everybody has a different opinion on it.',
        'I could talk about it for hours.',
        'My family keep telling me to get it looked at.',
      ],
      zh: [
        '家里人各有各的说法，我也不知道听谁的。',
        '说起来话就长了。',
        '家里人早就催着来看看了。',
      ],
    },
    history: {
      en: [
        'But you know how it is.',
        "That's a story of its own.",
        'I could tell you a lot about that.',
      ],
      zh: ['这说起来话就长了。', '您也知道，就那么回事。', '这事儿三言两语说不清。'],
    },
    denial: {
      en: [
        "I'd have told you otherwise.",
        "That's one thing less, at least.",
        "I'd have noticed, believe me.",
        'My family would have noticed, too.',
      ],
      zh: [
        '有不对劲我早跟您说了。',
        '这点倒还省心。',
        '真有什么，身边人早看出来了。',
        '这个我还真留意过。',
      ],
    },
  },
  impatient: {
    ...{ symptom: impatience, history: impatience, denial: impatience },
    ...{ never: impatience, life: impatience },
  },
  distrustful: {
    ...{ history: distrust, denial: distrust, never: distrust, life: distrust },
    comfort: {
      en: ['If you say so.', "We'll see about that.", "That's what they all say."],
      zh: ['您说是就是吧。', '但愿吧。', '谁都这么说。'],
    },
  },
  pleasing: {
    symptom: {
      en: [
        "It's probably nothing, though.",
        "I don't want to make a fuss.",
        'Others are much worse off.',
        'Nothing I could not put up with.',
        'Sorry to bother you with it.',
      ],
      zh: [
        '应该没什么大不了的。',
        '也不想给您添麻烦。',
        '这点小毛病，不碍事的。',
        '忍忍也就过去了。',
        '比这重的人多了去了。',
      ],
    },
  },
  confused: {
    ...{ symptom: confusion, history: confusion, denial: confusion },
    ...{ never: confusion, life: confusion },
  },
  ashamed: {
    delicate: {
      en: [
        "It's not easy to talk about.",
        "I'd rather nobody else heard that.",
        'This is rather awkward.',
        'Please keep it between us.',
      ],
      zh: ['这话真不好意思说。', '您可别跟别人讲。', '说出来怪难为情的。', '这事没跟谁提过。'],
    },
  },
  forgetful: {
    time: {
      en: [
        'If I remember rightly.',
        "But don't hold me to it.",
        'Something like that, anyway.',
        "I think that's right.",
      ],
      zh: ['大概是这样，记不太准。', '我记得是这样。', '应该没记错吧。', '反正差不多。'],
    },
  },
  lowLiteracy: {
    quality: {
      en: [
        "I don't know what you doctors call it.",
        "I can't say it any better than that.",
        'You know better what that is.',
      ],
      zh: ['用你们的话怎么说我不知道。', '我没念过多少书，只会这么说。', '您听着明白就行。'],
    },
  },
}

/** What a caregiver says instead: `{he}` is the patient. */
export const carerRemarks: { readonly [dial in Dial]?: Remarks } = {
  anxious: {
    symptom: {
      en: [
        'Is {he} going to be all right?',
        'Is that dangerous for {him}?',
        'Could it be something serious?',
        'Will {he} get over this?',
        "Please tell me it's nothing bad.",
        'I just want {him} to be well again.',
      ],
      zh: [
        '{ta}不会有什么事吧？',
        '这对{ta}要不要紧啊？',
        '我看着心里真着急。',
        '{ta}能好起来吧，大夫？',
        '不会是什么大毛病吧？',
        '这个严不严重啊？',
      ],
    },
  },
  pleasing: {
    symptom: {
      en: [
        "It's probably nothing, though.",
        "I don't want to make a fuss.",
        'Perhaps I should have waited.',
        'Sorry to take up your time.',
      ],
      zh: [
        '应该没什么大不了的。',
        '可能是我们太小题大做了。',
        '又来麻烦您了。',
        '也不想给您添麻烦。',
      ],
    },
  },
}
