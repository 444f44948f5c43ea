/**
 * Validation of a knowledge base: references, states, distributions, ambiguous phrases, and leaked disease names.
 * Long because every rule of `data/knowledge/README.md` is one small function here.
 */
import { containsPhrase, normaliseText } from '../text/phrase-search.js'
import {
  canComeWith,
  type Disease,
  type ExamDefinition,
  expandPanel,
  type FindingDefinition,
  type Knowledge,
  parentOf,
} from './knowledge.js'

/** A problem: the id of the definition that has it, the reason, and the id of a second definition involved. */
export interface KnowledgeProblem {
  readonly id: string
  readonly why: string
  readonly other?: string
}
type Problems = Generator<KnowledgeProblem>

type Reasons = Generator<string>

function* duplicateIds({ diseases, findings, exams, asides, clinic }: Knowledge): Problems {
  const seen = new Set<string>()
  for (const list of [diseases, findings, exams, clinic ? [] : asides])
    for (const { id } of list) {
      if (seen.has(id)) yield { id, why: `id ${id} is defined twice` }
      seen.add(id)
    }
}

function* parentReasons(f: FindingDefinition, finding: Knowledge['finding']): Reasons {
  if (!f.parent) return
  const parent = finding.get(f.parent.finding)
  if (!parent) yield `unknown parent ${f.parent.finding}`
  else
    for (const state of [f.parent.when].flat())
      if (!parent.states.includes(state)) yield `parent ${parent.id} has no state ${state}`
  for (const gate of ['sex', 'ages'] as const)
    if (f[gate] !== undefined || parent?.[gate] !== undefined)
      yield `a finding of some ${gate} has neither parent nor children`
}

function* leakReasons(
  f: FindingDefinition,
  where: string,
  leak: FindingDefinition['leak'],
): Reasons {
  if ((f.type === 'bool') !== (typeof leak === 'number'))
    yield `expected ${where} to be ${f.type === 'bool' ? 'a number' : 'a distribution'}`
  else if (typeof leak === 'object')
    for (const value of Object.keys(leak))
      if (!f.states.includes(value)) yield `${where} names unknown value ${value}`
}

/** What another finding's state makes of the background. */
function* givenReasons(f: FindingDefinition, finding: Knowledge['finding']): Reasons {
  if (!f.given) return
  const { finding: id, leaks = {}, excludes = {} } = f.given
  const above = finding.get(id)
  if (f.parent) yield 'expected either parent or given'
  if (!above) yield `given names unknown finding ${id}`
  for (const [state, leak] of Object.entries(leaks)) {
    if (above && !above.states.includes(state)) yield `given: ${id} has no state ${state}`
    yield* leakReasons(f, `given.leaks.${state}`, leak)
  }
  for (const [state, values] of Object.entries(excludes)) {
    if (above && !above.states.includes(state)) yield `given: ${id} has no state ${state}`
    for (const value of values)
      if (!f.states.includes(value)) yield `given.excludes.${state} names unknown value ${value}`
    const leak = leaks[state] ?? f.leak
    const possible = (value: string): boolean =>
      !values.includes(value) && (typeof leak === 'number' || (leak[value] ?? 0) > 0)
    if (!f.states.some(possible)) yield `given.excludes.${state} leaves no state that can occur`
  }
}

/** Backgrounds and number ranges by age and sex. */
function* bandReasons(f: FindingDefinition): Reasons {
  const tables = [f.measure, ...(f.measure?.bands ?? [])]
  for (const table of tables)
    for (const state of Object.keys(table?.ranges ?? {}))
      if (!f.states.includes(state)) yield `measure has a range for unknown state ${state}`
  for (const { ages } of [...(f.measure?.bands ?? []), ...(f.leakBands ?? [])])
    if (ages && ages[0] > ages[1]) yield `expected the lower age first, got ${ages.join()}`
  for (const [n, { leak }] of (f.leakBands ?? []).entries())
    yield* leakReasons(f, `leakBands.${n}.leak`, leak)
  if (f.leakBands && f.given) yield 'expected either leakBands or given'
  // Who opens with what is weighed by one background.
  if (f.leakBands && f.salience > 0) yield 'expected salience 0 beside leakBands'
}

function* findingReasons(f: FindingDefinition, { finding }: Knowledge): Reasons {
  if ((f.type === 'cat') !== (f.values !== undefined))
    yield 'values belong to type cat, and only there'
  yield* leakReasons(f, 'leak', f.leak)
  for (const state of f.states) if (!f.say[state]) yield `say has no sentences for state ${state}`
  yield* bandReasons(f)
  yield* parentReasons(f, finding)
  yield* givenReasons(f, finding)
}

function* examReasons(e: ExamDefinition, { exam, finding }: Knowledge): Reasons {
  for (const id of e.panelOf) if (!exam.has(id)) yield `unknown member ${id}`
  for (const id of e.yields) {
    const f = finding.get(id)
    if (!f) yield `yields unknown finding ${id}`
    else if (f.knownBy !== 'exam') yield `yields ${id}, which the patient knows`
  }
  if (e.panelOf.length > 0 === e.yields.length > 0) yield 'expected either panelOf or yields'
}

function* edgeReasons(d: Disease, finding: Knowledge['finding']): Reasons {
  for (const [id, edge] of Object.entries(d.findings)) {
    const f = finding.get(id)
    if (!f) yield `edge to unknown finding ${id}`
    else if ((f.type === 'bool') !== (typeof edge === 'number'))
      yield `edge to ${id} must be ${f.type === 'bool' ? 'a probability' : 'a distribution'}`
    else if (typeof edge === 'object')
      for (const value of Object.keys(edge))
        if (!f.states.includes(value)) yield `${id} has no value ${value}`
  }
}

/** A complaint that no patient could voice, and a disease that nobody can come with. */
function* complaintReasons(d: Disease, finding: Knowledge['finding']): Reasons {
  const ids = Object.keys(d.complaints)
  for (const id of ids) {
    const f = finding.get(id)
    if (!f) yield `complaint ${id} is an unknown finding`
    else if (f.knownBy !== 'patient') yield `complaint ${id} is known by examination only`
    else if (f.type !== 'bool') yield `complaint ${id} is not a boolean finding`
    else if (!canComeWith(f)) yield `complaint ${id} depends on ${parentOf(f)}`
    else if (f.leakBands) yield `complaint ${id} has leakBands`
    else if (d.findings[id] === undefined) yield `complaint ${id} is not among its findings`
  }
  if (ids.length === 0)
    yield 'nobody can come with it: expected complaints, or a boolean finding with salience that the patient knows'
}

/** Findings that the disease lists, and those whose background depends on one of them. */
const isLinked = (d: Disease, id: string, finding: Knowledge['finding']): boolean => {
  const f = finding.get(id)
  const above = f && parentOf(f)
  return d.findings[id] !== undefined || (above !== undefined && isLinked(d, above, finding))
}

/** Examinations of the work-up: known, not harmful, and the required ones show something of the disease. */
function* workupReasons(d: Disease, { exam, finding }: Knowledge): Reasons {
  const { required = [], useful = [] } = d.workup ?? {}
  for (const id of [...required, ...useful]) {
    if (!exam.has(id)) yield `unknown exam ${id}`
    if (d.harmful.includes(id)) yield `exam ${id} is in the workup and harmful`
  }
  for (const id of required) {
    const ordered = exam.get(id)
    const shown = ordered ? expandPanel(ordered).flatMap((one) => exam.get(one)?.yields ?? []) : []
    if (useful.includes(id)) yield `exam ${id} is both required and useful`
    if (ordered && !shown.some((one) => isLinked(d, one, finding)))
      yield `required exam ${id} shows nothing that the disease changes`
  }
}

/** A letter, two characters, and at most four after the point: `J45`, `J45.9`, `J45.901`. */
const icd10Shape = /^[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?$/

/** ICD-10 codes of another shape, or outside the titles that the knowledge base lists. */
function* codeReasons({ codes }: Disease, { icd10 }: Knowledge): Reasons {
  for (const { system, code } of codes) {
    if (system !== 'icd10') continue
    if (!icd10Shape.test(code)) yield `expected an ICD-10 code such as J45.9, got ${code}`
    else if (icd10.size > 0 && !icd10.has(code)) yield `unknown ICD-10 code ${code}`
  }
}

function* diseaseReasons(d: Disease, knowledge: Knowledge): Reasons {
  const { finding, exam, disease, actions } = knowledge
  yield* edgeReasons(d, finding)
  yield* complaintReasons(d, finding)
  yield* workupReasons(d, knowledge)
  yield* codeReasons(d, knowledge)
  for (const id of d.incompatible) if (!disease.has(id)) yield `unknown disease ${id}`
  for (const id of d.harmful) if (!exam.has(id)) yield `unknown exam ${id}`
  for (const flag of d.redFlags) {
    if (!finding.has(flag.finding)) yield `red flag ${flag.finding} is unknown`
    if (!actions.has(flag.action)) yield `unknown action ${flag.action}`
  }
  for (const id of [...d.recommend, ...d.contraindicated])
    if (!actions.has(id)) yield `unknown action ${id}`
}

function* asideReasons(
  { slot, also = [], detailOf = [], after = [] }: Knowledge['asides'][number],
  knowledge: Knowledge,
): Reasons {
  const { finding, aside, biography } = knowledge
  if (slot !== undefined && !biography.some((one) => one.slot === slot))
    yield `slot ${slot} is not in any biography`
  for (const id of also) if (!finding.has(id)) yield `also names unknown finding ${id}`
  for (const id of detailOf) if (!finding.has(id)) yield `detailOf names unknown finding ${id}`
  for (const id of after)
    if (!finding.has(id) && !aside.has(id)) yield `after names unknown aside or finding ${id}`
}

/** Options of a biography that name a finding, a state or an earlier option that does not exist. */
function* biographyProblems({ biography, finding }: Knowledge): Problems {
  const known = new Set<string>()
  for (const { slot, of } of biography) {
    for (const { when = {}, needs = [] } of of) {
      for (const [id, states] of Object.entries(when))
        for (const state of states)
          if (!finding.get(id)?.states.includes(state))
            yield { id: slot, why: `biography ${slot}: when names unknown ${id} ${state}` }
      for (const need of needs)
        if (!known.has(need))
          yield { id: slot, why: `biography ${slot}: needs ${need}, which no earlier slot has` }
    }
    for (const { id } of of) if (id !== undefined) known.add(`${slot}/${id}`)
  }
}

/** Details of findings, states or slots that do not exist. */
function* detailProblems({ details, biography, finding }: Knowledge): Problems {
  for (const { attribute, of = [], when = {}, slot } of details) {
    const at = `detail ${attribute}${of[0] === undefined ? '' : ` of ${of[0]}`}`
    for (const id of of)
      if (!finding.has(id)) yield { id, why: `${at}: of names unknown finding or class ${id}` }
    for (const [id, states] of Object.entries(when))
      for (const state of states)
        if (!finding.get(id)?.states.includes(state))
          yield { id, why: `${at}: when names unknown ${id} ${state}` }
    if (slot !== undefined && !biography.some((one) => one.slot === slot))
      yield { id: slot, why: `${at}: slot ${slot} is not in any biography` }
  }
}

/** Unresolved references, wrong states and malformed distributions. */
function* definitionProblems(knowledge: Knowledge): Problems {
  yield* duplicateIds(knowledge)
  for (const f of knowledge.findings)
    for (const why of findingReasons(f, knowledge))
      yield { id: f.id, why: `finding ${f.id}: ${why}` }
  for (const e of knowledge.exams)
    for (const why of examReasons(e, knowledge)) yield { id: e.id, why: `exam ${e.id}: ${why}` }
  for (const d of knowledge.diseases)
    for (const why of diseaseReasons(d, knowledge))
      yield { id: d.id, why: `disease ${d.id}: ${why}` }
  // A part of a knowledge base keeps the asides and the biography of the whole.
  if (!knowledge.clinic) {
    for (const a of knowledge.asides)
      for (const why of asideReasons(a, knowledge)) yield { id: a.id, why: `aside ${a.id}: ${why}` }
    yield* biographyProblems(knowledge)
    yield* detailProblems(knowledge)
  }
  if (knowledge.disease.size === 0) yield { id: '', why: 'no diseases' }
}

type Kind = 'finding' | 'history finding' | 'exam finding' | 'disease' | 'exam' | 'aside'

/** All phrases a doctor may use for a finding, disease, examination or aside, each with its field. */
function* doctorPhrases({ findings, diseases, exams, asides }: Knowledge) {
  for (const { id, name, aliases, jargon, ask, knownBy, kind: findingKind } of findings) {
    const past = findingKind === 'antecedent' || findingKind === 'family'
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
  // What is asked only after a topic may be asked in the words of another one.
  for (const { id, text: said, aliases } of asides.filter(({ after }) => !after))
    for (const [field, both] of Object.entries({ text: said, aliases }))
      for (const language of ['zh', 'en'] as const)
        for (const text of both?.[language] ?? [])
          yield { id, kind: 'aside' as const, field: `${field}.${language}`, text }
}

/**
 * Two kinds of pairs may share a phrase: an examination and its finding, since the patient knows neither; a disease
 * and an earlier or family illness, since a question about the illness names it.
 */
const mayShare = (a: Kind, b: Kind): boolean =>
  [a, b].sort().join() === 'exam,exam finding' || [a, b].sort().join() === 'disease,history finding'

/** Ambiguous phrases, shared by two definitions; case, width, punctuation, 您 and 痛 are folded as the patient does. */
function* collisions(knowledge: Knowledge): Problems {
  const owners = new Map<string, { readonly id: string; readonly kind: Kind }>()
  for (const { id, kind, field, text } of doctorPhrases(knowledge)) {
    const phrase = normaliseText(text).text
    const owner = owners.get(phrase)
    const which = `${kind} ${id}: ${field} "${text}"`
    if (phrase === '') yield { id, why: `${which} has no letters` }
    if (!owner) owners.set(phrase, { id, kind })
    else if (owner.id !== id && !mayShare(owner.kind, kind))
      yield { id, why: `${which} is also a phrase of ${owner.kind} ${owner.id}`, other: owner.id }
  }
}

const han = /\p{Script=Han}/u
const isTelling = (phrase: string): boolean => [...phrase].length >= (han.test(phrase) ? 2 : 3)

function* patientSentences({ say }: FindingDefinition) {
  for (const [state, both] of Object.entries(say))
    for (const language of ['zh', 'en'] as const)
      for (const text of both[language]) yield { at: `say.${state}.${language}`, text }
}

/** What the patient says that no finding holds: denials, the answers of the biography, and details. */
function* otherSentences({ asides, biography, details }: Knowledge) {
  for (const { id, denied } of asides)
    for (const text of denied ? [denied.zh, denied.en] : [])
      yield { id, at: `aside ${id}: denied`, text }
  for (const { slot, of } of biography)
    for (const { text: both } of of)
      for (const text of [both.zh, both.en]) yield { id: slot, at: `biography ${slot}: text`, text }
  for (const { attribute, of = [], facts = [] } of details)
    for (const { zh, en } of facts)
      for (const text of [...zh, ...en]) {
        const [id = ''] = of
        yield { id, at: `detail ${attribute} of ${id || 'any symptom'}`, text }
      }
}

/** Sentences of a patient or a report, each with its place. */
function* allSentences(knowledge: Knowledge) {
  for (const finding of knowledge.findings)
    for (const { at, text } of patientSentences(finding))
      yield { id: finding.id, at: `finding ${finding.id}: ${at}`, text }
  yield* otherSentences(knowledge)
}

/** Leaks: sentences of a patient or a report that name a disease. */
function* leakedNames(knowledge: Knowledge): Problems {
  const { diseases } = knowledge
  const names = diseases.flatMap(({ id, name, aliases }) =>
    [name.zh, name.en, ...aliases.zh, ...aliases.en]
      .filter(isTelling)
      .map((phrase) => [phrase.toLowerCase(), id] as const),
  )
  for (const { id, at, text } of allSentences(knowledge)) {
    const said = text.toLowerCase()
    for (const [phrase, other] of names)
      if (containsPhrase(said, phrase))
        yield { id, why: `${at} "${text}" names disease ${other} ("${phrase}")`, other }
  }
}

/** All problems of a knowledge base, in the order of its definitions within each kind of problem. */
export function* findKnowledgeProblems(knowledge: Knowledge): Problems {
  yield* definitionProblems(knowledge)
  yield* collisions(knowledge)
  yield* leakedNames(knowledge)
}
