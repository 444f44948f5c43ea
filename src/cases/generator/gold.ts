/** Gold labels of a generated case: differential, partial credit, useful examinations, weights of findings. */
import type { ExamResult, Gold } from '../../case.js'
import { complaintChoice, type Model } from '../../inference/generative-model.js'
import { type DiseasePairs, diseasePairs } from '../../inference/hypotheses.js'
import type { Disease, Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import type { Tier } from '../../knowledge/tiers.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import type { DrawnPatient } from './draw.js'
import { addLogLikelihood, labelExams, normaliseLogWeights, patientChances } from './label-exams.js'

const maxWeight = 3
const informative = Math.log(2)
const round = (n: number): number => Math.round(n * 1e4) / 1e4

/** By table of probabilities and disease: a table belongs to one knowledge base. */
const weightRows = memoizeByIdentity((_chance: Float64Array): Float64Array[] => [])

function weightRow(base: Float64Array, chance: Float64Array, disease: number): Float64Array {
  const columns = base.length
  const weights = new Float64Array(chance.length / columns)
  let mass = 0
  for (let d = 0; d < columns; d++) if (d !== disease) mass += base[d]!
  for (let state = 0; state < weights.length; state++) {
    let others = 0
    const row = state * columns
    for (let d = 0; d < columns; d++) if (d !== disease) others += base[d]! * chance[row + d]!
    const ratio = (chance[row + disease]! * mass) / others
    weights[state] = mass === 0 ? 0 : Math.min(maxWeight, Math.abs(Math.log(ratio)))
  }
  return weights
}

const baseRates = perKnowledge((knowledge) =>
  Float64Array.from(knowledge.diseases, ({ prior }) => prior.base),
)

/**
 * Absolute log likelihood ratio of each node's states, gate open, at most 3 nats:
 * |log P(state | disease) / P(state | other diseases, by base rate)|, for patients of this age and sex.
 */
export function findingWeightTables(
  knowledge: Knowledge,
  model: Model,
  patient: DrawnPatient,
): readonly Float64Array[] {
  return model.nodes.map((node) => {
    const chance = patientChances(patient, node)
    const rows = weightRows(chance)
    rows[patient.disease] ??= weightRow(baseRates(knowledge), chance, patient.disease)
    return rows[patient.disease]!
  })
}

/**
 * Weight of a finding in history coverage. Present and abnormal states have one; a normal state only if it is at
 * least twice, or at most half, as likely as in the other diseases.
 */
export function findingWeight(
  table: Float64Array,
  state: number,
  remarkable: boolean,
): number | undefined {
  const weight = table[state] ?? 0
  return remarkable || weight >= informative ? round(weight) : undefined
}

type GoldDiagnosis = Pick<Gold['dx'][number], 'id' | 'name' | 'aliases' | 'codes' | 'severity'>

const toDiagnosis = ({ id, name, aliases, codes, severity }: Disease): GoldDiagnosis => ({
  id,
  name: { ...name },
  aliases: [...aliases.zh, ...aliases.en],
  codes: codes.map((code) => ({ ...code })),
  severity,
})

function goldActions(knowledge: Knowledge, disease: Disease): Gold['actions'] {
  const of = (ids: readonly string[], polarity: 'recommend' | 'contraindicated') =>
    ids.map((id) => ({ id, text: { ...knowledge.actions.get(id) }, polarity, weight: 1 }))
  return [...of(disease.recommend, 'recommend'), ...of(disease.contraindicated, 'contraindicated')]
}

/** Red flags of a disease. The doctor must ask after those the patient has and can report. */
const goldRedFlags = ({ index, nodes }: Model, { states }: DrawnPatient, { redFlags }: Disease) =>
  redFlags.flatMap(({ finding, action }) => {
    const f = index.get(finding)
    if (f === undefined) return []
    const mustAsk = nodes[f]!.finding.knownBy === 'patient' && states[f] === 1
    return [{ finding, mustAsk, action }]
  })

function sumByDisease(
  p: Float64Array,
  { disease }: DiseasePairs,
  { diseases }: Knowledge,
): Float64Array {
  const sums = new Float64Array(diseases.length)
  for (let c = 0; c < p.length; c++) sums[disease[c]!]! += p[c]!
  return sums
}

/** P(first disease) given the complaint and the true states of all findings the patient knows, and of all findings. */
function fullPosteriors(
  knowledge: Knowledge,
  { knownBy }: Model,
  patient: DrawnPatient,
  { atypicality, comorbidity, novel }: Tier,
): { readonly historyPosterior: Float64Array; readonly fullPosterior: Float64Array } {
  const pairs = diseasePairs(knowledge, {
    atypicality,
    comorbidity,
    drawn: novel ? 'all' : 'common',
  })
  const logs = pairs.weights(patient).map(Math.log)
  addLogLikelihood(logs, pairs.model, knownBy.patient, patient)
  const { nodes } = pairs.model
  const present = nodes.flatMap((node, f) => (node.rates && patient.states[f] === 1 ? [f] : []))
  complaintChoice(pairs.model, patient.complaint, present).forEach((p, h) => {
    logs[h]! += Math.log(p)
  })
  const historyPosterior = sumByDisease(normaliseLogWeights(logs), pairs, knowledge)
  addLogLikelihood(logs, pairs.model, knownBy.exam, patient)
  return {
    historyPosterior,
    fullPosterior: sumByDisease(normaliseLogWeights(logs), pairs, knowledge),
  }
}

const creditFrom = 0.05 // least probability of an acceptable diagnosis
const listedFrom = 0.01 // least probability in the differential

/**
 * Builds the gold of a drawn patient, and P(the primary diagnosis | all findings). The differential is of the first
 * disease, whatever its companion; an examination harmful in either disease is harmful.
 */
export function buildGold(
  knowledge: Knowledge,
  model: Model,
  patient: DrawnPatient,
  exams: readonly ExamResult[],
  tier: Tier,
): { readonly gold: Gold; readonly bayesCeiling: number } {
  const disease = knowledge.diseases[patient.disease]!
  const { historyPosterior, fullPosterior } = fullPosteriors(knowledge, model, patient, tier)
  const full = knowledge.diseases.map((other, d) => ({ other, p: fullPosterior[d]! }))
  const companion = knowledge.diseases[patient.companion]
  const harmful = [...new Set([...disease.harmful, ...(companion?.harmful ?? [])])].filter((id) =>
    knowledge.exam.has(id),
  )
  const gold: Gold = {
    dx: [
      { ...toDiagnosis(disease), role: 'primary' },
      ...(companion ? [{ ...toDiagnosis(companion), role: 'comorbid' as const }] : []),
    ],
    acceptable: full
      .filter(
        ({ other, p }) => other !== disease && other.group === disease.group && p >= creditFrom,
      )
      .map(({ other }) => ({ ...toDiagnosis(other), credit: 0.5 })),
    differential: full
      .filter(({ p }) => p >= listedFrom)
      .sort((a, b) => b.p - a.p)
      .map(({ other, p }) => ({ id: other.id, p: round(p) })),
    exams: labelExams(
      { knowledge, model, patient, historyPosterior, harmful, money: tier.money },
      exams,
    ),
    redFlags: goldRedFlags(model, patient, disease),
    triage: { scale: 'local5', level: disease.triage },
    actions: goldActions(knowledge, disease),
  }
  return { gold, bayesCeiling: round(full[patient.disease]!.p) }
}
