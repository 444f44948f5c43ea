/** What the grader knows of a generated case: differential, credit, examinations worth doing, how telling a finding is. */
import type { ExamResult, Gold } from '../../case.js'
import type { Model } from '../../inference/generative-model.js'
import type { Pairs } from '../../inference/hypotheses.js'
import { pairsOver } from '../../inference/hypotheses.js'
import type { Disease, Knowledge } from '../../knowledge/knowledge.js'
import type { Tier } from '../../knowledge/tiers.js'
import type { Patient } from './draw.js'
import { addEvidence, normalised, worthDoing } from './worth.js'

const maxWeight = 3
const telling = Math.log(2)
const round = (n: number): number => Math.round(n * 1e4) / 1e4

const weightTables = new WeakMap<Model, (readonly Float64Array[])[]>()

/** Plain loops: this runs unoptimised, before the first step. */
function weightTable(base: Float64Array, { nodes, columns }: Model, disease: number) {
  let mass = 0
  for (let d = 0; d < columns; d++) if (d !== disease) mass += base[d]!
  return nodes.map(({ finding, chance }) => {
    const weights = new Float64Array(finding.states.length)
    for (let state = 0; state < weights.length; state++) {
      let others = 0
      const row = state * columns
      for (let d = 0; d < columns; d++) if (d !== disease) others += base[d]! * chance[row + d]!
      const ratio = (chance[row + disease]! * mass) / others
      weights[state] = mass === 0 ? 0 : Math.min(maxWeight, Math.abs(Math.log(ratio)))
    }
    return weights
  })
}

/** |log P(state | disease) / P(state | the others, by base rate)| of each node's states, gate open, at most 3. */
export function weightsOf(
  knowledge: Knowledge,
  model: Model,
  disease: number,
): readonly Float64Array[] {
  const tables = weightTables.get(model) ?? []
  weightTables.set(model, tables)
  tables[disease] ??= weightTable(
    Float64Array.from(knowledge.diseases, ({ prior }) => prior.base),
    model,
    disease,
  )
  return tables[disease]
}

/**
 * The weight of a finding in history coverage: given to what is present or out of the ordinary, and to an
 * ordinary state at least twice as likely, or half as likely, as in the other diseases.
 */
export function weightOf(
  table: Float64Array,
  state: number,
  remarkable: boolean,
): number | undefined {
  const weight = table[state] ?? 0
  return remarkable || weight >= telling ? round(weight) : undefined
}

type Named = Pick<Gold['dx'][number], 'id' | 'name' | 'aliases' | 'codes' | 'severity'>

const named = ({ id, name, aliases, codes, severity }: Disease): Named => ({
  id,
  name: { ...name },
  aliases: [...aliases.zh, ...aliases.en],
  codes: codes.map((code) => ({ ...code })),
  severity,
})

function actionsOf(knowledge: Knowledge, disease: Disease): Gold['actions'] {
  const of = (ids: readonly string[], polarity: 'recommend' | 'contraindicated') =>
    ids.map((id) => ({ id, text: { ...knowledge.actions.get(id) }, polarity, weight: 1 }))
  return [...of(disease.recommend, 'recommend'), ...of(disease.contraindicated, 'contraindicated')]
}

/** P(first disease) of P(pair). */
function overDiseases(p: Float64Array, { disease }: Pairs, { diseases }: Knowledge): Float64Array {
  const sums = new Float64Array(diseases.length)
  for (let c = 0; c < p.length; c++) sums[disease[c]!]! += p[c]!
  return sums
}

const creditFrom = 0.05
const listedFrom = 0.01

/**
 * The gold of a drawn patient, and the probability that everything there is to know gives the diagnosis.
 * The differential is of the first disease, whatever accompanies it; what harms in either is harmful.
 * @param tier what the doctor may spend, and how typical patients are
 */
export function goldOf(
  knowledge: Knowledge,
  model: Model,
  patient: Patient,
  exams: readonly ExamResult[],
  { money, atypicality, comorbidity, novel }: Tier,
): { readonly gold: Gold; readonly bayesCeiling: number } {
  const disease = knowledge.diseases[patient.disease]!
  const pairs = pairsOver(knowledge, { atypicality, comorbidity, drawn: novel ? 'all' : 'common' })
  const logs = pairs.weights(patient).map(Math.log)
  addEvidence(logs, pairs.model, model.knownBy.patient, patient.states)
  const told = overDiseases(normalised(logs), pairs, knowledge)
  addEvidence(logs, pairs.model, model.knownBy.exam, patient.states)
  const all = overDiseases(normalised(logs), pairs, knowledge)
  const full = knowledge.diseases.map((other, d) => ({ other, p: all[d]! }))
  const companion = knowledge.diseases[patient.companion]
  const harmful = [...new Set([...disease.harmful, ...(companion?.harmful ?? [])])].filter((id) =>
    knowledge.exam.has(id),
  )
  const gold: Gold = {
    dx: [
      { ...named(disease), role: 'primary' },
      ...(companion ? [{ ...named(companion), role: 'comorbid' as const }] : []),
    ],
    acceptable: full
      .filter(
        ({ other, p }) => other !== disease && other.group === disease.group && p >= creditFrom,
      )
      .map(({ other }) => ({ ...named(other), credit: 0.5 })),
    differential: full
      .filter(({ p }) => p >= listedFrom)
      .sort((a, b) => b.p - a.p)
      .map(({ other, p }) => ({ id: other.id, p: round(p) })),
    exams: worthDoing({ knowledge, model, patient, told, harmful, money }, exams),
    redFlags: disease.redFlags
      .filter(({ finding }) => model.index.has(finding))
      .map(({ finding, action }) => {
        const f = model.index.get(finding)!
        const asked = model.nodes[f]!.finding.knownBy === 'patient' && patient.states[f] === 1
        return { finding, mustAsk: asked, action }
      }),
    triage: { scale: 'local5', level: disease.triage },
    actions: actionsOf(knowledge, disease),
  }
  return { gold, bayesCeiling: round(full[patient.disease]!.p) }
}
