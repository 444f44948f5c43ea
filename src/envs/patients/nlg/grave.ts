/** What nobody passes over lightly: a death, a loss, violence, thoughts of dying; and what is said when asked for more of it. */
import type { PatientContext } from '../../../patient.js'
import { pickFresh } from './fresh.js'
import { speakOfPatient } from './speaker.js'
import type { SentenceBank } from './stock-sentences.js'

const grave =
  /\b(?:died|dead|dies?|dying|passed away|killed|suicid\w*|(?:end|take|ending|taking) (?:my|his|her|it all|(?:my|his|her) own) ?(?:life)?|not be(?:ing)? here|better off without|miscarr\w*|stillbirth|lost (?:a|the|my|our|her) (?:baby|child|husband|wife|son|daughter)|attacked|raped?|assault\w*|abused?|beaten|something terrible)\b|去世|过世|死了|死在|没了(?!胃口|力气)|走了(?=。|，|$)|不在了|流产|小产|自杀|自尽|轻生|不想活|活着没|结束生命|遇害|出过人命|被打|强暴|侵犯|可怕的事|差点.{0,3}(?:死|没命)/i

/** Whether an answer tells something grave. */
export const isGrave = (text: string): boolean => grave.test(text)

const graveSentences: SentenceBank = {
  en: [
    "I'd rather not go into that, it still upsets me.",
    'I find it hard to talk about.',
    "Please, not the details. I can't shake it off as it is.",
    "Give me a moment, I don't like to think back to it.",
  ],
  zh: [
    '那事我不想细说，一想起来就难受。',
    '说起来心里堵得慌，能不细说吗？',
    '细节我真不愿意再想了。',
    '您让我缓缓，不太想回忆那个。',
  ],
}
const carerGraveSentences: SentenceBank = {
  en: [
    '{He} would rather not go into that, it still upsets {him}.',
    "It's hard for {him} to talk about.",
  ],
  zh: ['这事{ta}不愿意细说，一提就难受。', '{ta}不想再提那件事了。'],
}

/** Exchanges back that it is still asked on about. */
const memory = 2

/** What is said to a question for more of something grave that was told lately; undefined where nothing was. */
export function graveDetail(context: PatientContext): string | undefined {
  const lately = context.dialogue.slice(-memory)
  const told = lately.some(
    ({ reply }) => reply.told.some(({ state }) => state === 'present') && isGrave(reply.text),
  )
  if (!told) return undefined
  const carer = context.view.demographics.speaker === 'caregiver'
  const bank = (carer ? carerGraveSentences : graveSentences)[context.language]
  const texts = bank.map((text) => speakOfPatient(text, context))
  return pickFresh(texts, context, ['grave', context.dialogue.length])
}
