/**
 * The disease knowledge base: diseases, findings, examinations, and how often each disease shows each finding.
 *
 * One source for everything that must agree: the generator samples from it, the rule patient speaks its
 * sentences, the oracle inverts them. `data/knowledge/README.md` says what the numbers are (an author's
 * ordinal judgement, reviewed by no clinician) and what they are not.
 *
 * Long because the index, the checks of its references and the places they are reported at belong together.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Yaml from 'yaml'
import type * as Zod from 'zod'
import { Fault, messageOf } from './error.js'
import type { KnowledgeFile } from './knowledge-file.js'
import { knowledgeFileSchema, ordinal } from './knowledge-file.js'
import { packageFolder } from './package-folder.js'

const require = createRequire(import.meta.url)

/** A file's entry with everything that may be left out filled in. */
type Filled<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }
type FileDisease = NonNullable<KnowledgeFile['diseases']>[number]

/** A disease with the group it is easily confused within. */
export type Disease = Omit<Filled<FileDisease>, 'findings' | 'prior'> & {
  readonly group: string
  readonly prior: FileDisease['prior']
  /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
  readonly findings: Readonly<Record<string, number | Readonly<Record<string, number>>>>
}
/** A finding, with its states in a fixed order: `absent, present`, or the values of a categorical one. */
export type FindingDefinition = NonNullable<KnowledgeFile['findings']>[number] & {
  readonly states: readonly string[]
}
export type ExamDefinition = Filled<NonNullable<KnowledgeFile['exams']>[number]>
/** A name in both languages. */
interface Both {
  readonly zh: string
  readonly en: string
}

/** The whole knowledge base, indexed; every id in it resolves. */
export interface Knowledge {
  readonly diseases: readonly Disease[]
  /** Parents before children. */
  readonly findings: readonly FindingDefinition[]
  readonly exams: readonly ExamDefinition[]
  readonly actions: ReadonlyMap<string, Both>
  readonly disease: ReadonlyMap<string, Disease>
  readonly finding: ReadonlyMap<string, FindingDefinition>
  readonly exam: ReadonlyMap<string, ExamDefinition>
  readonly groups: ReadonlyMap<string, Both>
  /** The groups it was cut down to, sorted; absent from a whole knowledge base. */
  readonly clinic?: readonly string[]
}

/**
 * P(state | disease, gate open) of a finding, in the order of its states.
 * A finding that the disease does not list keeps its background; a listed boolean one is a noisy-OR of both.
 */
export function stateProbabilities(
  disease: Disease | undefined,
  finding: FindingDefinition,
): readonly number[] {
  const edge = disease?.findings[finding.id]
  if (finding.type === 'bool') {
    const leak = finding.leak as number // checked by `index`
    const p = typeof edge === 'number' ? 1 - (1 - leak) * (1 - edge) : leak
    return [1 - p, p]
  }
  const dist = (typeof edge === 'object' ? edge : finding.leak) as Record<string, number>
  return finding.states.map((state) => dist[state] ?? 0)
}

/** The examinations that carrying out `exam` really does: itself, or a panel's members. */
export const expandPanel = (exam: ExamDefinition): readonly string[] =>
  exam.panelOf.length > 0 ? exam.panelOf : [exam.id]

const parentsFirst = (findings: readonly FindingDefinition[]): FindingDefinition[] => {
  const byId = new Map(findings.map((finding) => [finding.id, finding] as const))
  const depth = (finding: FindingDefinition, hops = 0): number => {
    if (hops > 8) throw new Fault('bad-input', `finding ${finding.id} is its own ancestor`)
    const parent = finding.parent && byId.get(finding.parent.finding)
    return parent ? 1 + depth(parent, hops + 1) : 0
  }
  return findings
    .map((finding, order) => ({ finding, order, depth: depth(finding) }))
    .sort((a, b) => a.depth - b.depth || a.order - b.order)
    .map(({ finding }) => finding)
}

/**
 * Everything wrong with references, states and distributions, one sentence each,
 * with the id whose definition it stands in.
 */
function* problems(knowledge: Knowledge): Generator<readonly [id: string, why: string]> {
  const { finding, exam, disease, actions } = knowledge
  const seen = new Set<string>()
  for (const list of [knowledge.diseases, knowledge.findings, knowledge.exams]) {
    for (const { id } of list) {
      if (seen.has(id)) yield [id, `id ${id} is defined twice`]
      seen.add(id)
    }
  }
  for (const f of knowledge.findings) {
    if ((f.type === 'cat') !== (f.values !== undefined))
      yield [f.id, `finding ${f.id}: values belong to type cat, and only there`]
    if ((f.type === 'bool') !== (typeof f.leak === 'number'))
      yield [
        f.id,
        `finding ${f.id}: expected leak to be ${f.type === 'bool' ? 'a number' : 'a distribution'}`,
      ]
    for (const state of f.states)
      if (!f.say[state]) yield [f.id, `finding ${f.id}: say has no sentences for state ${state}`]
    if (typeof f.leak === 'object')
      for (const value of Object.keys(f.leak))
        if (!f.states.includes(value))
          yield [f.id, `finding ${f.id}: leak names unknown value ${value}`]
    if (f.parent) {
      const parent = finding.get(f.parent.finding)
      if (!parent) yield [f.id, `finding ${f.id}: unknown parent ${f.parent.finding}`]
      else if (!parent.states.includes(f.parent.when))
        yield [f.id, `finding ${f.id}: parent ${parent.id} has no state ${f.parent.when}`]
      if (f.sex !== undefined || parent?.sex !== undefined)
        yield [f.id, `finding ${f.id}: a finding of one sex has neither parent nor children`]
    }
  }
  for (const e of knowledge.exams) {
    for (const id of e.panelOf)
      if (!exam.has(id)) yield [e.id, `exam ${e.id}: unknown member ${id}`]
    for (const id of e.yields) {
      const f = finding.get(id)
      if (!f) yield [e.id, `exam ${e.id}: yields unknown finding ${id}`]
      else if (f.knownBy !== 'exam')
        yield [e.id, `exam ${e.id}: yields ${id}, which the patient knows`]
    }
    if (e.panelOf.length > 0 === e.yields.length > 0)
      yield [e.id, `exam ${e.id}: expected either panelOf or yields`]
  }
  for (const d of knowledge.diseases) {
    for (const [id, edge] of Object.entries(d.findings)) {
      const f = finding.get(id)
      if (!f) yield [d.id, `disease ${d.id}: edge to unknown finding ${id}`]
      else if ((f.type === 'bool') !== (typeof edge === 'number'))
        yield [
          d.id,
          `disease ${d.id}: edge to ${id} must be ${f.type === 'bool' ? 'a probability' : 'a distribution'}`,
        ]
      else if (typeof edge === 'object')
        for (const value of Object.keys(edge))
          if (!f.states.includes(value))
            yield [d.id, `disease ${d.id}: ${id} has no value ${value}`]
    }
    for (const id of d.harmful)
      if (!exam.has(id)) yield [d.id, `disease ${d.id}: unknown exam ${id}`]
    for (const flag of d.redFlags) {
      if (!finding.has(flag.finding))
        yield [d.id, `disease ${d.id}: red flag ${flag.finding} is unknown`]
      if (!actions.has(flag.action)) yield [d.id, `disease ${d.id}: unknown action ${flag.action}`]
    }
    for (const id of [...d.recommend, ...d.contraindicated])
      if (!actions.has(id)) yield [d.id, `disease ${d.id}: unknown action ${id}`]
  }
  if (disease.size === 0) yield ['', 'no diseases']
}

/** An author's words become numbers, and what may be left out is filled in. */
const wholeDisease = (disease: FileDisease, group: string): Disease => ({
  ...disease,
  recommend: disease.recommend ?? [],
  contraindicated: disease.contraindicated ?? [],
  harmful: disease.harmful ?? [],
  redFlags: disease.redFlags ?? [],
  reviewed: disease.reviewed ?? null,
  group,
  findings: Object.fromEntries(
    Object.entries(disease.findings).map(([id, p]) => [id, typeof p === 'string' ? ordinal[p] : p]),
  ),
})

const byId = <T extends { readonly id: string }>(things: readonly T[]): ReadonlyMap<string, T> =>
  new Map(things.map((thing) => [thing.id, thing] as const))

function index(files: readonly KnowledgeFile[]): Knowledge {
  const findings = parentsFirst(
    files
      .flatMap((file) => file.findings ?? [])
      .map((f) => ({ ...f, states: f.type === 'bool' ? ['absent', 'present'] : (f.values ?? []) })),
  )
  const diseases = files.flatMap(({ diseases: own = [], group }) =>
    own.map((disease) => wholeDisease(disease, group?.id ?? 'other')),
  )
  const exams = files.flatMap(({ exams: own = [] }) =>
    own.map((exam) => ({
      ...exam,
      codes: exam.codes ?? [],
      panelOf: exam.panelOf ?? [],
      yields: exam.yields ?? [],
      unavailableP: exam.unavailableP ?? 0,
      validHours: exam.validHours ?? 24,
    })),
  )
  const actions = files.flatMap((file) => file.actions ?? [])
  return {
    diseases,
    findings,
    exams,
    actions: new Map(actions.map(({ id, text }) => [id, text] as const)),
    disease: byId(diseases),
    finding: byId(findings),
    exam: byId(exams),
    groups: new Map(
      files.flatMap((file) => (file.group ? [[file.group.id, file.group.name] as const] : [])),
    ),
  }
}

/** Where in the JSON text a path stands, as `line N`; parsed again only when there is an error to report. */
function lineOf(text: string, path: readonly PropertyKey[]): string {
  // Loaded only for a message; it would double the time to the first step.
  const { LineCounter, parseDocument }: typeof Yaml = require('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] } | undefined)?.range
    if (range) return `${lines.linePos(range[0] ?? 0).line}`
  }
  return '1'
}

/** A file as it was read, for messages that name a line of it. */
interface Source {
  readonly path: string
  readonly text: string
  readonly file: KnowledgeFile
}

function readFile(path: string, trusted: boolean): Source {
  const text = readFileSync(path, 'utf8')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${path}: ${messageOf(error)}`)
  }
  if (trusted) return { path, text, file: json as KnowledgeFile } // a test holds it to the schema
  const { z }: typeof Zod = require('zod')
  const parsed = knowledgeFileSchema(z).safeParse(json)
  if (parsed.success) return { path, text, file: parsed.data }
  const issue = parsed.error.issues[0]
  const where = issue?.path ?? []
  throw new Fault(
    'bad-input',
    `${path}:${lineOf(text, where)}: ${issue?.message ?? 'not a knowledge file'} at ${where.join('.')}`,
  )
}

/** `file:line` of the last definition of an id, or the folder where there is none. */
function placeOf(id: string, sources: readonly Source[], folder: string): string {
  const definition = new RegExp(`"id"\\s*:\\s*"${id}"`, 'g')
  const places = sources.flatMap(({ path, text }) =>
    [...text.matchAll(definition)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  )
  return places.at(-1) ?? folder
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    throw new Fault('bad-input', `${folder}: ${messageOf(error)}`, { cause: error })
  }
}

const cache = new Map<string, Knowledge>()

/**
 * Reads every `*.json` file of a folder and checks that all ids resolve.
 * @param folder @default the knowledge base that comes with the package
 * @throws Fault `bad-input` with file, line, path and what was expected
 */
export function loadKnowledge(folder?: string): Knowledge {
  return load(folder ?? join(packageFolder(), 'data/knowledge'), folder === undefined)
}

function load(folder: string, trusted: boolean): Knowledge {
  const known = cache.get(folder)
  if (known) return known
  const names = namesIn(folder)
  if (names.length === 0) throw new Fault('bad-input', `${folder}: no *.json files`)
  const sources = names.map((name) => readFile(join(folder, name), trusted))
  const knowledge = index(sources.map(({ file }) => file))
  const wrong = [...problems(knowledge)].map(
    ([id, why]) => `${placeOf(id, sources, folder)}: ${why}`,
  )
  if (wrong.length > 0) throw new Fault('bad-input', wrong.join('\n'))
  cache.set(folder, knowledge)
  return knowledge
}

/**
 * The part of a knowledge base that concerns some disease groups: their diseases, every finding one of
 * them mentions (with parents), and every examination that yields one of those.
 * @throws RangeError for a group that does not exist
 */
export function clinic(knowledge: Knowledge, groups: readonly string[]): Knowledge {
  for (const group of groups)
    if (!knowledge.groups.has(group))
      throw new RangeError(
        `Expected a group of ${[...knowledge.groups.keys()].join(', ')}, got \`${group}\``,
      )
  const diseases = knowledge.diseases.filter((d) => groups.includes(d.group))
  const keep = new Set(diseases.flatMap((d) => Object.keys(d.findings)))
  for (const f of [...knowledge.findings].reverse())
    if (keep.has(f.id) && f.parent) keep.add(f.parent.finding)
  const findings = knowledge.findings.filter((f) => keep.has(f.id))
  const singles = knowledge.exams
    .filter((e) => e.yields.some((id) => keep.has(id)))
    .map((e) => ({ ...e, yields: e.yields.filter((id) => keep.has(id)) }))
  const names = new Set(singles.map((e) => e.id))
  const panels = knowledge.exams.filter(
    (e) => e.panelOf.length > 0 && e.panelOf.every((id) => names.has(id)),
  )
  const exams = [...singles, ...panels]
  return {
    ...knowledge,
    clinic: [...new Set(groups)].sort(),
    diseases,
    findings,
    exams,
    disease: new Map(diseases.map((d) => [d.id, d] as const)),
    finding: new Map(findings.map((f) => [f.id, f] as const)),
    exam: new Map(exams.map((e) => [e.id, e] as const)),
    groups: new Map([...knowledge.groups].filter(([id]) => groups.includes(id))),
  }
}
