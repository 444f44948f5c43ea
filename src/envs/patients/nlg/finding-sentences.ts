/**
 * The sentence in which a patient reports a finding: one of its author's, with another opening where the patient has
 * just begun a sentence like that. An author's sentences may differ in a detail ("my sister", "my brother"), so whoever
 * has said one keeps to it.
 */
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniform, uniformInt } from '../../../seed.js'
import {
  openingPolarity,
  type Polarity,
  replyOpenings,
  withOpening,
  withoutOpening,
} from '../../../text/reply-openings.js'
import { standaloneSentences } from '../../../text/third-person.js'
import type { Language } from '../../../turn.js'
import { fillValue } from '../../wording.js'
import { stemAge } from './fresh.js'
import { reportedState } from './recall.js'
import { adaptToSpeaker } from './speaker.js'

/** How a sentence is wanted. */
export interface Wanted {
  /** Volunteered or repeated, so that it must not begin like a reply. @default false */
  readonly unasked?: boolean
  /** Volunteered after another. @default false */
  readonly more?: boolean
  /** What the reply says so far. @default '' */
  readonly saying?: string
}

/** P(the shortest sentence), by the level of `terse`. */
const shortestChance = [0, 0.4, 0.8, 1]
/** P(two sentences for a symptom), by the level of `verbose`. */
const doubleChance = [0, 0.15, 0.35, 0.5]

/** Words that people of little schooling leave to doctors, and exact numbers. */
const bookish: { readonly [language in Language]: RegExp } = {
  en: /\b(?:temperature|mucus|diarrhoea|vomit\w*|nausea|queasy|bowels?|stools?|constipated|penicillin|antibiotic|ibuprofen|stent|specialist|psychiatr\w+|vision|discharge|odour|urine|flank|alcohol|medication|ten|thirty-\w+|forty)\b/i,
  zh: /体温|三十[七八九]度|四十度|布洛芬|青霉素|激素|食欲|视力|听力|嗅觉|味觉|分泌物|排便|便秘|体重|呼吸|心内科|精神科|支架|伴侣|同房|私处|知觉|四肢|违禁/,
}

const shorter = (a: string, b: string): number => a.length - b.length

/** The author's sentences that fit the persona, the one to be said first if nothing speaks against it in front. */
function ranked(
  finding: FindingDefinition,
  texts: readonly string[],
  { view: { persona }, seed, language }: PatientContext,
): { readonly texts: readonly string[]; readonly brief: boolean } {
  const chance = shortestChance[dialLevel(persona, 'terse')] ?? 0
  if (chance > 0 && uniform(seed, 'terse', finding.id) < chance) {
    const cores = texts.map((text) => withoutOpening(text, language) ?? text)
    return { texts: cores.sort(shorter), brief: true }
  }
  const plain =
    dialLevel(persona, 'lowLiteracy') >= 2 ? texts.filter((t) => !bookish[language].test(t)) : []
  const from = plain.length > 0 ? plain : texts
  const first = uniformInt(from.length, seed, 'words', finding.id)
  return { texts: [...from.slice(first), ...from.slice(0, first)], brief: false }
}

/** The sentence of these that was said of the finding before. */
function saidBefore(
  finding: FindingDefinition,
  texts: readonly string[],
  { dialogue, language }: PatientContext,
): string | undefined {
  for (const { reply } of dialogue) {
    if (!reply.told.some((one) => one.finding === finding.id)) continue
    // Openings change the case of the first letter.
    const said = texts.find((text) =>
      reply.text.includes((withoutOpening(text, language) ?? text).slice(1)),
    )
    if (said !== undefined) return said
  }
  return undefined
}

/** Whether the last reply, or this one so far, has begun with the same yes or no. */
function echoes(polarity: 'yes' | 'no', saying: string, context: PatientContext): boolean {
  const { language, dialogue } = context
  const last = saying !== '' ? saying : (dialogue.at(-1)?.reply.text ?? '')
  return openingPolarity(last, language) === polarity
}

/** The openings for a sentence that has none of its own or a stale one. */
function openingsFor(
  polarity: Polarity,
  { view: { persona }, language, seed, dialogue }: PatientContext,
): readonly string[] {
  const all = replyOpenings[polarity][language]
  const blunt = Math.max(dialLevel(persona, 'impatient'), dialLevel(persona, 'distrustful')) >= 2
  const bank = blunt ? all.slice(0, 2) : all
  const first = uniformInt(bank.length, seed, 'opening', polarity, dialogue.length)
  return [...bank.slice(first), ...bank.slice(0, first)]
}

/** All forms of the sentences, the likeliest first: as written, bare, and with other openings. */
function* formsOf(
  texts: readonly string[],
  polarity: 'yes' | 'no' | undefined,
  { unasked = false, more = false, saying = '' }: Wanted,
  context: PatientContext,
): Generator<string> {
  const { language } = context
  const cores = texts.map((text) => withoutOpening(text, language) ?? text)
  const bare = unasked || (polarity !== undefined && echoes(polarity, saying, context))
  if (more) {
    for (const opening of openingsFor('more', context))
      for (const core of cores) yield withOpening(opening, core, language)
  }
  for (const text of texts) if (!bare || !openingPolarity(text, language)) yield text
  for (const core of cores) yield core
  const openings = openingsFor(unasked ? 'neutral' : (polarity ?? 'neutral'), context)
  for (const core of cores)
    for (const opening of openings) yield withOpening(opening, core, language)
}

/** The first of the forms that begins as no sentence did lately, or else the one whose beginning is longest ago. */
function freshest(forms: Iterable<string>, saying: string, context: PatientContext): string {
  let best = ''
  let longest = -1
  for (const form of forms) {
    const age = stemAge(form, context, saying)
    if (age <= longest) continue
    best = form
    longest = age
    if (age === Number.POSITIVE_INFINITY) break
  }
  return best
}

/**
 * The sentence for a state of a finding, in the person of the speaker; undefined where its author wrote none. Terse
 * people take the shortest, people of little schooling a plain one, and a verbose one may say it twice over.
 */
export function findingSentence(
  finding: FindingDefinition,
  state: string,
  context: PatientContext,
  wanted: Wanted = {},
): string | undefined {
  const { seed, language, view } = context
  const said = finding.say[state]?.[language]
  if (!said) return undefined
  const { unasked = false, saying = '' } = wanted
  const recorded = view.findings.get(finding.id)
  const own = said.map((text) =>
    adaptToSpeaker(fillValue(text, finding, state, { seed, language, recorded }), context),
  )
  const polarity = own
    .map((text) => openingPolarity(text, language))
    .find((one) => one !== undefined)
  const kept = saidBefore(finding, own, context)
  const fitting = unasked ? standaloneSentences(own) : own
  const { texts, brief } = ranked(finding, kept === undefined ? fitting : [kept], context)
  const first = freshest(formsOf(texts, polarity, wanted, context), saying, context)
  if (brief || unasked || kept !== undefined || finding.kind !== 'symptom') return first
  const chance = doubleChance[dialLevel(view.persona, 'verbose')] ?? 0
  if (chance === 0 || uniform(seed, 'double', finding.id) >= chance) return first
  const others = texts
    .map((text) => withoutOpening(text, language) ?? text)
    .filter((core) => !first.includes(core.slice(1)))
  const second = others.find(
    (core) => stemAge(core, context, `${saying} ${first}`) === Number.POSITIVE_INFINITY,
  )
  return second === undefined ? first : first + (language === 'en' ? ' ' : '') + second
}

/** The sentence for a finding behind a closed gate: its ancestor's, or its own where the ancestor is misreported. */
export function closedGateSentence(
  finding: FindingDefinition,
  gate: FindingDefinition,
  context: PatientContext,
  wanted: Wanted = {},
): string | undefined {
  const state = context.view.findings.get(gate.id)?.state ?? 'absent'
  const misreported = reportedState(gate, false, context) !== state
  const own = misreported ? findingSentence(finding, 'absent', context, wanted) : undefined
  return own ?? findingSentence(gate, gate.say.absent ? 'absent' : state, context, wanted)
}
