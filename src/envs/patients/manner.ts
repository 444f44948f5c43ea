/**
 * How a patient wraps what they say. Nothing here speaks of a finding or names a disease of the knowledge base:
 * a test reads every sentence as the doctor would and must find nothing in it.
 */
import type { PatientContext } from '../../patient.js'
import type { Dial } from '../../persona.js'
import { dialOf } from '../../persona.js'
import { pick, uniform } from '../../seed.js'
import type { Language } from '../../turn.js'
import { join } from './realise.js'

type Bank = { readonly [language in Language]: readonly string[] }

/** Sentences before and after an answer, by dial. */
export const manners: {
  readonly [dial in Dial]?: { readonly before?: Bank; readonly after?: Bank }
} = {
  anxious: {
    after: {
      en: [
        'Is it something serious, doctor?',
        'I am really worried, doctor.',
        'Please tell me it is nothing bad.',
        'I keep imagining the worst.',
      ],
      zh: ['医生，这要紧吗？', '我心里真的很不安。', '不会是什么大毛病吧？', '我老是往坏处想。'],
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
    after: {
      en: [
        'It is probably nothing, though.',
        'I do not want to make a fuss.',
        'Others are much worse off.',
      ],
      zh: ['应该没什么大不了的。', '我也不想给您添麻烦。', '比我难受的人多着呢。'],
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
    after: {
      en: [
        'I looked it up, and I am sure it is my nerves.',
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
    after: {
      en: [
        'Could you not simply give me something strong for it?',
        'I would like to have everything scanned, to be on the safe side.',
        'Last time they put me on a drip, and I want that again.',
      ],
      zh: [
        '您能不能直接给我开点好药？',
        '我想从头到脚都照一遍，放心。',
        '上次是挂水好的，这次也给我挂吧。',
      ],
    },
  },
}

/** P(such a sentence at one answer), by how far the dial is turned. */
const often = [0, 0.2, 0.45, 0.7]

/** A patient with less to say of themselves says nothing around it either. */
const silenced: ReadonlySet<Dial> = new Set<Dial>(['verbose', 'selfDiagnosing', 'demanding'])

/**
 * A patient's answer in their manner.
 * @param topic what the answer is about; the same topic is wrapped alike whenever it comes up
 */
export function inManner(answer: string, topic: string, context: PatientContext): string {
  const { view, seed, language } = context
  const before: string[] = []
  const after: string[] = []
  const terse = dialOf(view.persona, 'terse') >= 2
  for (const [name, banks] of Object.entries(manners)) {
    const dial = name as Dial // a key of `manners`
    const level = dialOf(view.persona, dial)
    if (level === 0 || (terse && silenced.has(dial))) continue
    for (const [place, bank] of [
      ['before', banks.before] as const,
      ['after', banks.after] as const,
    ]) {
      if (!bank || uniform(seed, 'manner', dial, place, topic) >= (often[level] ?? 0)) continue
      const side = place === 'before' ? before : after
      side.push(pick(bank[language], seed, 'manner-words', dial, place, topic))
    }
  }
  // One of each is a person; more is a parade.
  return join([...before.slice(0, 1), answer, ...after.slice(0, 1)], language)
}

/** P(asks to hear a question again), by how far the dial is turned. */
const losing = [0, 0.12, 0.25, 0.4]
const reassuredFor = 4

/** Whether the patient loses the thread at a question put for the first time; kind words help for some turns. */
export function losesThread(
  topic: string,
  asked: readonly string[],
  context: PatientContext,
): boolean {
  const { view, seed, dialogue } = context
  const level = dialOf(view.persona, 'confused')
  if (level === 0) return false
  if (dialogue.slice(-reassuredFor).some(({ reply }) => reply.understood === 'courtesy'))
    return false
  if (dialogue.some(({ reply }) => asked.some((id) => reply.asked.includes(id)))) return false
  return uniform(seed, 'thread', topic) < (losing[level] ?? 0)
}

/** P(a technical word is not known), by how far the dial is turned. */
const unknownWords = [0, 0.35, 0.7, 1]

/** Whether the technical words for a finding are beyond the patient. */
export const knowsWord = (finding: string, { view, seed }: PatientContext): boolean =>
  uniform(seed, 'jargon', finding) >= (unknownWords[dialOf(view.persona, 'lowLiteracy')] ?? 0)
