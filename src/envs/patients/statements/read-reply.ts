/**
 * Reads back what a reply told: of each finding that was asked for, and of those that it names besides. What cannot be
 * read for certain is said to be unread, so that no doctor is paid nothing for what was told.
 */
import type { PatientView } from '../../../case.js'
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import type { Language, RevealedFinding } from '../../../turn.js'
import { getLexicons } from '../nlu/lexicon.js'
import { type Clause, readClauses } from './clauses.js'
import {
  closeness,
  contraryReferences,
  likeness,
  referencesOf,
  saysRather,
  statesOf,
} from './references.js'

/** Least likeness to a fact, for a clause to tell it. */
const minLikeness = 0.6
const minCloseness = 0.4
/** Least closeness to a fact that was not asked for and is not named. */
const minVolunteered = 0.8

/** A question, as far as reading the answer needs it. */
export interface ReplyQuestion {
  readonly utterance: string
  readonly asked: readonly string[]
  /** An open question, after which everything that is said counts. */
  readonly open: boolean
  readonly view: PatientView
  readonly language: Language
}

/** What a reply told, and whether that is certain to be all. */
export interface ReadReply {
  readonly told: readonly RevealedFinding[]
  readonly certain: boolean
}

type Reader = (finding: string, least?: number) => readonly string[]

/** The states in which some clause says a finding to be. */
function stateReader(knowledge: Knowledge, clauses: readonly Clause[], language: Language): Reader {
  return (finding, least = minCloseness) =>
    statesOf(knowledge, finding, language).filter((state) => {
      if (state === 'unknown') return false
      const own = referencesOf(knowledge, { finding, state }, language)
      const contrary = contraryReferences(knowledge, { finding, state }, language)
      return clauses.some(
        (clause) =>
          likeness(clause, own) >= minLikeness &&
          closeness(clause, own) >= least &&
          saysRather(clause, own, contrary),
      )
    })
}

const namedIn = (knowledge: Knowledge, text: string): readonly string[] => {
  const read = normaliseText(text)
  return findPhrases(getLexicons(knowledge).atOnce.tree(read.text), read).flatMap(({ value }) =>
    value.kind === 'finding' && knowledge.finding.get(value.id)?.knownBy === 'patient'
      ? [value.id]
      : [],
  )
}

const negative = {
  en: /\b(?:no|not|never|nobody|none|or)\b|n['’]t\b/i,
  zh: /[没不别未].*(?:吧|对吗|是吗|对不对|是不是)[？?]?\s*$|还是/,
} as const

/** The state that a bare yes or no gives to the one finding that was asked for. */
function bareState(
  clauses: readonly Clause[],
  { utterance, language }: ReplyQuestion,
): string | undefined {
  if (negative[language].test(utterance)) return undefined
  const said = new Set(clauses.flatMap(({ bare, asks }) => (bare && !asks ? [bare] : [])))
  if (said.size !== 1) return undefined
  return said.has('yes') ? 'present' : 'absent'
}

/** The one fact of the patient's findings that a clause says nearly word for word, unasked. */
function nearestFact(
  knowledge: Knowledge,
  clause: Clause,
  { findings }: PatientView,
  language: Language,
): RevealedFinding | undefined {
  const near = [...findings.keys()].flatMap((finding) =>
    statesOf(knowledge, finding, language)
      .filter((state) => state !== 'unknown')
      .map((state) => {
        const fact = { finding, state }
        return { fact, close: closeness(clause, referencesOf(knowledge, fact, language)) }
      }),
  )
  const best = Math.max(...near.map(({ close }) => close))
  const [one, ...others] = near.filter(({ close }) => close === best)
  return best >= minVolunteered && others.length === 0 ? one?.fact : undefined
}

/** The complaint that a reply denies rather than tells the detail of it that was asked for: "My chest doesn't hurt." */
function deniedComplaint(
  knowledge: Knowledge,
  clauses: readonly Clause[],
  fact: RevealedFinding,
  language: Language,
): string | undefined {
  const parent = knowledge.finding.get(fact.finding)?.parent?.finding
  if (parent === undefined || knowledge.finding.get(parent)?.type !== 'bool') return undefined
  const close = (clause: Clause, one: RevealedFinding): number =>
    closeness(clause, referencesOf(knowledge, one, language))
  const denial = { finding: parent, state: 'absent' }
  const telling = clauses.filter((clause) => close(clause, fact) >= minCloseness)
  const denies = telling.every((clause) => close(clause, denial) >= close(clause, fact))
  return denies && telling.length > 0 ? parent : undefined
}

/** Reads a reply to a question. */
// Long because what was asked for, what is named, and what is left over are read of the same clauses.
export function readReply(knowledge: Knowledge, text: string, question: ReplyQuestion): ReadReply {
  const { asked, open, view, language } = question
  const clauses = readClauses(text, language)
  const stated = clauses.filter(({ asks, hedged, unsure }) => !asks && !hedged && !unsure)
  const speaking = stated.filter(({ tokens }) => tokens.size > 0)
  const unsure = clauses.some((clause) => clause.unsure) && speaking.length === 0
  const statesIn = stateReader(knowledge, stated, language)
  const told = new Map<string, string>()
  const named = new Set(namedIn(knowledge, text))
  // "I'm not sure. It doesn't bark." to two questions is unsure of what it does not name.
  const vague = asked.length > 1 && clauses.some((clause) => clause.unsure)
  let certain = true
  for (const finding of new Set(asked)) {
    if (vague && speaking.length > 0 && !named.has(finding)) {
      certain = false
      continue
    }
    const [state, ...others] = statesIn(finding)
    const bool = knowledge.finding.get(finding)?.type === 'bool'
    const bare = asked.length === 1 && bool ? bareState(stated, question) : undefined
    const read = state ?? bare ?? (unsure ? 'unknown' : undefined)
    if (read === undefined || others.length > 0) certain = false
    else {
      const denied = deniedComplaint(knowledge, stated, { finding, state: read }, language)
      told.set(denied ?? finding, denied === undefined ? read : 'absent')
    }
  }
  const facts = () => [...told].map(([finding, state]) => ({ finding, state }))
  const explained = (clause: Clause): boolean =>
    facts().some((fact) => likeness(clause, referencesOf(knowledge, fact, language)) >= minLikeness)
  for (const finding of named) {
    const [state, ...others] = told.has(finding) ? [] : statesIn(finding)
    if (state !== undefined && others.length === 0) told.set(finding, state)
  }
  for (const clause of speaking.filter((one) => !explained(one))) {
    const fact = nearestFact(knowledge, clause, view, language)
    if (fact && !told.has(fact.finding)) told.set(fact.finding, fact.state)
  }
  // Something is named that was not read, or an open question was answered with what was not read.
  const leftOver = speaking.filter((clause) => !explained(clause))
  const unreadName = [...named].some((finding) => !told.has(finding))
  if (leftOver.length > 0 && (unreadName || open)) certain = false
  return { told: facts(), certain }
}
