/**
 * Manner sentences: what a persona adds around an answer. None mentions a finding or names a disease of the knowledge
 * base; a test reads every sentence as if a doctor had said it and must find nothing in it.
 */
import type { Dial } from '../../../persona.js'
import type { SentenceBank } from './stock-sentences.js'

/** The sentences one dial adds. */
export interface Manner {
  readonly before?: SentenceBank
  readonly after?: SentenceBank
  /** Its sentences make sense only after the patient reported trouble. */
  readonly troubled?: true
}

/** Sentences before and after an answer, by dial. Each fits every speaker: the patient, a caregiver or an interpreter. */
export const mannerSentences: { readonly [dial in Dial]?: Manner } = {
  anxious: {
    after: {
      en: [
        'It is nothing bad, is it?',
        'I am really worried, doctor.',
        'Please tell me it is nothing bad.',
        'I keep imagining the worst.',
      ],
      zh: [
        '医生，这要紧吗？',
        '我心里真的很不安。',
        '不会是什么大毛病吧？',
        '我总怕查出什么不好的来。',
      ],
    },
  },
  verbose: {
    before: {
      en: [
        'Well, let me think about that for a moment.',
        'Oh, my neighbour asked me exactly the same thing on the way here.',
        'Now that is a good question, doctor.',
        'I was just saying to my family that somebody would ask me this.',
      ],
      zh: [
        '这个嘛，您让我想一想。',
        '哎呀，刚才路上邻居也这么问我来着。',
        '您这个问题问得好。',
        '我跟家里人还说起过，大夫肯定要问这个。',
      ],
    },
    after: {
      en: [
        'That is how it is, anyway, I could talk about it for hours.',
        'My cousin says I should have come long ago, but you know how it is.',
        'It took me two buses to get here, by the way.',
        'At home everybody has a different opinion on it.',
      ],
      zh: [
        '反正就是这么个情况，说起来话就长了。',
        '我表姐早就催我来，可您也知道，总是抽不出空。',
        '我今天换了两趟公交车才到的。',
        '家里人各有各的说法，我也不知道听谁的。',
      ],
    },
  },
  impatient: {
    before: {
      en: [
        'Can we get on with this?',
        'I have not got all day.',
        'Is this going to take much longer?',
      ],
      zh: ['能不能快一点？', '我赶时间。', '还要问多久啊？'],
    },
  },
  distrustful: {
    before: {
      en: [
        'I do not see what that has to do with it.',
        'Why do you need to know that?',
        'If you must know.',
      ],
      zh: ['问这个干什么？', '这跟看病有关系吗？', '您非要问的话。'],
    },
  },
  pleasing: {
    troubled: true,
    after: {
      en: [
        'It is probably nothing, though.',
        'I do not want to make a fuss.',
        'Others are much worse off.',
      ],
      zh: ['应该没什么大不了的。', '也不想给您添麻烦。', '这点小毛病，不碍事的。'],
    },
  },
  confused: {
    before: {
      en: [
        'Sorry, where was I?',
        'Now what were we talking about?',
        'Wait, let me get this straight.',
      ],
      zh: ['等等，我说到哪儿了？', '刚才咱说的是什么来着？', '您容我理一理。'],
    },
  },
  selfDiagnosing: {
    troubled: true,
    after: {
      en: [
        'I looked it up, and I am sure it is all down to nerves.',
        'To me it looks like some poison in the body.',
        'A friend thinks it is all from the weather.',
        'I read somewhere that it comes from too little of some mineral.',
      ],
      zh: [
        '我上网查过，觉得就是神经的问题。',
        '我看八成是身体里有毒素。',
        '朋友说都是天气闹的。',
        '我看文章里讲，是缺什么微量元素。',
      ],
    },
  },
  demanding: {
    troubled: true,
    after: {
      en: [
        'Could you not simply prescribe something strong for it?',
        'I would like everything scanned, to be on the safe side.',
        'Last time it took a drip, and I want that again.',
      ],
      zh: [
        '您能不能直接开点好药？',
        '最好从头到脚都照一遍，图个放心。',
        '上次是挂水好的，这次也挂吧。',
      ],
    },
  },
}
