/** What a question goes on about that no finding answers: the job, the children, a pet, or an event that was told. */
import type { FindingDefinition, Knowledge } from '../../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../../knowledge/per-knowledge.js'
import { containsPhrase, normaliseText } from '../../../../text/phrase-search.js'
import { openingPolarity } from '../../../../text/reply-openings.js'
import { type AskedAttribute, findAttributes } from '../attributes.js'
import { languageByScript } from '../finding-match.js'
import { isWholeIllness, lastHistory, lastPresent } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { contactFinding } from '../people.js'
import {
  asksContent,
  type FollowUp,
  goesOn,
  isDoubtful,
  isElliptic,
  isShort,
  isVague,
} from './question.js'
import { regionOf, regionsIn } from './regions.js'

/** An aside that is asked only after another topic, with its phrases in normal form. */
interface Sequel {
  readonly id: string
  readonly phrases: readonly string[]
}

/** The sequels of each aside and finding. */
const sequelTable = perKnowledge(({ asides }): ReadonlyMap<string, readonly Sequel[]> => {
  const table = new Map<string, Sequel[]>()
  for (const { id, after = [], aliases } of asides) {
    const written = aliases ? [...aliases.en, ...aliases.zh] : []
    const sequel = { id, phrases: written.map((one) => normaliseText(one).text) }
    for (const topic of after) table.set(topic, [...(table.get(topic) ?? []), sequel])
  }
  return table
})

/** Exchanges back that a topic is asked on about. */
const memory = 4

/** A person or a thing other than who is asked. */
const third = /\b(?:he|him|his|she|her|hers|they|them|their|its)\b|它|他|她/
const thing = /\b(?:they|them|their|its)\b|它/
const person = /\b(?:he|him|his|she|her|hers)\b|\bto them\b|他|她/
const second = /\b(?:you|your)\b|你/

/** Whether an aside is about the patient's life, and not about the complaint. */
const isLife = ({ aside }: Knowledge, id: string): boolean => {
  const { slot, also, ofComplaint } = aside.get(id) ?? {}
  return slot !== undefined && !also && !ofComplaint
}

/** Whether an aside is a topic that questions go on about. */
const isTopic = (knowledge: Knowledge, id: string): boolean =>
  isLife(knowledge, id) || sequelTable(knowledge).has(id)

/** Asks of somebody else what the patient was understood to be asked: "How old are they?" is not the patient's age. */
function isOfThird({ knowledge, context, text, alone }: FollowUp): boolean {
  // A carer and an interpreter are asked about the patient as "he" or "she".
  const word = context.view.demographics.speaker === 'self' ? third : thing
  const own =
    (alone.kind === 'open' && person.test(text)) ||
    (alone.kind === 'aside' && alone.asides.every((id) => isLife(knowledge, id)))
  return own && word.test(text) && !second.test(text)
}

/** Whether a question only makes sense with what was said before it. */
const leans = (given: FollowUp): boolean =>
  isOfThird(given) || (given.doubtful && isShort(given.text) && goesOn(given.text))

/** The question of an earlier exchange, as it is read without its dialogue. */
function earlier(given: FollowUp, utterance: string): FollowUp {
  const { text } = normaliseText(utterance)
  const alone = given.reader.parse(utterance)
  const named = alone.kind === 'aside' && given.reader.namesAside(text)
  return { ...given, text, alone, doubtful: isDoubtful(alone, named) }
}

/** A part of the patient's life that was asked about last, with the answer; undefined where a finding was asked about since. */
function lifeBefore(given: FollowUp): { readonly id: string; readonly answer: string } | undefined {
  const { knowledge, context } = given
  for (const { utterance, reply } of context.dialogue.slice(-memory).reverse()) {
    if (reply.asked.length > 0) return undefined
    if (reply.understood === 'courtesy') continue
    const before = earlier(given, utterance)
    if (leans(before)) continue
    const id = before.alone.asides.findLast((one) => isTopic(knowledge, one))
    if (id !== undefined) return { id, answer: reply.text }
    if (before.alone.kind === 'aside') return undefined
  }
  return undefined
}

/** Symptoms that the doctor has named lately and the patient has: "When did you faint? Did anyone see it?". */
const namedLately = ({ context, reader }: FollowUp): readonly string[] =>
  [...context.dialogue.slice(-memory)]
    .reverse()
    .flatMap(({ utterance }) => reader.named(normaliseText(utterance).text))
    .filter((id) => {
      const finding = context.view.findings.get(id)
      return finding?.state === 'present' && finding.stigma === 0
    })

/** What the doctor's last question named, where the patient did not say no to it. */
function askedLast({ context, reader }: FollowUp): readonly string[] {
  const last = context.dialogue.at(-1)
  if (!last || openingPolarity(last.reply.text, context.language) === 'no') return []
  const denied = new Set(
    last.reply.told.filter(({ state }) => state === 'absent').map(({ finding }) => finding),
  )
  return reader
    .parse(last.utterance)
    .topics.flatMap(({ finding, guessed }) => (guessed || denied.has(finding) ? [] : [finding]))
}

const interrogative = /^(?:what|when|where|which|who|how)\b/
/** What comes before an interrogative word that asks: "and when?", "do you remember when?". */
const beforeInterrogative =
  /^$|^(?:(?:and|or|so|but|ok|okay|right|then|now|just) )+$|\b(?:remember|recall|know|tell me|say|sure|idea) $/

/** Whether a phrase asks by its interrogative word, where it has one: not "is it there when you wake up?". */
const asksBy = (text: string, phrase: string): boolean =>
  !interrogative.test(phrase) || beforeInterrogative.test(text.slice(0, text.indexOf(phrase)))

/** The sequel of one of some topics that a question asks for: by the longest of its phrases. */
export function sequelOf({ knowledge, text }: FollowUp, topics: readonly string[]) {
  const table = sequelTable(knowledge)
  for (const topic of topics) {
    const found = (table.get(topic) ?? [])
      .flatMap(({ id, phrases }) => phrases.map((phrase) => ({ id, phrase, topic })))
      .filter(({ phrase }) => containsPhrase(text, phrase) && asksBy(text, phrase))
      .sort((a, b) => b.phrase.length - a.phrase.length)[0]
    if (found) return found
  }
  return undefined
}

/** Letters of a phrase from which it counts against the words of another topic. */
const telling = { en: 12, zh: 4 } as const

/** Share of a question that a phrase covers, from which there is nothing else in it. */
const mostCovered = 0.6

/** Asks about the illness, whatever was spoken of last. */
const ofIllness =
  /\b(?:had (?:it|this|that|them)|going on|start(?:ed)?|beg[ai]n|symptoms?|feel(?:ing)?|felt|ill|unwell)\b|开始|不舒服|发病|症状|难受/

/** Whether what a question is understood as may be taken for a sequel with a phrase. */
function givesWay(given: FollowUp, phrase: string): boolean {
  const { knowledge, reader, text, alone } = given
  const { kind, topics } = alone
  const bare = phrase.length >= mostCovered * text.length && !second.test(text)
  const sure = bare || phrase.length >= telling[languageByScript(text)] || isOfThird(given)
  // "You're working at the moment?" is about no medicine.
  const ofYou = /\byoure\b/.test(text) && !phrase.includes(' ')
  if (kind === 'aside') return sure || !(ofYou || reader.namesAside(text))
  if (kind !== 'finding') return true
  if (topics.every(({ finding }) => isWholeIllness(knowledge, finding)))
    return !ofIllness.test(text)
  return sure || topics.every(({ guessed }) => guessed)
}

/** The reading as a question about a topic of the base. */
export const aboutAside = (alone: ParsedUtterance, id: string): ParsedUtterance => ({
  ...alone,
  kind: 'aside',
  topics: [],
  loose: [],
  asides: [id],
})

/** "How long have you done that?" of a job, "how old are they?" of the children, "who saw it?" of a faint. */
export function moreOfLife(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone, followed } = given
  const life = lifeBefore(given)
  const topics = [
    ...(life ? [life.id] : []),
    ...lastPresent(knowledge, context),
    ...namedLately(given),
    ...askedLast(given),
    ...followed,
  ]
  const sequel = sequelOf(given, topics)
  const answered = sequel && isAnswered(given, sequel.id)
  if (sequel && answered && givesWay(given, sequel.phrase)) {
    const of = knowledge.finding.has(sequel.topic) ? { of: sequel.topic } : {}
    return { ...aboutAside(alone, sequel.id), ...of }
  }
  const third = isOfThird(given)
  const history = moreOfHistory(given)
  if (history) return history
  const goes = third || (life !== undefined && isVague(alone) && leans(given))
  if (!goes || !(life === undefined || isLife(knowledge, life.id))) return undefined
  // Who has no children says so again.
  if (life && openingPolarity(life.answer, context.language) === 'no')
    return aboutAside(alone, life.id)
  const expects = asksContent.test(text) ? 'content' : 'no'
  return { ...alone, kind: 'unmodelled', topics: [], loose: [], asides: [], expects }
}

/** Whether the patient has an answer to a sequel. */
function isAnswered({ knowledge, context }: FollowUp, id: string): boolean {
  const { slot, denied } = knowledge.aside.get(id) ?? {}
  return (
    denied !== undefined || (slot !== undefined && context.view.biography?.[slot] !== undefined)
  )
}

/** Words that ask for an attribute of a medicine, a habit or an allergy, beside those of a symptom. */
const ofHistory: readonly (readonly [AskedAttribute, RegExp])[] = [
  [
    'which',
    /\b(?:name|names|called)\b|\bwhat(?:s| is| are)? (?:it|they|that|those)$|\bwhat (?:do|are|did) you (?:take|taking|use|using|on)(?: (?:for )?(?:it|that|them|this))?$|叫什么|名字/,
  ],
  ['amount', /^(?:(?:and|so) )?how many\b/],
  [
    'character',
    /\bwhat happen(?:s|ed)\b|\bwhat (?:does|did) (?:it|that|they) do\b|\breact(?:ion|ed)?\b/,
  ],
]

/** What an attribute means of what is no symptom: "Where?" of a journey asks which it was. */
function inHistory(
  attribute: AskedAttribute,
  kind: FindingDefinition['kind'] | undefined,
): AskedAttribute {
  if (attribute === 'site') return 'which'
  return kind === 'allergy' && attribute === 'severity' ? 'character' : attribute
}

/** Asks about the person of a relative's illness: who told of it says so again. */
const ofPerson =
  /\b(?:who|whos|whose|which (?:one|side|of them)|how old|what age|mothers? or|mother|father)\b|\bwhat (?:was it|happened|did)\b|谁|哪边|多大/

/** Whether a question guessed to be about a symptom names that symptom: "tell me about the rash: where is it?". */
const namesItsSymptom = ({ knowledge, text, alone }: FollowUp): boolean => {
  const here = regionsIn(text)
  return [...alone.topics.map(({ finding }) => finding), alone.near ?? ''].some((id) => {
    const own = regionOf(knowledge, id)
    return own !== undefined && here.includes(own)
  })
}

/** "What's its name, and what's it for?" of a medicine, a habit or a journey that was told. */
function moreOfHistory(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, text, alone } = given
  const of = lastHistory(knowledge, context)
  const kind = of === undefined ? undefined : knowledge.finding.get(of)?.kind
  if (of === undefined || !goesOn(text) || !(isElliptic(alone, text) || saysLittle(given, kind)))
    return undefined
  if (!(isOfThird(given) || saysLittle(given, kind)) || namesItsSymptom(given)) return undefined
  if ((kind === 'family' || of === contactFinding) && ofPerson.test(text))
    return { ...alone, kind: 'finding', topics: [{ finding: of }], loose: [], asides: [] }
  const cues = ofHistory.flatMap(([one, cue]) => (cue.test(text) ? [one] : []))
  const loose = [...new Set([...cues, ...findAttributes(text)].map((one) => inHistory(one, kind)))]
  if (loose.length === 0) return undefined
  return { ...alone, kind: 'attribute', topics: [], asides: [], loose, about: text }
}

const isLoose = ({ kind }: ParsedUtterance): boolean => kind === 'attribute'

/** The topic of how a medicine is taken. */
const medicineAside = 'medicine-dose'

/** Asks about the illness even after one of old: "how long have you had it?" is about that. */
const ofNow =
  /\b(?:going on|start(?:ed)?|beg[ai]n|symptoms?|feel(?:ing)?|felt|ill|unwell)\b|开始|不舒服|发病|症状|难受/

/** Whether a reading has no topic of its own, or only more of a habit or a medicine. */
function saysLittle(
  { knowledge, text, alone, doubtful }: FollowUp,
  kind: FindingDefinition['kind'] | undefined,
): boolean {
  if (doubtful || isLoose(alone)) return true
  if (alone.kind === 'open') return third.test(text) || kind === 'allergy'
  if (alone.kind === 'aside')
    return alone.asides.every(
      (id) => id === medicineAside || knowledge.aside.get(id)?.detail === true,
    )
  const whole = alone.topics.every(({ finding }) => isWholeIllness(knowledge, finding))
  const now = kind === 'antecedent' ? ofNow : ofIllness
  return alone.kind === 'finding' && whole && !now.test(text)
}
