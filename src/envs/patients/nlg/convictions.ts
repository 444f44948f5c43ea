/** What a patient is convinced of: one theory, where they diagnose themselves, and one wish, where they are demanding. */
import { ageInYears } from '../../../inference/posterior.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniformInt } from '../../../seed.js'
import type { SentenceBank } from './stock-sentences.js'

/** Theories, each in several words. None is a disease of the knowledge base. */
export const theories: readonly SentenceBank[] = [
  {
    en: [
      "I looked it up, and I am sure it's all down to nerves.",
      "If you ask me, it's nothing but nerves.",
      "It's nerves, I still say.",
    ],
    zh: [
      '我上网查过，觉得就是神经的问题。',
      '要我说，就是神经上的事儿。',
      '我还是觉得是神经的毛病。',
    ],
  },
  {
    en: [
      'To me it looks like some poison in the body.',
      'I think the body wants to get rid of some poison.',
      'Some kind of poison, I would say.',
    ],
    zh: ['我看八成是身体里有毒素。', '我琢磨着就是毒没排干净。', '要我说，把毒排出去就好了。'],
  },
  {
    en: [
      "A friend thinks it's all from the weather.",
      "It's this weather, I'm sure.",
      'I blame the weather.',
    ],
    zh: ['朋友说都是天气闹的。', '我看就是这天气不对。', '准是这天气变来变去闹的。'],
  },
  {
    en: [
      'I read somewhere that it comes from too little of some mineral.',
      'I bet some mineral is missing.',
      "It's a lack of some mineral, I'm convinced.",
    ],
    zh: [
      '我看文章里讲，是缺什么微量元素。',
      '八成是缺了哪样微量元素。',
      '我觉得补补微量元素就行。',
    ],
  },
]

/** Wishes for a treatment or a test, each in several words. */
export const wishes: readonly SentenceBank[] = [
  {
    en: [
      'Could you not simply prescribe something strong for it?',
      'Something strong would sort it out.',
      "I'd like you to write me up for something strong.",
    ],
    zh: ['您能不能直接开点好药？', '给开点管用的药就行。', '我就想要点药劲儿大的。'],
  },
  {
    en: [
      'I would like everything scanned, to be on the safe side.',
      "A full scan, that's what is needed.",
      "Can't you just scan everything?",
    ],
    zh: ['最好从头到脚都照一遍，图个放心。', '能不能都给照个片子？', '我就想全身查一遍。'],
  },
  {
    en: ["What I'd like is a drip.", 'A drip would put it right.', "Can't I simply have a drip?"],
    zh: ['要不给挂个水吧？', '我看挂两天水就好了。', '我是想挂水，好得快。'],
  },
]

type ConvictionContext = Pick<PatientContext, 'view' | 'seed' | 'language'>

/** Nobody puts a child's illness down to nerves, the first theory. */
const grownUp = 18

/** The patient's own theory, in several words; undefined for a patient who has none. */
export function theoryOf({
  view,
  seed,
  language,
}: ConvictionContext): readonly string[] | undefined {
  if (dialLevel(view.persona, 'selfDiagnosing') === 0) return undefined
  const age = ageInYears(view.demographics.age) ?? grownUp
  const fitting = age < grownUp ? theories.slice(1) : theories
  return fitting[uniformInt(fitting.length, seed, 'theory')]?.[language]
}

/** What the patient wants done, in several words; undefined for a patient who leaves it to the doctor. */
export const wishOf = ({
  view,
  seed,
  language,
}: ConvictionContext): readonly string[] | undefined =>
  dialLevel(view.persona, 'demanding') === 0
    ? undefined
    : wishes[uniformInt(wishes.length, seed, 'wish')]?.[language]
