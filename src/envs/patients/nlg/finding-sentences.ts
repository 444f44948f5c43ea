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
import { type Pronoun, pronounForSex, standaloneSentences } from '../../../text/third-person.js'
import type { Language } from '../../../turn.js'
import { fillValue } from '../../wording.js'
import { stemAge, stemOf } from './fresh.js'
import { reportedState } from './recall.js'
import { adaptToSpeaker } from './speaker.js'

/** How a sentence is wanted. */
export interface Wanted {
  /** Volunteered or repeated, so that it must not begin like a reply. @default false */
  readonly unasked?: boolean
  /** Said after words of its own ("As I said: …"). @default false */
  readonly quoted?: boolean
  /** Volunteered after another. @default false */
  readonly more?: boolean
  /** Asked in a way that a yes or a no does not answer ("How is …", "Is … all right?"). @default false */
  readonly open?: boolean
  /** One of several answers in a reply. @default false */
  readonly several?: boolean
  /** What the reply says so far. @default '' */
  readonly saying?: string
}

/** Questions that a yes or a no does not answer, or answers the other way round. */
const openQuestion =
  /(?:^|[.?!,;] )(?:(?:and|so|but) )?(?:how|what|where|when|which|who|tell me|describe)\b|\b(?:all right|alright|ok|okay|normal(?:ly)?|fine|as usual|healthy)\b|怎么|什么|啥|哪|多少|多久|多高|几[天次个回]|说说|正常|好[吗不么]|清楚|还行|还好/i

/** Whether a question is none that a yes or a no answers. */
export const isOpenQuestion = (utterance: string): boolean => openQuestion.test(utterance)

/** P(the shortest sentence), by the level of `terse`. */
const shortestChance = [0, 0.4, 0.8, 1]
/** P(two sentences for a symptom), by the level of `verbose`. */
const doubleChance = [0, 0.15, 0.35, 0.5]

/** Words that people of little schooling leave to doctors, and exact numbers. */
const bookish: { readonly [language in Language]: RegExp } = {
  en: /\b(?:temperature|mucus|diarrhoea|vomit\w*|nausea|queasy|bowels?|stools?|constipated|penicillin|antibiotic|ibuprofen|stent|specialist|psychiatr\w+|vision|discharge|odour|urine|flank|alcohol|medication|ten|thirty-\w+|forty)\b/i,
  zh: /体温|三十[七八九]度|四十度|布洛芬|青霉素|激素|食欲|视力|听力|嗅觉|味觉|分泌物|排便|便秘|体重|呼吸|心内科|精神科|支架|伴侣|同房|私处|知觉|四肢|违禁/,
}

/** A sentence of an author's, in the person of the speaker. */
interface Prepared {
  readonly text: string
  readonly polarity: 'yes' | 'no' | undefined
  /** Without its opening. */
  readonly core: string
  readonly textStem: string
  readonly coreStem: string
  readonly bookish: boolean
}

/** The sentences for one state. */
interface PreparedState {
  readonly all: readonly Prepared[]
  /** Those that need no question before them, or else all. */
  readonly standalone: readonly Prepared[]
  readonly polarity: 'yes' | 'no' | undefined
  readonly measured: boolean
}

function prepare(said: readonly string[], context: PatientContext): PreparedState {
  const { language } = context
  const all = said.map((authored): Prepared => {
    const text = adaptToSpeaker(authored, context)
    const core = withoutOpening(text, language) ?? text
    return {
      text,
      core,
      polarity: openingPolarity(text, language),
      textStem: stemOf(text, language),
      coreStem: stemOf(core, language),
      bookish: bookish[language].test(authored),
    }
  })
  const standing = new Set(standaloneSentences(all.map(({ text }) => text)))
  return {
    all,
    standalone: all.filter(({ text }) => standing.has(text)),
    polarity: all.find(({ polarity }) => polarity !== undefined)?.polarity,
    measured: said.some((text) => text.includes('{value}')),
  }
}

type Person = Pronoun | 'I'

/** Sentences by the author's list and by person. */
const preparedStates = new WeakMap<readonly string[], { [person in Person]?: PreparedState }>()

/** The sentences for a state; undefined where the author wrote none. */
function prepared(
  finding: FindingDefinition,
  state: string,
  context: PatientContext,
): PreparedState | undefined {
  const { seed, language, view } = context
  const said = finding.say[state]?.[language]
  if (!said) return undefined
  const { speaker, sex } = view.demographics
  const person = speaker !== 'caregiver' ? 'I' : pronounForSex(sex)
  const before = preparedStates.get(said)
  const known = before?.[person]
  if (known && !known.measured) return known
  const recorded = view.findings.get(finding.id)
  const filled = said.map((text) => fillValue(text, finding, state, { seed, language, recorded }))
  const made = { ...prepare(filled, context), measured: said.some((t) => t.includes('{value}')) }
  preparedStates.set(said, { ...before, [person]: made })
  return made
}

/** Whether this patient says the finding in as few words as there are. */
function isBrief({ id }: FindingDefinition, { view: { persona }, seed }: PatientContext): boolean {
  const chance = shortestChance[dialLevel(persona, 'terse')] ?? 0
  return chance > 0 && uniform(seed, 'terse', id) < chance
}

/** The sentences that fit the persona, the one to be said first if nothing speaks against it in front. */
function ranked(
  { id }: FindingDefinition,
  texts: readonly Prepared[],
  { view: { persona }, seed }: PatientContext,
): readonly Prepared[] {
  const plain = dialLevel(persona, 'lowLiteracy') >= 2 ? texts.filter((one) => !one.bookish) : []
  const from = plain.length > 0 ? plain : texts
  const first = uniformInt(from.length, seed, 'words', id)
  return first === 0 ? from : [...from.slice(first), ...from.slice(0, first)]
}

/** The sentence of these that was said of the finding before. */
function saidBefore(
  { id }: FindingDefinition,
  texts: readonly Prepared[],
  { dialogue }: PatientContext,
): Prepared | undefined {
  for (const { reply } of dialogue) {
    if (!reply.told.some(({ finding }) => finding === id)) continue
    // Openings change the case of the first letter.
    const said = texts.find(({ core }) => reply.text.includes(core.slice(1)))
    if (said) return said
  }
  return undefined
}

/** Whether the last reply, or this one so far, has begun with the same yes or no. */
function echoes(polarity: 'yes' | 'no', saying: string, context: PatientContext): boolean {
  const { language, dialogue } = context
  const last = saying !== '' ? saying : (dialogue.at(-1)?.reply.text ?? '')
  return openingPolarity(last, language) === polarity
}

/** The openings for a sentence that has none of its own or a stale one, by turns. */
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

/** The sentences with other openings, each opening with all of them. */
const opened = (
  texts: readonly Prepared[],
  polarity: Polarity,
  context: PatientContext,
  saying = '',
): readonly string[] =>
  openingsFor(polarity, context)
    .filter((opening) => !saying.includes(opening))
    .flatMap((opening) => texts.map(({ core }) => withOpening(opening, core, context.language)))

/** The first form that begins as no sentence did lately, or else the one whose beginning is longest ago. */
function freshest(
  texts: readonly Prepared[],
  polarity: 'yes' | 'no' | undefined,
  { unasked = false, more = false, open = false, saying = '' }: Wanted,
  context: PatientContext,
): string {
  const { language } = context
  let best = ''
  let longest = -1
  const isFresh = (form: string, stem: string): boolean => {
    const age = stemAge(stem, context, saying)
    if (age > longest) {
      best = form
      longest = age
    }
    return age === Number.POSITIVE_INFINITY
  }
  const anyFresh = (forms: readonly string[]): boolean =>
    forms.some((form) => isFresh(form, stemOf(form, language)))
  if (more && anyFresh(opened(texts, 'more', context, saying))) return best
  const bare = unasked || open || (polarity !== undefined && echoes(polarity, saying, context))
  for (const one of texts)
    if (!(bare && one.polarity) && isFresh(one.text, one.textStem)) return best
  for (const one of texts) if (isFresh(one.core, one.coreStem)) return best
  anyFresh(opened(texts, unasked || open ? 'neutral' : (polarity ?? 'neutral'), context))
  return best
}

/** The shortest sentence that begins as none did lately, without its opening. */
function briefest(texts: readonly Prepared[], { saying = '' }: Wanted, context: PatientContext) {
  const cores = [...texts].sort((a, b) => a.core.length - b.core.length)
  const fresh = cores.find(
    ({ coreStem }) => stemAge(coreStem, context, saying) === Number.POSITIVE_INFINITY,
  )
  return (fresh ?? cores[0])?.core ?? ''
}

/** A second sentence of the same meaning, for people who like to talk. */
function another(texts: readonly Prepared[], said: string, context: PatientContext) {
  return texts.find(
    ({ core, coreStem }) =>
      !said.includes(core.slice(1)) &&
      stemAge(coreStem, context, said) === Number.POSITIVE_INFINITY,
  )?.core
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
  const own = prepared(finding, state, context)
  if (!own) return undefined
  const { unasked = false, several = false, quoted = false, saying = '' } = wanted
  // Denials differ in no detail.
  const kept = state === 'absent' ? undefined : saidBefore(finding, own.all, context)
  const fitting = kept ? [kept] : unasked ? own.standalone : own.all
  if (isBrief(finding, context)) return briefest(fitting, wanted, context)
  const texts = ranked(finding, fitting, context)
  if (quoted) return texts[0]?.core
  const first = freshest(texts, own.polarity, wanted, context)
  const once = unasked || several || kept !== undefined || state === 'absent'
  if (once || finding.kind !== 'symptom') return first
  const { language, seed, view } = context
  const chance = doubleChance[dialLevel(view.persona, 'verbose')] ?? 0
  if (chance === 0 || uniform(seed, 'double', finding.id) >= chance) return first
  const between = language === 'en' ? ' ' : ''
  const second = another(texts, saying + between + first, context)
  return second === undefined ? first : first + between + second
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
