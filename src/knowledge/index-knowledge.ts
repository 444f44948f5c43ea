/** Makes an indexed knowledge base of parsed files: defaults filled in, parents first, complaints as rates. */
import { Fault } from '../error.js'
import {
  canComeWith,
  type Disease,
  type FindingDefinition,
  indexById,
  type Knowledge,
  parentOf,
} from './knowledge.js'
import { type FileDisease, type KnowledgeFile, ordinalProbabilities } from './schema.js'

const sortParentsFirst = (findings: readonly FindingDefinition[]): FindingDefinition[] => {
  const definitions = indexById(findings)
  const depth = (finding: FindingDefinition, hops = 0): number => {
    if (hops > 8) throw new Fault('bad-input', `finding ${finding.id} is its own ancestor`)
    const above = parentOf(finding)
    const parent = above === undefined ? undefined : definitions.get(above)
    return parent ? 1 + depth(parent, hops + 1) : 0
  }
  return findings
    .map((finding, order) => ({ finding, order, depth: depth(finding) }))
    .sort((a, b) => a.depth - b.depth || a.order - b.order)
    .map(({ finding }) => finding)
}

/** How eagerly a patient with the disease comes with each finding, scaled so that the highest is 1. */
function complaintRates(
  { complaints, findings }: FileDisease,
  finding: Knowledge['finding'],
): Readonly<Record<string, number>> {
  const bySalience = Object.keys(findings).flatMap((id): [string, number][] => {
    const f = finding.get(id)
    return f && f.salience > 0 && canComeWith(f) ? [[id, f.salience]] : []
  })
  const rates = complaints ? Object.entries(complaints) : bySalience
  const most = Math.max(...rates.map(([, rate]) => rate))
  return Object.fromEntries(rates.map(([id, rate]) => [id, rate / most]))
}

/** Replaces ordinal words by probabilities and fills in defaults. */
const fillDisease = (
  disease: FileDisease,
  group: string,
  finding: Knowledge['finding'],
): Disease => ({
  ...disease,
  novel: disease.novel ?? false,
  comorbid: disease.comorbid ?? 0,
  incompatible: disease.incompatible ?? [],
  recommend: disease.recommend ?? [],
  contraindicated: disease.contraindicated ?? [],
  harmful: disease.harmful ?? [],
  redFlags: disease.redFlags ?? [],
  reviewed: disease.reviewed ?? null,
  complaints: complaintRates(disease, finding),
  sources: disease.sources ?? [],
  group,
  findings: Object.fromEntries(
    Object.entries(disease.findings).map(([id, p]) => [
      id,
      typeof p === 'string' ? ordinalProbabilities[p] : p,
    ]),
  ),
})

/** The details of all files, with the classes of findings written out. */
function readDetails(files: readonly KnowledgeFile[]): Knowledge['details'] {
  const classes = new Map(files.flatMap((file) => Object.entries(file.detailClasses ?? {})))
  return files
    .flatMap((file) => file.details ?? [])
    .map(({ of, ...rest }) =>
      of ? { ...rest, of: of.flatMap((id) => classes.get(id) ?? id) } : rest,
    )
}

const fillExam = (exam: NonNullable<KnowledgeFile['exams']>[number]) => ({
  ...exam,
  codes: exam.codes ?? [],
  panelOf: exam.panelOf ?? [],
  yields: exam.yields ?? [],
  unavailableP: exam.unavailableP ?? 0,
  validHours: exam.validHours ?? 24,
  instead: exam.instead ?? { zh: [], en: [] },
})

/** Indexes the files of a knowledge base unchecked; `check.ts` checks references. */
export function indexKnowledge(files: readonly KnowledgeFile[]): Knowledge {
  const findings = sortParentsFirst(
    files
      .flatMap((file) => file.findings ?? [])
      .map((f) => ({ ...f, states: f.type === 'bool' ? ['absent', 'present'] : (f.values ?? []) })),
  )
  const finding = indexById(findings)
  const diseases = files.flatMap(({ diseases: own = [], group }) =>
    own.map((disease) => fillDisease(disease, group?.id ?? 'other', finding)),
  )
  const exams = files.flatMap(({ exams: own = [] }) => own.map(fillExam))
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
    details: readDetails(files),
    icd10: new Map(files.flatMap((file) => Object.entries(file.icd10 ?? {}))),
    disease: indexById(diseases),
    finding,
    exam: indexById(exams),
    groups: new Map(
      files.flatMap((file) => (file.group ? [[file.group.id, file.group.name] as const] : [])),
    ),
  }
}
