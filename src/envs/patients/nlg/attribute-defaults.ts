/**
 * Attributes of a complaint that the base does not model: where, how bad, how often, what brings it on. Each patient has
 * one answer, drawn by the seed without regard to the disease, so that it says nothing of it and never changes. Of what
 * is no complaint (medicines, habits, travel) the patient knows no more than was told.
 */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniformInt } from '../../../seed.js'
import type { AskedAttribute } from '../nlu/attributes.js'
import { biographySentence } from './biography-sentences.js'
import { pickFresh } from './fresh.js'
import type { SentenceBank } from './stock-sentences.js'

/** Each inner list is one fact in several words. */
type Facts = readonly SentenceBank[]

const fact = (en: readonly string[], zh: readonly string[]): SentenceBank => ({ en, zh })

const vague = fact(
  [
    "I couldn't tell you that any more exactly.",
    "I really can't put it more precisely.",
    "That's as much as I know.",
    'Exactly? No idea.',
    'More than that I could only guess.',
  ],
  [
    '再细的我就说不上来了。',
    '更具体的我也说不清。',
    '就知道这么多。',
    '细的记不清了。',
    '说不了那么细。',
  ],
)

const general: { readonly [attribute in AskedAttribute]: Facts } = {
  frequency: [
    fact(
      ['A good few times, I have not kept count.', 'Quite a few times, I never counted.'],
      ['有好几次吧，没仔细数过。', '次数不少，没数过。'],
    ),
  ],
  amount: [
    fact(
      ["I couldn't put a figure on it.", 'I have never measured it.'],
      ['没量过，说不出个准数。', '具体多少我没留意。'],
    ),
  ],
  spell: [
    fact(
      [
        'It varies, I have never timed it.',
        'Sometimes longer, sometimes shorter, I never looked at the clock.',
      ],
      ['时长时短，没掐过表。', '说不准，有长有短。'],
    ),
  ],
  which: [vague],
  onset: [
    fact(['It came on bit by bit.', 'It crept up slowly.'], ['慢慢起来的。', '一点一点来的。']),
    fact(
      ['It came on fairly quickly.', 'It started rather quickly.'],
      ['来得比较快。', '起得挺快的。'],
    ),
  ],
  duration: [
    fact(
      ['About as long as all the rest.', 'Since all this began.'],
      ['跟这次不舒服一块儿开始的。', '就是从这次不舒服起。'],
    ),
  ],
  severity: [
    fact(
      ['Moderate, I can put up with it.', 'Bearable, but annoying.'],
      ['还能忍，就是挺烦人。', '中等吧，受得了。'],
    ),
    fact(
      ['Bad enough to bother me all day.', 'It does get in the way of things.'],
      ['挺影响我做事的。', '挺厉害，老惦记着它。'],
    ),
  ],
  site: [
    fact(
      ['Just the one spot, always the same.', 'Always in the same place.'],
      ['就这一块，没换过地方。', '老是这个地方。'],
    ),
  ],
  character: [
    fact(
      [
        'Hard to describe, it is just unpleasant.',
        'I lack the words for it, it is just not right.',
      ],
      ['说不好，反正就是难受。', '形容不上来，就是不得劲。'],
    ),
    fact(
      ['Nothing special about it, just as you would imagine.', 'Just the ordinary kind.'],
      ['也没什么特别的，就那样。', '就一般的那种感觉。'],
    ),
  ],
  radiation: [
    fact(
      ['No, it stays where it is.', 'No, it does not go anywhere else.'],
      ['不往别处去。', '就这儿，别的地方没有。'],
    ),
  ],
  aggravating: [
    fact(
      ['Nothing in particular makes it worse.', 'I have found nothing that sets it off.'],
      ['没发现什么会让它加重。', '说不上跟什么有关系。'],
    ),
    fact(
      ['It is worse when I am tired.', 'When I overdo things, it gets worse.'],
      ['累着了就重一些。', '一劳累就明显点。'],
    ),
  ],
  relieving: [
    fact(
      ['Nothing really helps.', 'I have found nothing that eases it.'],
      ['没什么能缓解的。', '怎么着都差不多。'],
    ),
    fact(
      ['A rest helps a little.', 'It eases a bit when I lie down and rest.'],
      ['歇一歇能好一点。', '躺下休息会轻一些。'],
    ),
  ],
  pattern: [
    fact(
      ['It comes and goes.', 'On and off, not all the time.'],
      ['一阵一阵的，不是一直有。', '时有时无。'],
    ),
    fact(
      ['It is there most of the time.', 'More or less all the time.'],
      ['差不多一直都有。', '基本上没断过。'],
    ),
  ],
  timing: [
    fact(
      ['It makes no difference what time of day it is.', 'No particular time of day.'],
      ['什么时候都差不多，不分早晚。', '不分早晚，都一样。'],
    ),
  ],
}

/** For pain, instead of the general facts. */
const ofPain: Partial<{ readonly [attribute in AskedAttribute]: Facts }> = {
  severity: [4, 5, 6, 7].map((n) =>
    fact(
      [`About ${n} out of 10.`, `I would say a ${n} out of 10.`],
      [`十分的话，大概${n}分。`, `有${n}分吧，满分十分。`],
    ),
  ),
  character: [
    fact(['A dull kind of ache.', 'It is a dull ache.'], ['隐隐的疼。', '就是那种闷闷的疼。']),
    fact(
      ['More of a sharp pain.', 'It is rather sharp.'],
      ['有点像针扎似的疼。', '是那种尖尖的疼。'],
    ),
  ],
}

const painful = /\b(?:pain|ache|aches|headache|sore)\b|疼|痛/

/** Whether a finding is a kind of pain, by its name. */
export const isPain = ({ finding }: Knowledge, id: string): boolean => {
  const name = finding.get(id)?.name
  return name !== undefined && (painful.test(name.en.toLowerCase()) || painful.test(name.zh))
}

/** By its name, a finding of what a person has two of, without saying which. */
const oneOfTwo = /\b(?:eye|ear|sight|hearing|flank|face|leg|arm|limb)\b/

const sides: Facts = [
  fact(['On the left.', "It's the left."], ['左边。', '是左边。']),
  fact(['On the right.', "It's the right."], ['右边。', '是右边。']),
]

/** The slot of the biography that has more of a habit or a medicine; undefined where the patient can only say so. */
function slotOf(knowledge: Knowledge, id: string, attribute: AskedAttribute): string | undefined {
  const kind = knowledge.finding.get(id)?.kind
  if (kind === 'medication') return 'medicine-dose'
  if (kind !== 'social') return undefined
  if (attribute === 'duration') return 'habit-years'
  // The topics of the base that ask about more of a habit.
  return knowledge.asides.find(({ also, slot }) => slot !== undefined && also?.includes(id))?.slot
}

/** The facts one of which holds for a complaint. */
function factsOf(
  knowledge: Knowledge,
  complaint: string,
  attribute: AskedAttribute,
  { view }: PatientContext,
): Facts {
  const definition = knowledge.finding.get(complaint)
  if (definition?.kind !== 'symptom') return [vague]
  const place = attribute === 'site' || attribute === 'which'
  if (place && oneOfTwo.test(definition.name.en.toLowerCase())) return sides
  // Marks out of ten are not for everybody.
  const plain = attribute === 'severity' && dialLevel(view.persona, 'lowLiteracy') >= 2
  const pain = !plain && isPain(knowledge, complaint)
  return (pain ? ofPain[attribute] : undefined) ?? general[attribute]
}

/** The patient's answer about an attribute of a complaint, or of what else was asked about, that is not modelled. */
export function defaultAttribute(
  knowledge: Knowledge,
  complaint: string,
  attribute: AskedAttribute,
  context: PatientContext,
): string {
  const { seed, language, dialogue } = context
  const slot = slotOf(knowledge, complaint, attribute)
  const told = slot === undefined ? undefined : biographySentence(slot, context)
  if (told !== undefined) return told
  const facts = factsOf(knowledge, complaint, attribute, context)
  // The same side for all that is wrong with a patient.
  const keys = facts === sides ? ['side'] : [complaint, attribute]
  const drawn = facts[uniformInt(facts.length, seed, 'default', ...keys)]
  return pickFresh(drawn?.[language] ?? [], context, [
    ...['default-words', complaint, attribute],
    dialogue.length,
  ])
}
