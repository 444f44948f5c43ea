/**
 * The disease knowledge base: diseases, findings, examinations, and how often each disease shows each finding.
 *
 * One source for everything that must agree: the generator samples from it, the rule patient speaks its
 * sentences, the oracle inverts them. `data/knowledge/README.md` says what the numbers are (an author's
 * ordinal judgement, reviewed by no clinician) and what they are not.
 */
import { Fault } from '../error.js'
import type { KnowledgeFile } from './schema.js'
import { ordinal } from './schema.js'

/** A file's entry with everything that may be left out filled in. */
type Filled<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }
type FileDisease = NonNullable<KnowledgeFile['diseases']>[number]

/** A disease with the group it is easily confused within. */
export type Disease = Omit<Filled<FileDisease>, 'findings' | 'prior' | 'comorbid'> & {
  readonly group: string
  /** Weight as a second disease beside another; 0 never accompanies one. */
  readonly comorbid: number
  readonly prior: FileDisease['prior']
  /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
  readonly findings: Readonly<Record<string, number | Readonly<Record<string, number>>>>
}
/** A finding, with its states in a fixed order: `absent, present`, or the values of a categorical one. */
export type FindingDefinition = NonNullable<KnowledgeFile['findings']>[number] & {
  readonly states: readonly string[]
}
export type ExamDefinition = Filled<NonNullable<KnowledgeFile['exams']>[number]>
/** What doctors say of one matter that no finding answers: their job, the weather, hair that falls out. */
export type Aside = NonNullable<KnowledgeFile['asides']>[number]
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
  readonly asides: readonly Aside[]
  readonly disease: ReadonlyMap<string, Disease>
  readonly finding: ReadonlyMap<string, FindingDefinition>
  readonly exam: ReadonlyMap<string, ExamDefinition>
  readonly groups: ReadonlyMap<string, Both>
  /** The groups it was cut down to, sorted; absent from a whole knowledge base. */
  readonly clinic?: readonly string[]
}

/**
 * P(state | diseases, gate open) of a finding, in the order of its states.
 * A boolean finding is a noisy-OR of its background and of every disease that lists it; a categorical one has
 * the distribution of the first disease that lists it, or else its background.
 */
export function stateProbabilities(
  diseases: readonly Disease[],
  finding: FindingDefinition,
): readonly number[] {
  const edges = diseases.map((disease) => disease.findings[finding.id])
  if (finding.type === 'bool') {
    const leak = finding.leak as number // checked by `knowledge-check.ts`
    let absent = 1 - leak
    for (const edge of edges) if (typeof edge === 'number') absent *= 1 - edge
    return [absent, 1 - absent]
  }
  const dist = (edges.find((edge) => typeof edge === 'object') ?? finding.leak) as Record<
    string,
    number
  >
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

/** An author's words become numbers, and what may be left out is filled in. */
const wholeDisease = (disease: FileDisease, group: string): Disease => ({
  ...disease,
  novel: disease.novel ?? false,
  comorbid: disease.comorbid ?? 0,
  incompatible: disease.incompatible ?? [],
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

/** Indexes the files of a knowledge base as they stand; references are checked by `knowledge-check.ts`. */
export function indexKnowledge(files: readonly KnowledgeFile[]): Knowledge {
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
    asides: files.flatMap((file) => file.asides ?? []),
    disease: byId(diseases),
    finding: byId(findings),
    exam: byId(exams),
    groups: new Map(
      files.flatMap((file) => (file.group ? [[file.group.id, file.group.name] as const] : [])),
    ),
  }
}

/**
 * The part of a knowledge base that concerns some disease groups: their diseases, every finding one of
 * them mentions (with parents), and every examination that yields one of those. To ask for any other finding
 * is an aside there.
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
  const others = knowledge.findings.filter((f) => !keep.has(f.id) && f.knownBy === 'patient')
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
    asides: [...knowledge.asides, ...others.map(({ id, ask }) => ({ id, text: ask }))],
    disease: new Map(diseases.map((d) => [d.id, d] as const)),
    finding: new Map(findings.map((f) => [f.id, f] as const)),
    exam: new Map(exams.map((e) => [e.id, e] as const)),
    groups: new Map([...knowledge.groups].filter(([id]) => groups.includes(id))),
  }
}
