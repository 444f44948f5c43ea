/** Denials of a symptom or an illness that no finding models: told negatives, which name the thing. */
import type { Aside } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { pickFresh } from './fresh.js'

/** `{}` is the name, as it follows "no". */
const english = [
  'No, no {}.',
  'No {}, no.',
  "I haven't had any {}.",
  'No {} that I know of.',
  'No, never had any {}.',
]
/** `{}` is a clause of its own. */
const chinese = ['{}。', '没有，{}。', '{}，真没有。', '这个没有，{}。']

/** Denies one or more topics in one sentence. */
export function denySentence(asides: readonly Aside[], context: PatientContext): string {
  const { language } = context
  const names = asides.flatMap(({ denied }) => denied?.[language] ?? [])
  const bank = language === 'en' ? english : names.length > 1 ? chinese.slice(0, 1) : chinese
  const name =
    language === 'zh'
      ? names.join('，')
      : [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ')
  // A frame is chosen before the name is put in, so that frames take turns too.
  const stems = bank.map((frame) => frame.split('{}')[0] ?? '')
  const fresh = bank.filter(
    (_, b) =>
      (stems[b] ?? '').length < 4 ||
      !context.dialogue.slice(-4).some(({ reply }) => reply.text.startsWith(stems[b] ?? '')),
  )
  const frame = pickFresh(fresh.length > 0 ? fresh : bank, context, ['deny', asides[0]?.id ?? ''])
  return frame.replace('{}', name)
}
