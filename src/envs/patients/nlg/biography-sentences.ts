/** Answers from the patient's biography, and from what the persona is convinced of. */
import { textInLanguage } from '../../../case.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { openingPolarity } from '../../../text/reply-openings.js'
import type { Language } from '../../../turn.js'
import { theoryOf, wishOf } from './convictions.js'
import { pickFresh } from './fresh.js'
import { remarks } from './manner-sentences.js'
import { adaptToSpeaker, ageInWords, introduceCarer } from './speaker.js'

/** Slots that a caregiver answers for themselves. */
const ownVoice: ReadonlySet<string> = new Set(['ideas', 'concerns', 'expectations', 'question'])

/** What the persona says to a question of the biography; undefined where it is no concern of it. */
function personaSentence(slot: string, context: PatientContext): string | undefined {
  const bank =
    slot === 'ideas' ? theoryOf(context) : slot === 'expectations' ? wishOf(context) : undefined
  return bank && pickFresh(bank, context, ['conviction', slot], { turns: context.dialogue.length })
}

/** Slots whose answer is no answer without its second half. */
const needsAll: ReadonlySet<string> = new Set([
  ...['name', 'birthday', 'height-weight'],
  ...['question', 'ideas', 'expectations', 'self-harm-plan'],
])

/** The first half of a sentence, which is the bare fact. */
function bareFact(sentence: string, language: Language): string {
  const comma = sentence.search(language === 'en' ? /[,;] / : /[，；]/)
  return comma < 0 ? sentence : sentence.slice(0, comma) + (language === 'en' ? '.' : '。')
}

/** The answer of the biography to a slot, cut short by a terse patient; undefined where the case has none. */
export function biographySentence(slot: string, context: PatientContext): string | undefined {
  const text = context.view.biography?.[slot]
  if (!text) return undefined
  const carer = slot === 'companion' ? introduceCarer(context) : undefined
  const own = carer ?? personaSentence(slot, context)
  if (own !== undefined) return own
  const told = textInLanguage(text, context.language).replaceAll(
    '{age}',
    ageInWords(context, context.language),
  )
  const said = ownVoice.has(slot) ? told : adaptToSpeaker(told, context)
  const terse = dialLevel(context.view.persona, 'terse') >= 2 && !needsAll.has(slot)
  return terse ? bareFact(said, context.language) : said
}

/** The question a patient has for the doctor; anxious people always have one. */
export function ownQuestion(context: PatientContext): string | undefined {
  const told = biographySentence('question', context)
  const none = told === undefined || openingPolarity(told, context.language) === 'no'
  const afraid = dialLevel(context.view.persona, 'anxious') >= 2
  if (!none || !afraid) return told
  const bank = remarks.anxious?.symptom?.[context.language] ?? []
  return pickFresh(
    bank.filter((text) => /[?？]$/.test(text)),
    context,
    ['own-question'],
  )
}
