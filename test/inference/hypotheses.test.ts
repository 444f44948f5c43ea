import { describe, expect, test } from 'vitest'
import { primaryDiagnosis } from '../../src/case.js'
import { caseSource } from '../../src/cases/generator/generate.js'
import type { DiseasePool } from '../../src/inference/generative-model.js'
import { companionWeights, priorWeights } from '../../src/inference/generative-model.js'
import { diseasePairs } from '../../src/inference/hypotheses.js'
import { buildPosterior, fullInformationBelief } from '../../src/inference/posterior.js'
import type { Disease, FindingDefinition } from '../../src/knowledge/knowledge.js'
import {
  backgroundFor,
  canComeWith,
  parentOf,
  stateProbabilities,
} from '../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { RevealedFinding } from '../../src/turn.js'
import { pairedKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = pairedKnowledge()
const intake = { age: 30, sex: 'F' }
const noise = { forget: 0.1, deny: 0.2, overReport: 0.05 }
const shut = '(none)'

/** Every way to be ill: one disease, or two, with its probability; by hand, not by the code under test. */
function illnesses(comorbidity: number, drawn: DiseasePool) {
  const prior = priorWeights(knowledge, intake, drawn)
  return knowledge.diseases.flatMap((first, d) => {
    const partners = knowledge.diseases.map((second) =>
      second.group === first.group ||
      second.novel ||
      first.incompatible.includes(second.id) ||
      second.incompatible.includes(first.id)
        ? 0
        : // The multipliers of a woman of 30.
          second.comorbid * (second.id === 'asthma' ? 1.2 * 1.5 : 1),
    )
    const sum = partners.reduce((total, weight) => total + weight, 0)
    const share = sum > 0 ? comorbidity : 0
    return [
      { d, both: [first], p: prior[d]! * (1 - share) },
      ...knowledge.diseases.flatMap((second, e) =>
        partners[e]! > 0
          ? [{ d, both: [first, second], p: (prior[d]! * share * partners[e]!) / sum }]
          : [],
      ),
    ]
  })
}

function chance(
  a: number,
  both: readonly Disease[],
  finding: FindingDefinition,
  s: number,
  above?: string,
): number {
  const leak = backgroundFor(finding, intake, above)
  const background = stateProbabilities([], finding, leak)[s] ?? 0
  return (1 - a) * (stateProbabilities(both, finding, leak)[s] ?? 0) + a * background
}

/** Every assignment of states to some findings, parents first. */
function worlds(a: number, both: readonly Disease[], findings: readonly FindingDefinition[]) {
  let all = [{ p: 1, truth: new Map<string, string>() }]
  for (const f of findings)
    all = all.flatMap(({ p, truth }) =>
      f.parent && truth.get(f.parent.finding) !== f.parent.when
        ? [{ p, truth: new Map([...truth, [f.id, shut]]) }]
        : f.states.map((state, s) => ({
            p: p * chance(a, both, f, s, truth.get(f.given?.finding ?? '')),
            truth: new Map([...truth, [f.id, state]]),
          })),
    )
  return all
}

function tells(f: FindingDefinition, truth: string, told: string): number {
  if (truth === shut) return told === (f.type === 'bool' ? 'absent' : shut) ? 1 : 0
  if (f.type === 'cat' || f.knownBy === 'exam') return truth === told ? 1 : 0
  const wrong = truth === 'present' ? noise.deny : noise.overReport
  return truth === told ? 1 - wrong : wrong
}

const salient = knowledge.findings.filter((f) => f.salience > 0 && canComeWith(f))

/** How eagerly a patient with some diseases comes with a finding; by hand, not by the code under test. */
const eagerness = (both: readonly Disease[], f: FindingDefinition): number =>
  Math.max(...both.map(({ complaints }) => complaints[f.id] ?? 0.004 * f.salience))

/** P(disease | told, and that the patient opened with it), summed over all pairs and all states. */
function brute(
  a: number,
  comorbidity: number,
  told: readonly RevealedFinding[],
  opened?: string,
  drawn: DiseasePool = 'common',
) {
  const keep = new Set([
    ...told.map(({ finding }) => finding),
    ...(opened ? salient.map(({ id }) => id) : []),
  ])
  for (const f of [...knowledge.findings].reverse())
    if (keep.has(f.id)) keep.add(parentOf(f) ?? f.id)
  const findings = knowledge.findings.filter(({ id }) => keep.has(id))
  const joint = knowledge.diseases.map(() => 0)
  for (const { d, both, p: prior } of illnesses(comorbidity, drawn))
    for (const { p, truth } of worlds(a, both, findings)) {
      if (opened !== undefined && truth.get(opened) !== 'present') continue
      // Staying at home has a clock too.
      const race = salient.reduce(
        (sum, f) => sum + (truth.get(f.id) === 'present' ? eagerness(both, f) : 0),
        0.05,
      )
      const wins = opened === undefined ? 1 : eagerness(both, knowledge.finding.get(opened)!) / race
      let weight = prior * p * wins
      for (const { finding, state } of told)
        weight *= tells(knowledge.finding.get(finding)!, truth.get(finding)!, state)
      joint[d]! += weight
    }
  const sum = joint.reduce((total, weight) => total + weight, 0)
  return joint.map((weight) => weight / sum)
}

const stories: readonly RevealedFinding[][] = [
  [],
  [
    { finding: 'cough', state: 'present' },
    { finding: 'belly-pain', state: 'present' },
  ],
  [
    { finding: 'sputum', state: 'clear' },
    { finding: 'night-attacks', state: 'present' },
    { finding: 'vomiting', state: 'present' },
  ],
  [
    { finding: 'belly-pain-site', state: 'right-lower' },
    { finding: 'wheeze-heard', state: 'present' },
  ],
  [
    { finding: 'heartburn', state: 'present' },
    { finding: 'opacity', state: 'present' },
    { finding: 'fever', state: 'absent' },
  ],
]

describe.each([
  [0, 0.1],
  [0.4, 0.1],
  [0.2, 0.6],
])('at atypicality %d with a second disease in %d of patients', (atypicality, comorbidity) => {
  const posterior = buildPosterior(knowledge, { atypicality, comorbidity, noise })

  test('the posterior equals enumeration over all pairs and states to 1e-12', () => {
    for (const told of stories) {
      const { probabilities } = posterior.observe(posterior.start(intake), told)
      const exact = brute(atypicality, comorbidity, told)
      probabilities.forEach((p, d) => void expect(Math.abs(p - exact[d]!)).toBeLessThan(1e-12))
    }
  })

  test('the choice of the complaint is counted in, to .005', () => {
    for (const [opened, told] of [
      ['cough', stories[1]!.slice(1)],
      ['belly-pain', [{ finding: 'breathless', state: 'absent' }]],
    ] as const) {
      const belief = posterior.start({ ...intake, complaint: [opened] })
      const { probabilities } = posterior.observe(belief, told)
      const exact = brute(atypicality, comorbidity, told, opened)
      probabilities.forEach((p, d) => void expect(Math.abs(p - exact[d]!)).toBeLessThan(0.005))
    }
  })
})

test('a novel disease is possible only for who counts with it, and never comes second', () => {
  const novel = knowledge.diseases.findIndex((disease) => disease.novel)
  const told = stories[1]!
  const without = buildPosterior(knowledge, { noise, comorbidity: 0.1 })
  const counting = buildPosterior(knowledge, { noise, comorbidity: 0.1, novel: true })
  const exact = brute(0, 0.1, told, undefined, 'all')
  expect(without.observe(without.start(intake), told).probabilities[novel]).toBe(0)
  const { probabilities } = counting.observe(counting.start(intake), told)
  probabilities.forEach((p, d) => void expect(Math.abs(p - exact[d]!)).toBeLessThan(1e-12))
  for (const disease of knowledge.diseases)
    expect(companionWeights(knowledge, disease, intake)[novel]).toBe(0)
})

test('a pair is told apart from its reverse, and its weights are those of the patients drawn', () => {
  const pairs = diseasePairs(knowledge, { atypicality: 0.4, comorbidity: 0.3, drawn: 'common' })
  const weights = pairs.weights(intake)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const exact = illnesses(0.3, 'common')
  const total = exact.reduce((all, { p }) => all + p, 0)
  for (const { d, both, p } of exact) {
    const e = both[1] ? knowledge.diseases.indexOf(both[1]) : -1
    const c = pairs.disease.findIndex((first, i) => first === d && pairs.companion[i] === e)
    expect(weights[c]! / sum).toBeCloseTo(p / total, 12)
  }
})

/** The mean gap, over ten equal bins, between how sure the first guess is and how often it is right. */
function calibrationError(
  sure: readonly { readonly p: number; readonly right: boolean }[],
): number {
  const bins = Array.from({ length: 10 }, () => ({ p: 0, right: 0 }))
  for (const { p, right } of sure) {
    const bin = bins[Math.min(9, Math.floor(p * 10))]!
    bin.p += p
    bin.right += right ? 1 : 0
  }
  return bins.reduce((sum, { p, right }) => sum + Math.abs(p - right), 0) / sure.length
}

describe.each(['easy', 'standard', 'hard'] as const)('%s', (tier) => {
  test('the written differential is calibrated: ECE at most .02 over 5,000 cases of the fixture', () => {
    const make = caseSource(knowledge, { tier })
    const sure = Array.from({ length: 5000 }, (_, n) => make(n).gold).map((gold) => {
      const [first] = gold.differential!
      return { p: first!.p, right: first!.id === primaryDiagnosis(gold).id }
    })
    expect(calibrationError(sure)).toBeLessThanOrEqual(0.02)
  })
})

test('full information gives the differential the generator wrote, second diseases counted in', () => {
  const shipped = loadKnowledge()
  for (const known of [knowledge, shipped]) {
    const posterior = buildPosterior(known, { atypicality: 0.4, comorbidity: 0.1 })
    const make = caseSource(known, { tier: 'hard' })
    for (let n = 0; n < 30; n++) {
      const truth = make(n)
      const { probabilities } = fullInformationBelief(posterior, truth)
      for (const { id, p } of truth.gold.differential ?? []) {
        const d = known.diseases.findIndex((disease) => disease.id === id)
        expect(Math.abs(probabilities[d]! - p), `${truth.id} ${id}`).toBeLessThan(6e-5)
      }
    }
  }
})
