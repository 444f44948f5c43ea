import { describe, expect, test } from 'vitest'
import { generateCase } from '../../src/cases/generator/generate.js'
import type { Belief } from '../../src/inference/belief.js'
import { priorWeights } from '../../src/inference/generative-model.js'
import type { Posterior } from '../../src/inference/posterior.js'
import {
  buildPosterior,
  fullInformationBelief,
  mostProbableDisease,
} from '../../src/inference/posterior.js'
import { utilityTable } from '../../src/inference/utility.js'
import type { Disease, FindingDefinition, Knowledge } from '../../src/knowledge/knowledge.js'
import {
  backgroundFor,
  canComeWith,
  parentOf,
  stateProbabilities,
} from '../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { RevealedFinding } from '../../src/turn.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const intake = { age: 30, sex: 'F' }
const loud = { forget: 0.1, deny: 0.2, overReport: 0.05 }
const settings = [
  { atypicality: 0, noise: { forget: 0, deny: 0, overReport: 0 } },
  { atypicality: 0.2, noise: loud },
  { atypicality: 0.4, noise: { forget: 0.3, deny: 0.5, overReport: 0.4 } },
]

/** What the brute force needs to know: mixed probabilities and how a true state is told. */
interface World {
  readonly knowledge: Knowledge
  readonly atypicality: number
  readonly noise: typeof loud
}

const gateShut = '(none)'

function chance(
  { knowledge, atypicality: a }: World,
  d: number,
  f: FindingDefinition,
  s: number,
  above?: string,
) {
  const background = backgroundFor(f, intake, above)
  const p = stateProbabilities([knowledge.diseases[d]!], f, background)[s] ?? 0
  return (1 - a) * p + a * (stateProbabilities([], f, background)[s] ?? 0)
}

/** P(told | true state, remembered). */
function tells({ noise }: World, f: FindingDefinition, truth: string, told: string): number {
  if (truth === gateShut) return told === (f.type === 'bool' ? 'absent' : gateShut) ? 1 : 0
  if (f.type === 'cat' || f.knownBy === 'exam') return truth === told ? 1 : 0
  const wrong = truth === 'present' ? noise.deny : noise.overReport
  return truth === told ? 1 - wrong : wrong
}

/** Every assignment of true states to some findings (parents before children) with its probability. */
function worlds(
  world: World,
  d: number,
  findings: readonly FindingDefinition[],
): { readonly p: number; readonly truth: ReadonlyMap<string, string> }[] {
  let all = [{ p: 1, truth: new Map<string, string>() }]
  for (const f of findings)
    all = all.flatMap(({ p, truth }) => {
      const open = !f.parent || truth.get(f.parent.finding) === f.parent.when
      if (!open) return [{ p, truth: new Map([...truth, [f.id, gateShut]]) }]
      return f.states.map((state, s) => ({
        p: p * chance(world, d, f, s, truth.get(f.given?.finding ?? '')),
        truth: new Map([...truth, [f.id, state]]),
      }))
    })
  return all
}

/** Findings with their ancestors, parents first. */
function withParents(ids: readonly string[]): FindingDefinition[] {
  const keep = new Set(ids)
  for (const f of [...knowledge.findings].reverse())
    if (keep.has(f.id)) keep.add(parentOf(f) ?? f.id)
  return knowledge.findings.filter((f) => keep.has(f.id))
}

/** P(complaint true, all told | disease), by enumeration. */
function evidenceGiven(
  world: World,
  d: number,
  complaint: readonly string[],
  told: readonly RevealedFinding[],
): number {
  const findings = withParents([...complaint, ...told.map((t) => t.finding)])
  let sum = 0
  for (const { p, truth } of worlds(world, d, findings)) {
    if (complaint.some((id) => truth.get(id) !== 'present')) continue
    let weight = p
    for (const { finding, state } of told)
      weight *= tells(world, knowledge.finding.get(finding)!, truth.get(finding)!, state)
    sum += weight
  }
  return sum
}

function brutePosterior(
  world: World,
  complaint: readonly string[],
  told: readonly RevealedFinding[],
) {
  const prior = priorWeights(knowledge, intake)
  const joint = [...prior].map((w, d) => w * evidenceGiven(world, d, complaint, told))
  const sum = joint.reduce((total, p) => total + p, 0)
  return joint.map((p) => p / sum)
}

const entropy = (p: readonly number[]) =>
  -p.reduce((sum, q) => sum + (q > 0 ? q * Math.log(q) : 0), 0)

/** Every joint outcome of some findings, remembered, with its chance and the posterior after it, by enumeration. */
function bruteOutcomes(
  world: World,
  complaint: readonly string[],
  told: readonly RevealedFinding[],
  asked: readonly string[],
): {
  readonly outcome: readonly RevealedFinding[]
  readonly chance: number
  readonly posterior: number[]
}[] {
  let outcomes: RevealedFinding[][] = [[]]
  for (const id of asked) {
    const f = knowledge.finding.get(id)!
    const states = f.parent && f.type === 'cat' ? [...f.states, gateShut] : f.states
    outcomes = outcomes.flatMap((o) => states.map((state) => [...o, { finding: id, state }]))
  }
  const now = brutePosterior(world, complaint, told)
  const base = knowledge.diseases.map((_, d) => evidenceGiven(world, d, complaint, told))
  return outcomes.flatMap((outcome) => {
    const joint = base.map((p, d) => {
      const both = evidenceGiven(world, d, complaint, [...told, ...outcome])
      return p > 0 ? (both / p) * now[d]! : 0
    })
    const chance = joint.reduce((sum, p) => sum + p, 0)
    return chance > 0 ? [{ outcome, chance, posterior: joint.map((p) => p / chance) }] : []
  })
}

/** H(D) - E[H(D | outcome)]. */
function bruteInformation(...args: Parameters<typeof bruteOutcomes>): number {
  const [world, complaint, told] = args
  let after = 0
  for (const { chance, posterior } of bruteOutcomes(...args)) after += chance * entropy(posterior)
  return entropy(brutePosterior(world, complaint, told)) - after
}

type Worth = (said: Disease, truth: Disease) => number

/** The largest expected worth of a diagnosis. */
const bestOf = (posterior: readonly number[], worth: Worth): number =>
  Math.max(
    ...knowledge.diseases.map((said) =>
      posterior.reduce((sum, p, d) => sum + p * worth(said, knowledge.diseases[d]!), 0),
    ),
  )

/** E[the largest expected worth of a diagnosis, after the outcome]. */
const bruteBest = (worth: Worth, ...args: Parameters<typeof bruteOutcomes>): number =>
  bruteOutcomes(...args).reduce(
    (sum, { chance, posterior }) => sum + chance * bestOf(posterior, worth),
    0,
  )

const rightness: Worth = (said, truth) => (said === truth ? 1 : 0)
/** The worse the disease the more, and something for one of its group. */
const severe: Worth = (said, truth) =>
  (6 - truth.severity) * (said === truth ? 1 : said.group === truth.group ? 0.3 : -0.1)

const present = (finding: string): RevealedFinding => ({ finding, state: 'present' })
const absent = (finding: string): RevealedFinding => ({ finding, state: 'absent' })

/**
 * Evidence with families, exams, contradictions through noise, and a child told without its parent. Several
 * complaints at once, and none, are not the winner of a race among them, so that enumeration is exact.
 */
const stories: readonly { readonly complaint: string[]; readonly told: RevealedFinding[] }[] = [
  { complaint: [], told: [] },
  { complaint: ['fever', 'cough'], told: [{ finding: 'sputum', state: 'green' }] },
  { complaint: [], told: [{ finding: 'sputum', state: 'clear' }, absent('breathless')] },
  { complaint: ['vomiting', 'fever'], told: [absent('belly-pain'), absent('bloody-sputum')] },
  { complaint: [], told: [{ finding: 'belly-pain-site', state: 'right-lower' }] },
  { complaint: [], told: [present('bloody-sputum'), present('opacity'), absent('fever')] },
  {
    complaint: ['breathless', 'fever'],
    told: [absent('cough'), { finding: 'white-cells', state: 'high' }, absent('wheeze-heard')],
  },
  { complaint: [], told: [present('wheeze-heard'), absent('cough')] },
  { complaint: [], told: [present('smoker'), present('wheeze-heard'), present('vomiting')] },
]

/** P(the complaint is chosen among what is present, and before the patient settles for home); by hand. */
function chosen(truth: ReadonlyMap<string, string>, complaint: string, disease: Disease): number {
  const rate = ({ id, salience }: FindingDefinition): number =>
    disease.complaints[id] ?? 0.004 * salience
  let sum = 0.05
  for (const f of knowledge.findings)
    if (canComeWith(f) && truth.get(f.id) === 'present') sum += rate(f)
  return rate(knowledge.finding.get(complaint)!) / sum
}

/** P(disease | the patient chose to open with this, all told), by enumeration of everything they could say. */
function bruteOpening(world: World, complaint: string, told: readonly RevealedFinding[]): number[] {
  const openers = knowledge.findings.filter(({ salience }) => salience > 0).map(({ id }) => id)
  const findings = withParents([complaint, ...openers, ...told.map((t) => t.finding)])
  const joint = [...priorWeights(knowledge, intake)].map((weight, d) => {
    let sum = 0
    for (const { p, truth } of worlds(world, d, findings)) {
      if (truth.get(complaint) !== 'present') continue
      let likely = p * chosen(truth, complaint, knowledge.diseases[d]!)
      for (const { finding, state } of told)
        likely *= tells(world, knowledge.finding.get(finding)!, truth.get(finding)!, state)
      sum += likely
    }
    return weight * sum
  })
  const sum = joint.reduce((total, p) => total + p, 0)
  return joint.map((p) => p / sum)
}

function believe(
  posterior: Posterior,
  complaint: readonly string[],
  told: readonly RevealedFinding[],
): Belief {
  return posterior.observe(posterior.start({ ...intake, complaint }), told)
}

describe.each(settings)('at atypicality $atypicality with noise $noise', (task) => {
  const posterior = buildPosterior(knowledge, task)
  const world = { knowledge, ...task }

  test('the posterior equals enumeration of every true state to 1e-12', () => {
    for (const { complaint, told } of stories) {
      const brute = brutePosterior(world, complaint, told)
      const { probabilities } = believe(posterior, complaint, told)
      probabilities.forEach((p, d) => void expect(Math.abs(p - brute[d]!)).toBeLessThan(1e-12))
    }
  })

  test('the choice of the complaint among all that is present is counted in, to .005', () => {
    const openings = [
      ['cough', []],
      ['fever', [present('cough')]],
      ['vomiting', [absent('belly-pain'), absent('fever')]],
      ['breathless', [absent('cough'), { finding: 'white-cells', state: 'high' }]],
    ] as const
    for (const [complaint, told] of openings) {
      const brute = bruteOpening(world, complaint, told)
      const { probabilities } = believe(posterior, [complaint], told)
      probabilities.forEach((p, d) => void expect(Math.abs(p - brute[d]!)).toBeLessThan(0.005))
    }
  })

  test('the order of telling does not matter', () => {
    for (const { complaint, told } of stories) {
      const one = believe(posterior, complaint, told).probabilities
      const other = believe(posterior, complaint, [...told].reverse()).probabilities
      one.forEach((p, d) => void expect(Math.abs(p - other[d]!)).toBeLessThan(1e-12))
    }
  })

  test('expected information of a question equals enumeration of posteriors to 1e-12', () => {
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      const settled = new Set([...complaint, ...told.map((t) => t.finding)])
      for (const { id, knownBy } of knowledge.findings) {
        const remembered = knownBy === 'patient' ? 1 - task.noise.forget : 1
        const brute = settled.has(id)
          ? 0
          : remembered * bruteInformation(world, complaint, told, [id])
        expect(Math.abs(posterior.expectedInformation(belief, id) - brute), id).toBeLessThan(1e-12)
      }
    }
  })

  test('the expected best diagnosis after a question equals enumeration to 1e-12, by any utility', () => {
    for (const worth of [rightness, severe]) {
      const utility = utilityTable(knowledge, worth)
      for (const { complaint, told } of stories) {
        const belief = believe(posterior, complaint, told)
        const now = bestOf([...belief.probabilities], worth)
        expect(Math.abs(posterior.bestDiagnosis(belief, utility).worth - now)).toBeLessThan(1e-12)
        const settled = new Set([...complaint, ...told.map((t) => t.finding)])
        for (const { id, knownBy } of knowledge.findings) {
          const remembered = knownBy === 'patient' ? 1 - task.noise.forget : 1
          const then = settled.has(id) ? now : bruteBest(worth, world, complaint, told, [id])
          const brute = remembered * then + (1 - remembered) * now
          expect(
            Math.abs(posterior.expectedBestUtility(belief, id, utility) - brute),
            id,
          ).toBeLessThan(1e-12)
        }
      }
    }
  })

  test('the expected best diagnosis after an examination equals joint enumeration to 1e-12', () => {
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      const now = bestOf([...belief.probabilities], rightness)
      const settled = new Set(told.map((t) => t.finding))
      for (const exam of knowledge.exams) {
        const members = exam.panelOf.length > 0 ? exam.panelOf : [exam.id]
        const asked = members
          .flatMap((id) => knowledge.exam.get(id)?.yields ?? [])
          .filter((id) => !settled.has(id))
        const then = bruteBest(rightness, world, complaint, told, asked)
        const brute = (1 - exam.unavailableP) * then + exam.unavailableP * now
        const found = posterior.expectedBestUtilityOfExam(belief, exam.id)
        expect(Math.abs(found - brute), exam.id).toBeLessThan(1e-12)
      }
    }
  })

  test('every answer comes with its chance and the posterior after it, as by enumeration', () => {
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      for (const { id, knownBy } of knowledge.findings) {
        const answers = posterior.predictAnswers(belief, id)
        const sum = answers.reduce((total, { probability }) => total + probability, 0)
        expect(Math.abs(sum - 1)).toBeLessThan(1e-12)
        if (belief.evidence[knowledge.findings.findIndex((f) => f.id === id)] !== 0) continue
        const remembered = knownBy === 'patient' ? 1 - task.noise.forget : 1
        const brute = bruteOutcomes(world, complaint, told, [id])
        const heard = answers.filter(({ belief: then }) => then !== belief)
        expect(heard).toHaveLength(brute.length)
        for (const [i, { chance, posterior: then }] of brute.entries()) {
          expect(Math.abs(heard[i]!.probability - remembered * chance)).toBeLessThan(1e-12)
          then.forEach((p, d) => {
            expect(Math.abs(p - heard[i]!.belief.probabilities[d]!)).toBeLessThan(1e-12)
          })
        }
      }
    }
  })

  test('the presence of a finding is the chance that it is told in any state but the usual one', () => {
    const usual = new Map([
      ['sputum', 'none'],
      ['belly-pain-site', 'upper'],
      ['white-cells', 'normal'],
    ])
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      const settled = new Set([...complaint, ...told.map((t) => t.finding)])
      for (const { id } of knowledge.findings) {
        const brute = settled.has(id)
          ? 0
          : bruteOutcomes(world, complaint, told, [id])
              .filter(
                ({ outcome: [one] }) => ![usual.get(id) ?? 'absent', gateShut].includes(one!.state),
              )
              .reduce((sum, { chance }) => sum + chance, 0)
        expect(Math.abs(posterior.presenceProbability(belief, id) - brute), id).toBeLessThan(1e-12)
      }
    }
  })

  test('expected information of an examination or panel equals joint enumeration to 1e-12', () => {
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      const settled = new Set(told.map((t) => t.finding))
      for (const exam of knowledge.exams) {
        const members = exam.panelOf.length > 0 ? exam.panelOf : [exam.id]
        const asked = members
          .flatMap((id) => knowledge.exam.get(id)?.yields ?? [])
          .filter((id) => !settled.has(id))
        const brute = (1 - exam.unavailableP) * bruteInformation(world, complaint, told, asked)
        const found = posterior.expectedInformationOfExam(belief, exam.id)
        expect(Math.abs(found - brute), exam.id).toBeLessThan(1e-12)
      }
    }
  })
})

describe('the outlook on an examination', () => {
  const posterior = buildPosterior(knowledge, settings[1])

  test('is exact from `least` on, and below it a bound that is below it too', () => {
    for (const { complaint, told } of stories) {
      const belief = believe(posterior, complaint, told)
      for (const { id } of knowledge.exams) {
        const exact = posterior.expectedInformationOfExam(belief, id)
        for (const least of [exact / 2, exact, exact + 1e-3, 0.05, 0.5]) {
          const found = posterior.expectedInformationOfExam(belief, id, undefined, least)
          if (exact >= least) expect(found).toBe(exact)
          else {
            expect(found).toBeLessThan(least)
            expect(found).toBeGreaterThanOrEqual(exact - 1e-12)
          }
        }
      }
    }
  })

  test('counts in every way in which parts of a panel may be unavailable', () => {
    const crp = { ...knowledge.exam.get('crp')!, unavailableP: 0.4 }
    const count = { ...knowledge.exam.get('blood-count')!, unavailableP: 0.25 }
    const changed = new Map([
      ...knowledge.exam,
      ['crp', crp] as const,
      ['blood-count', count] as const,
    ])
    const shaky = { ...knowledge, exams: [...changed.values()], exam: changed }
    const unsure = buildPosterior(shaky, settings[1])
    const belief = unsure.start({ ...intake, complaint: ['cough', 'fever'] })
    const ways = [
      [0.4 * 0.75, ['blood-count']],
      [0.6 * 0.25, ['crp']],
      [0.6 * 0.75, ['blood-count', 'crp']],
    ] as const
    const yields = (ids: readonly string[]) => ids.flatMap((id) => changed.get(id)?.yields ?? [])
    const world = { knowledge, ...settings[1]! }
    const told = ['cough', 'fever']
    const information = ways.reduce(
      (sum, [p, ids]) => sum + p * bruteInformation(world, told, [], yields(ids)),
      0,
    )
    expect(unsure.expectedInformationOfExam(belief, 'blood-panel')).toBeCloseTo(information, 12)
    const none = 0.4 * 0.25 * bestOf([...belief.probabilities], rightness)
    const best = ways.reduce(
      (sum, [p, ids]) => sum + p * bruteBest(rightness, world, told, [], yields(ids)),
      none,
    )
    expect(unsure.expectedBestUtilityOfExam(belief, 'blood-panel')).toBeCloseTo(best, 12)
    const results = unsure.predictResults(belief, 'blood-panel')
    expect(results).toHaveLength(1 + 2 + 2 + 4)
    const exact = results.reduce(
      (sum, { probability, belief: then }) => sum + probability * unsure.bestDiagnosis(then).worth,
      0,
    )
    expect(exact).toBeCloseTo(best, 12)
    expect(unsure.predictResults(belief, 'blood-panel', new Set(['crp', 'blood-count']))).toEqual([
      { probability: 1, belief },
    ])
  })
})

describe('a belief', () => {
  const posterior = buildPosterior(knowledge, settings[1])
  const start = posterior.start({ ...intake, complaint: ['cough'] })

  test('is not changed by what is unknown, unheard of, or told before', () => {
    const once = posterior.observe(start, [present('fever')])
    expect(posterior.observe(start, [{ finding: 'fever', state: 'unknown' }])).toBe(start)
    expect(posterior.observe(start, [present('no-such-finding')])).toBe(start)
    expect(posterior.observe(once, [absent('fever')])).toBe(once)
  })

  test('takes a certain telling over an uncertain one', () => {
    const doubted = posterior.observe(start, [present('fever')])
    const sure = posterior.observe(doubted, [absent('fever')], true)
    const direct = posterior.observe(start, [absent('fever')], true)
    sure.probabilities.forEach(
      (p, d) => void expect(Math.abs(p - direct.probabilities[d]!)).toBeLessThan(1e-12),
    )
  })

  test('sets aside what no disease left allows', () => {
    const certain = buildPosterior(knowledge)
    const belief = certain.start({ ...intake, complaint: ['cough'] })
    expect(certain.observe(belief, [{ finding: 'sputum', state: 'absent' }])).toBe(belief)
  })

  test('reads the closed gate of a categorical child as its parent being absent', () => {
    const certain = buildPosterior(knowledge)
    const belief = certain.start(intake)
    const viaChild = certain.observe(belief, [{ finding: 'sputum', state: 'absent' }])
    const viaParent = certain.observe(belief, [absent('cough')])
    expect([...viaChild.probabilities]).toEqual([...viaParent.probabilities])
  })

  test('of a patient no disease fits falls back to the base rates', () => {
    const femaleOnly: Knowledge = {
      ...knowledge,
      diseases: knowledge.diseases.map((d) => ({
        ...d,
        prior: { base: d.prior.base, sex: { F: 1, M: 0 } },
      })),
    }
    const { probabilities } = buildPosterior(femaleOnly).start({ sex: 'M' })
    const total = probabilities.reduce((sum, p) => sum + p, 0)
    expect(total).toBeCloseTo(1, 12)
  })

  test('values an order of examinations already done at nothing', () => {
    const done = new Set(['blood-count', 'crp'])
    expect(posterior.expectedInformationOfExam(start, 'blood-panel', done)).toBe(0)
    expect(posterior.expectedInformationOfExam(start, 'no-such-exam')).toBe(0)
    const half = posterior.expectedInformationOfExam(start, 'blood-panel', new Set(['crp']))
    expect(half).toBe(posterior.expectedInformationOfExam(start, 'blood-count'))
  })

  test('bounds an examination of more than four findings by the sum of its families', () => {
    const yields = ['crackles', 'wheeze-heard', 'opacity', 'crp-raised', 'gallstones']
    const big = { ...knowledge.exams[0]!, id: 'whole-body-scan', yields, unavailableP: 0 }
    const exam = new Map([...knowledge.exam, [big.id, big] as const])
    const wide = buildPosterior(
      { ...knowledge, exams: [...knowledge.exams, big], exam },
      settings[1],
    )
    const belief = wide.start({ ...intake, complaint: ['cough'] })
    const sum = yields.reduce((total, id) => total + wide.expectedInformation(belief, id), 0)
    const bound = wide.expectedInformationOfExam(belief, big.id)
    expect(bound).toBeCloseTo(sum, 12)
    const exact = bruteInformation({ knowledge, ...settings[1]! }, ['cough'], [], yields)
    expect(bound).toBeGreaterThan(exact)
    // The best diagnosis by the four that tell most: no less than by any of them, no more than by all.
    const two = wide.start({ ...intake, complaint: ['cough', 'fever'] })
    const best = wide.expectedBestUtilityOfExam(two, big.id)
    const singly = Math.max(...yields.map((id) => wide.expectedBestUtility(two, id)))
    expect(best).toBeGreaterThan(singly)
    const world = { knowledge, ...settings[1]! }
    const all = bruteBest(rightness, world, ['cough', 'fever'], [], yields)
    expect(best).toBeLessThanOrEqual(all + 1e-12)
  })
})

describe('full information', () => {
  test('is what being told everything for certain amounts to', () => {
    for (const options of [settings[1]!, { ...settings[1]!, comorbidity: 0.1 }]) {
      const posterior = buildPosterior(knowledge, options)
      for (let n = 0; n < 30; n++) {
        const { findings, chiefComplaint } = generateCase(knowledge, { tier: 'hard', n })
        const who = { ...intake, complaint: chiefComplaint.findings }
        for (const part of [findings, findings.slice(0, -3), findings.slice(4)]) {
          const states = part.map(({ id, state }) => ({ finding: id, state }))
          const slowly = states.reduce(
            (belief, one) => posterior.observe(belief, [one], true),
            posterior.start(who),
          )
          posterior.beliefGivenStates(who, states).probabilities.forEach((p, d) => {
            // The slow way has the quadrature over when the patient spoke, the fast one a closed form.
            expect(Math.abs(p - slowly.probabilities[d]!)).toBeLessThan(0.005)
          })
        }
      }
    }
  })

  test('gives the differential the generator wrote down', () => {
    const posterior = buildPosterior(knowledge, { atypicality: 0.2 })
    for (let n = 0; n < 50; n++) {
      const truth = generateCase(knowledge, { tier: 'standard', n })
      const belief = fullInformationBelief(posterior, truth)
      for (const { id, p } of truth.gold.differential ?? []) {
        const d = knowledge.diseases.findIndex((disease) => disease.id === id)
        expect(Math.abs(belief.probabilities[d]! - p)).toBeLessThan(6e-5)
      }
      expect(mostProbableDisease(knowledge, belief).id).toBe(truth.gold.differential?.[0]?.id)
    }
  })

  test('names the diagnosis of easy cases more often with examinations than without', () => {
    const posterior = buildPosterior(knowledge)
    let [all, told] = [0, 0]
    for (let n = 0; n < 400; n++) {
      const truth = generateCase(knowledge, { n })
      const right = (belief: Belief) =>
        mostProbableDisease(knowledge, belief).id === truth.gold.dx[0]?.id ? 1 : 0
      all += right(fullInformationBelief(posterior, truth))
      told += right(fullInformationBelief(posterior, truth, { knownBy: 'patient' }))
    }
    expect(all / 400).toBeGreaterThan(0.9)
    expect(all).toBeGreaterThan(told)
  })
})

test('a finding of the other sex is worth nothing to ask and changes nothing when told', () => {
  const knowledge = loadKnowledge()
  const posterior = buildPosterior(knowledge)
  const start = (sex: 'F' | 'M') => posterior.start({ age: 30, sex })
  expect(posterior.expectedInformation(start('M'), 'missed-period')).toBe(0)
  expect(posterior.expectedInformation(start('F'), 'missed-period')).toBeGreaterThan(0)
  const told = [{ finding: 'missed-period', state: 'absent' }]
  for (const certain of [false, true])
    expect(posterior.observe(start('M'), told, certain)).toEqual(start('M'))
  expect(posterior.observe(start('F'), told)).not.toEqual(start('F'))
})
