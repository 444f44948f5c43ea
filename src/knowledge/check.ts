/** What is wrong with a knowledge base: references, states, distributions, and phrases that two things share. */

import { contains, normal } from '../text/phrase-search.js'
import type { FindingDefinition, Knowledge } from './knowledge.js'

/** One thing wrong: the id whose definition it stands in, and the other side where there are two. */
export interface Problem {
  readonly id: string
  readonly why: string
  readonly other?: string
}
type Problems = Generator<Problem>

function* references(knowledge: Knowledge): Problems {
  const { finding, exam, disease, actions } = knowledge
  const seen = new Set<string>()
  for (const list of [
    knowledge.diseases,
    knowledge.findings,
    knowledge.exams,
    knowledge.clinic ? [] : knowledge.asides,
  ]) {
    for (const { id } of list) {
      if (seen.has(id)) yield { id: id, why: `id ${id} is defined twice` }
      seen.add(id)
    }
  }
  for (const f of knowledge.findings) {
    if ((f.type === 'cat') !== (f.values !== undefined))
      yield { id: f.id, why: `finding ${f.id}: values belong to type cat, and only there` }
    if ((f.type === 'bool') !== (typeof f.leak === 'number'))
      yield {
        id: f.id,
        why: `finding ${f.id}: expected leak to be ${f.type === 'bool' ? 'a number' : 'a distribution'}`,
      }
    for (const state of f.states)
      if (!f.say[state])
        yield { id: f.id, why: `finding ${f.id}: say has no sentences for state ${state}` }
    if (typeof f.leak === 'object')
      for (const value of Object.keys(f.leak))
        if (!f.states.includes(value))
          yield { id: f.id, why: `finding ${f.id}: leak names unknown value ${value}` }
    if (f.parent) {
      const parent = finding.get(f.parent.finding)
      if (!parent) yield { id: f.id, why: `finding ${f.id}: unknown parent ${f.parent.finding}` }
      else if (!parent.states.includes(f.parent.when))
        yield {
          id: f.id,
          why: `finding ${f.id}: parent ${parent.id} has no state ${f.parent.when}`,
        }
      for (const gate of ['sex', 'ages'] as const)
        if (f[gate] !== undefined || parent?.[gate] !== undefined)
          yield {
            id: f.id,
            why: `finding ${f.id}: a finding of some ${gate} has neither parent nor children`,
          }
    }
  }
  for (const e of knowledge.exams) {
    for (const id of e.panelOf)
      if (!exam.has(id)) yield { id: e.id, why: `exam ${e.id}: unknown member ${id}` }
    for (const id of e.yields) {
      const f = finding.get(id)
      if (!f) yield { id: e.id, why: `exam ${e.id}: yields unknown finding ${id}` }
      else if (f.knownBy !== 'exam')
        yield { id: e.id, why: `exam ${e.id}: yields ${id}, which the patient knows` }
    }
    if (e.panelOf.length > 0 === e.yields.length > 0)
      yield { id: e.id, why: `exam ${e.id}: expected either panelOf or yields` }
  }
  for (const d of knowledge.diseases) {
    for (const [id, edge] of Object.entries(d.findings)) {
      const f = finding.get(id)
      if (!f) yield { id: d.id, why: `disease ${d.id}: edge to unknown finding ${id}` }
      else if ((f.type === 'bool') !== (typeof edge === 'number'))
        yield {
          id: d.id,
          why: `disease ${d.id}: edge to ${id} must be ${f.type === 'bool' ? 'a probability' : 'a distribution'}`,
        }
      else if (typeof edge === 'object')
        for (const value of Object.keys(edge))
          if (!f.states.includes(value))
            yield { id: d.id, why: `disease ${d.id}: ${id} has no value ${value}` }
    }
    for (const id of d.incompatible)
      if (!disease.has(id)) yield { id: d.id, why: `disease ${d.id}: unknown disease ${id}` }
    for (const id of d.harmful)
      if (!exam.has(id)) yield { id: d.id, why: `disease ${d.id}: unknown exam ${id}` }
    for (const flag of d.redFlags) {
      if (!finding.has(flag.finding))
        yield { id: d.id, why: `disease ${d.id}: red flag ${flag.finding} is unknown` }
      if (!actions.has(flag.action))
        yield { id: d.id, why: `disease ${d.id}: unknown action ${flag.action}` }
    }
    for (const id of [...d.recommend, ...d.contraindicated])
      if (!actions.has(id)) yield { id: d.id, why: `disease ${d.id}: unknown action ${id}` }
  }
  if (disease.size === 0) yield { id: '', why: 'no diseases' }
}

type Kind = 'finding' | 'history finding' | 'exam finding' | 'disease' | 'exam' | 'aside'

/** Every phrase a doctor may use for a finding, a disease, an examination or none, and the field it stands in. */
function* phrasesOf({ findings, diseases, exams, asides }: Knowledge) {
  for (const { id, name, aliases, jargon, ask, knownBy, kind: of } of findings) {
    const past = of === 'antecedent' || of === 'family'
    const kind: Kind = knownBy === 'exam' ? 'exam finding' : past ? 'history finding' : 'finding'
    for (const [field, both] of Object.entries({ ask, aliases, jargon, name }))
      for (const language of ['zh', 'en'] as const)
        for (const text of both ? [both[language]].flat() : [])
          yield { id, kind, field: `${field}.${language}`, text }
  }
  const named = [
    ...diseases.map((d) => [d, 'disease'] as const),
    ...exams.map((e) => [e, 'exam'] as const),
  ]
  for (const [{ id, name, aliases }, kind] of named)
    for (const language of ['zh', 'en'] as const)
      for (const text of [name[language], ...aliases[language]])
        yield { id, kind, field: `aliases.${language}`, text }
  for (const { id, text: both } of asides)
    for (const language of ['zh', 'en'] as const)
      for (const text of both[language])
        yield { id, kind: 'aside' as const, field: `text.${language}`, text }
}

/**
 * What an examination shows may go by the examination's name, since the patient knows neither; and who asks after
 * earlier or family illness names it.
 */
const mayShare = (a: Kind, b: Kind): boolean =>
  [a, b].sort().join() === 'exam,exam finding' || [a, b].sort().join() === 'disease,history finding'

/** Phrases that mean two things, as the patient hears them: case, width, punctuation, 您 and 痛 set aside. */
function* collisions(knowledge: Knowledge): Problems {
  const owners = new Map<string, { readonly id: string; readonly kind: Kind }>()
  for (const { id, kind, field, text } of phrasesOf(knowledge)) {
    const phrase = normal(text).text
    const owner = owners.get(phrase)
    const which = `${kind} ${id}: ${field} "${text}"`
    if (phrase === '') yield { id, why: `${which} has no letters` }
    if (!owner) owners.set(phrase, { id, kind })
    else if (owner.id !== id && !mayShare(owner.kind, kind))
      yield { id, why: `${which} is also a phrase of ${owner.kind} ${owner.id}`, other: owner.id }
  }
}

const han = /\p{Script=Han}/u
const telling = (phrase: string): boolean => [...phrase].length >= (han.test(phrase) ? 2 : 3)

function* sentencesOf({ say }: FindingDefinition) {
  for (const [state, both] of Object.entries(say))
    for (const language of ['zh', 'en'] as const)
      for (const text of both[language]) yield { at: `say.${state}.${language}`, text }
}

/** Sentences of a patient or a report that name a disease. */
function* leaks({ findings, diseases }: Knowledge): Problems {
  const names = diseases.flatMap(({ id, name, aliases }) =>
    [name.zh, name.en, ...aliases.zh, ...aliases.en]
      .filter(telling)
      .map((phrase) => [phrase.toLowerCase(), id] as const),
  )
  for (const finding of findings)
    for (const { at, text } of sentencesOf(finding)) {
      const said = text.toLowerCase()
      for (const [phrase, other] of names)
        if (contains(said, phrase))
          yield {
            id: finding.id,
            why: `finding ${finding.id}: ${at} "${text}" names disease ${other} ("${phrase}")`,
            other,
          }
    }
}

/** Everything wrong with a knowledge base, in the order of its definitions within each kind of fault. */
export function* problemsOf(knowledge: Knowledge): Problems {
  yield* references(knowledge)
  yield* collisions(knowledge)
  yield* leaks(knowledge)
}
