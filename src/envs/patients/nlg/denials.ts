/** Denials of a symptom or an illness that no finding models: told negatives, which name the thing. */
import type { Aside } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { pickFresh } from './fresh.js'
import { adaptToSpeaker } from './speaker.js'

/** `{}` is the name, as it follows "no". */
const english = [
  'No, no {}.',
  'No {}, no.',
  'No {}.',
  'No {}, doctor.',
  'No {}, really.',
  'Nothing like that, no {}.',
]
/** `{}` is a clause of its own. */
const chinese = ['{}。', '没有，{}。', '没，{}。', '没有啊，{}。', '嗯，{}。']

/** Denies one or more topics in one sentence, in the person of the speaker. */
export function denySentence(asides: readonly Aside[], context: PatientContext): string {
  const { language } = context
  const names = asides.flatMap(({ denied }) => denied?.[language] ?? [])
  const frames = language === 'en' ? english : names.length > 1 ? chinese.slice(0, 1) : chinese
  const name =
    language === 'zh'
      ? names.join('，')
      : [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ')
  const bank = frames.map((frame) => adaptToSpeaker(frame.replace('{}', name), context))
  return pickFresh(bank, context, ['deny', asides[0]?.id ?? ''])
}
