/**
 * The disease knowledge base: diseases, findings, examinations, and P(finding | disease).
 *
 * The case generator samples from it, the rule patient speaks its sentences, and the oracle inverts it, so all agree.
 * Its numbers are an author's ordinal judgement, reviewed by no clinician; see `data/knowledge/README.md`.
 */
import { Fault } from '../error.js'
import { type KnowledgeFile, ordinalProbabilities } from './schema.js'

export type { ConversationAct, FindingAttribute } from './schema.js'

/** A file's entry with its optional fields filled in. */
type Filled<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }
type FileDisease = NonNullable<KnowledgeFile['diseases']>[number]

/** A disease, with the group of diseases it is easily confused with. */
export type Disease = Omit<Filled<FileDisease>, 'findings' | 'prior' | 'comorbid'> & {
  readonly group: string
  /** Relative weight as a comorbidity of another disease; 0 is never one. */
  readonly comorbid: number
  readonly prior: FileDisease['prior']
  /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
  readonly findings: Readonly<Record<string, number | Readonly<Record<string, number>>>>
}
/** A finding with its states in a fixed order: `absent, present`, or the values of a categorical finding. */
export type FindingDefinition = NonNullable<KnowledgeFile['findings']>[number] & {
  readonly states: readonly string[]
}
/** An examination or a panel of examinations. */
export type ExamDefinition = Filled<NonNullable<KnowledgeFile['exams']>[number]>
/** Phrases about one topic that no finding answers: the patient's job, the weather, hair loss. */
export type Aside = NonNullable<KnowledgeFile['asides']>[number]
/** A question about the patient's life, with the answers it may have. */
export type BiographySlot = NonNullable<KnowledgeFile['biography']>[number]
/** A name in both languages. */
interface BilingualName {
  readonly zh: string
  readonly en: string
}

/** An indexed knowledge base; every id in it resolves. */
export interface Knowledge {
  readonly diseases: readonly Disease[]
  /** Parents before children. */
  readonly findings: readonly FindingDefinition[]
  readonly exams: readonly ExamDefinition[]
  readonly actions: ReadonlyMap<string, BilingualName>
  readonly asides: readonly Aside[]
  readonly aside: ReadonlyMap<string, Aside>
  readonly biography: readonly BiographySlot[]
  readonly disease: ReadonlyMap<string, Disease>
  readonly finding: ReadonlyMap<string, FindingDefinition>
  readonly exam: ReadonlyMap<string, ExamDefinition>
  readonly groups: ReadonlyMap<string, BilingualName>
  /** The groups it was reduced to by {@link clinic}, sorted; absent from a whole knowledge base. */
  readonly clinic?: readonly string[]
}

/**
 * P(state | diseases, gate open) of a finding, in the order of its states; gate: parent, sex and ages.
 * A boolean finding is a noisy-OR of its background and every disease that lists it. A categorical finding has the
 * distribution of the first disease that lists it, or else its background.
 */
export function stateProbabilities(
  diseases: readonly Disease[],
  finding: FindingDefinition,
): readonly number[] {
  const edges = diseases.map((disease) => disease.findings[finding.id])
  if (finding.type === 'bool') {
    const leak = finding.leak as number // checked by `check.ts`
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

/** Ids of the examinations that `exam` consists of: itself, or a panel's members. */
export const expandPanel = (exam: ExamDefinition): readonly string[] =>
  exam.panelOf.length > 0 ? exam.panelOf : [exam.id]

const sortParentsFirst = (findings: readonly FindingDefinition[]): FindingDefinition[] => {
  const definitions = indexById(findings)
  const depth = (finding: FindingDefinition, hops = 0): number => {
    if (hops > 8) throw new Fault('bad-input', `finding ${finding.id} is its own ancestor`)
    const parent = finding.parent && definitions.get(finding.parent.finding)
    return parent ? 1 + depth(parent, hops + 1) : 0
  }
  return findings
    .map((finding, order) => ({ finding, order, depth: depth(finding) }))
    .sort((a, b) => a.depth - b.depth || a.order - b.order)
    .map(({ finding }) => finding)
}

/** Replaces ordinal words by probabilities and fills in defaults. */
const fillDisease = (disease: FileDisease, group: string): Disease => ({
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
    Object.entries(disease.findings).map(([id, p]) => [
      id,
      typeof p === 'string' ? ordinalProbabilities[p] : p,
    ]),
  ),
})

const indexById = <T extends { readonly id: string }>(
  things: readonly T[],
): ReadonlyMap<string, T> => new Map(things.map((thing) => [thing.id, thing] as const))

/** Indexes the files of a knowledge base unchecked; `check.ts` checks references. */
export function indexKnowledge(files: readonly KnowledgeFile[]): Knowledge {
  const findings = sortParentsFirst(
    files
      .flatMap((file) => file.findings ?? [])
      .map((f) => ({ ...f, states: f.type === 'bool' ? ['absent', 'present'] : (f.values ?? []) })),
  )
  const diseases = files.flatMap(({ diseases: own = [], group }) =>
    own.map((disease) => fillDisease(disease, group?.id ?? 'other')),
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
  const asides = files.flatMap((file) => file.asides ?? [])
  return {
    diseases,
    findings,
    exams,
    actions: new Map(actions.map(({ id, text }) => [id, text] as const)),
    asides,
    aside: indexById(asides),
    biography: files.flatMap((file) => file.biography ?? []),
    disease: indexById(diseases),
    finding: indexById(findings),
    exam: indexById(exams),
    groups: new Map(
      files.flatMap((file) => (file.group ? [[file.group.id, file.group.name] as const] : [])),
    ),
  }
}

/**
 * Restricts a knowledge base to some disease groups: their diseases, all findings these mention (with parents), and
 * all examinations that yield one of those findings. A question about any other finding becomes an aside.
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
  const asides = [...knowledge.asides, ...others.map(({ id, ask }) => ({ id, text: ask }))]
  return {
    ...knowledge,
    clinic: [...new Set(groups)].sort(),
    diseases,
    findings,
    exams,
    asides,
    aside: indexById(asides),
    disease: new Map(diseases.map((d) => [d.id, d] as const)),
    finding: new Map(findings.map((f) => [f.id, f] as const)),
    exam: new Map(exams.map((e) => [e.id, e] as const)),
    groups: new Map([...knowledge.groups].filter(([id]) => groups.includes(id))),
  }
}
