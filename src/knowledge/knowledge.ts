/**
 * The disease knowledge base: diseases, findings, examinations, and P(finding | disease).
 *
 * The case generator samples from it, the rule patient speaks its sentences, and the oracle inverts it, so all agree.
 * Its numbers are an author's ordinal judgement, reviewed by no clinician; see `data/knowledge/README.md`.
 */
import type { FileDisease, KnowledgeFile } from './schema.js'

export type { ConversationAct, DetailAttribute } from './schema.js'

/** A file's entry with its optional fields filled in. */
type Filled<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

/** A disease, with the group of diseases it is easily confused with. */
export type Disease = Omit<Filled<FileDisease>, 'findings' | 'prior' | 'comorbid' | 'workup'> & {
  readonly group: string
  /** Relative weight as a comorbidity of another disease; 0 is never one. */
  readonly comorbid: number
  readonly prior: FileDisease['prior']
  /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
  readonly findings: Readonly<Record<string, number | Readonly<Record<string, number>>>>
  /** How eagerly a patient comes with each finding; where the file leaves it out, by salience. The highest is 1. */
  readonly complaints: Readonly<Record<string, number>>
  readonly workup?: FileDisease['workup']
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
/** What a patient says of findings that no finding records. */
export type Detail = NonNullable<KnowledgeFile['details']>[number]
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
  /** Titles of the ICD-10 codes in use; empty where the files list none. */
  readonly icd10: ReadonlyMap<string, string>
  readonly aside: ReadonlyMap<string, Aside>
  readonly biography: readonly BiographySlot[]
  /** The classes of findings in `of` are written out; the first that fits counts. */
  readonly details: readonly Detail[]
  readonly disease: ReadonlyMap<string, Disease>
  readonly finding: ReadonlyMap<string, FindingDefinition>
  readonly exam: ReadonlyMap<string, ExamDefinition>
  readonly groups: ReadonlyMap<string, BilingualName>
  /** The groups it was reduced to by {@link clinic}, sorted; absent from a whole knowledge base. */
  readonly clinic?: readonly string[]
}

/** What a finding is without a cause, and which states are ruled out even with one. */
export interface Background {
  /** P(present | no cause) of a boolean finding, or a categorical one's distribution. */
  readonly leak: FindingDefinition['leak']
  readonly excluded?: readonly string[] | undefined
}

/** An age- and sex-specific entry: ages in years, both ends included; left out: everybody. */
interface Band {
  readonly ages?: readonly [number, number] | undefined
  readonly sex?: 'F' | 'M' | undefined
}

/** First age in years that is past an upper end: whole years are lived to their last day. */
export const ageAfter = (high: number): number => (Number.isInteger(high) ? high + 1 : high + 1e-9)

/** Whether a band is of a patient's age and sex; an unknown one fits no band that asks for it. */
export const fitsBand = (
  { ages, sex }: Band,
  who: { readonly age?: number | undefined; readonly sex?: string | undefined },
): boolean =>
  (sex === undefined || sex === who.sex) &&
  (ages === undefined ||
    (who.age !== undefined && who.age >= ages[0] && who.age < ageAfter(ages[1])))

/** Background of a finding: by what `given` says of the other finding's state, by age and sex, or else its leak. */
export const backgroundFor = (
  { leak, leakBands, given }: FindingDefinition,
  who: { readonly age?: number | undefined; readonly sex?: string | undefined },
  above?: string,
): Background => ({
  leak:
    (above === undefined ? undefined : given?.leaks?.[above]) ??
    leakBands?.find((band) => fitsBand(band, who))?.leak ??
    leak,
  excluded: above === undefined ? undefined : given?.excludes?.[above],
})

/** Number ranges of a finding's values and their normal interval, for a patient's age and sex. */
export const measureFor = (
  { measure }: FindingDefinition,
  who: { readonly age?: number | undefined; readonly sex?: string | undefined },
) => measure?.bands?.find((band) => fitsBand(band, who)) ?? measure

/** Whether a finding's gate is open at a state of its parent. */
export const opensGate = ({ when }: NonNullable<FindingDefinition['parent']>, state: string) =>
  typeof when === 'string' ? when === state : when.includes(state)

/** Probabilities without the excluded states, scaled to sum to 1; those of the background where none is left. */
function withoutExcluded(
  { states }: FindingDefinition,
  chances: readonly number[],
  excluded: readonly string[],
  otherwise: () => readonly number[],
): readonly number[] {
  const left = chances.map((p, s) => (excluded.includes(states[s] ?? '') ? 0 : p))
  const sum = left.reduce((total, p) => total + p, 0)
  return sum > 0 ? left.map((p) => p / sum) : otherwise()
}

/**
 * P(state | diseases, gate open) of a finding, in the order of its states; gate: parent, sex and ages.
 * A boolean finding is a noisy-OR of its background and every disease that lists it. A categorical finding has the
 * distribution of the first disease that lists it, or else its background.
 */
export function stateProbabilities(
  diseases: readonly Disease[],
  finding: FindingDefinition,
  background: Background = finding,
): readonly number[] {
  const { excluded } = background
  const chances = causedProbabilities(diseases, finding, background)
  return excluded
    ? withoutExcluded(finding, chances, excluded, () => stateProbabilities([], finding, background))
    : chances
}

/** {@link stateProbabilities} before anything is ruled out. */
function causedProbabilities(
  diseases: readonly Disease[],
  finding: FindingDefinition,
  background: Background,
): readonly number[] {
  const edges = diseases.map((disease) => disease.findings[finding.id])
  if (finding.type === 'bool') {
    const leak = background.leak as number // checked by `check.ts`
    let absent = 1 - leak
    for (const edge of edges) if (typeof edge === 'number') absent *= 1 - edge
    return [absent, 1 - absent]
  }
  const dist = (edges.find((edge) => typeof edge === 'object') ?? background.leak) as Record<
    string,
    number
  >
  return finding.states.map((state) => dist[state] ?? 0)
}

/** Ids of the examinations that `exam` consists of: itself, or a panel's members. */
export const expandPanel = (exam: ExamDefinition): readonly string[] =>
  exam.panelOf.length > 0 ? exam.panelOf : [exam.id]

/** A map of things by their id. */
export const indexById = <T extends { readonly id: string }>(
  things: readonly T[],
): ReadonlyMap<string, T> => new Map(things.map((thing) => [thing.id, thing] as const))

/** Id of the finding whose state its own probabilities depend on: its gate, or the condition of `given`. */
export const parentOf = ({ parent, given }: FindingDefinition): string | undefined =>
  parent?.finding ?? given?.finding

/** Whether a patient can come with a finding: a boolean root that the patient knows. */
export const canComeWith = (finding: FindingDefinition): boolean =>
  finding.type === 'bool' && finding.knownBy === 'patient' && !finding.parent && !finding.given

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
  for (const f of [...knowledge.findings].reverse()) {
    const above = parentOf(f)
    if (keep.has(f.id) && above !== undefined) keep.add(above)
  }
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
