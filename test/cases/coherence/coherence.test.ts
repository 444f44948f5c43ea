import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { coherenceScan, incoherences } from '../../../src/cases/coherence/coherence.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { tierNames } from '../../../src/knowledge/tiers.js'

const knowledge = loadKnowledge()

/** A case with some findings set to other states and numbers. */
const withStates = (
  truth: Case,
  states: Readonly<Record<string, string>>,
  value?: number,
): Case => ({
  ...truth,
  findings: truth.findings.map((finding) => {
    const state = states[finding.id]
    if (state === undefined) return finding
    const { value: _, ...rest } = finding
    return { ...rest, state, ...(value === undefined ? {} : { value }) }
  }),
})

/** A grown patient of the easy tier in whom nothing is wrong with the scan. */
function soundCase(): Case {
  for (let n = 0; n < 100; n++) {
    const truth = generateCase(knowledge, { n })
    const { age } = truth.demographics
    const grown = age?.unit === 'year' && age.v > 30
    const ids = truth.gold.dx.flatMap(({ id }) =>
      Object.keys(knowledge.disease.get(id)?.findings ?? {}),
    )
    const free = !ids.some((id) => ['tsh', 'thyroid-free-t4', 'heart-rate'].includes(id))
    if (grown && free && incoherences(knowledge, truth)?.length === 0) return truth
  }
  throw new Error('Expected a sound case among 100')
}

describe('the scan names', () => {
  const sound = soundCase()
  const rules = (truth: Case) =>
    (incoherences(knowledge, truth) ?? []).map(({ rule, what }) => `${rule} ${what}`)

  test('two findings that cannot stand together', () => {
    const odd = withStates(sound, { tsh: 'high', 'thyroid-free-t4': 'raised' })
    expect(rules(odd)).toContain('contradiction thyroid-free-t4=raised beside tsh=high')
    const layout = { ...sound.findings[0]!, id: 'skin-layout', state: 'folds' }
    const clear = withStates(sound, { 'skin-look': 'clear' })
    expect(rules({ ...clear, findings: [...clear.findings, layout] })).toContain(
      'contradiction skin-layout=folds beside skin-look=clear',
    )
  })

  test('an abnormal result that nothing of the patient explains', () => {
    expect(rules(withStates(sound, { 'heart-rate': 'fast' }, 120))).toContain(
      'stray heart-rate=fast',
    )
  })

  test('a number of another age, and one on the wrong side of normal', () => {
    expect(rules(withStates(sound, { 'heart-rate': 'normal' }, 140))).toContain(
      'out-of-range heart-rate=normal (140)',
    )
  })

  test('a complaint that the disease does not cause, and a patient without required examinations', () => {
    const foreign = ['ear-pain', 'skin-itch', 'spin-sensation'].find(
      (id) => !sound.gold.dx.some((dx) => knowledge.disease.get(dx.id)?.complaints[id]),
    )
    const odd: Case = {
      ...sound,
      chiefComplaint: { ...sound.chiefComplaint, findings: [foreign ?? ''] },
      gold: { ...sound.gold, exams: { required: [], neutral: [], harmful: [] } },
    }
    expect(rules(odd)).toEqual([`complaint ${foreign}`, `no-required-exam ${sound.gold.dx[0]?.id}`])
  })
})

test.each(tierNames)('generated cases of tier %s keep every bound', (tier) => {
  const scan = coherenceScan(knowledge)
  for (let n = 0; n < 300; n++) scan.add(generateCase(knowledge, { tier, split: 'heldout', n }))
  const report = scan.report(tier)
  expect(report.broken).toEqual([])
  expect(report.cases).toBe(300)
  expect(report.contradictions + report.outOfRange).toBe(0)
})

test('says in words which bounds are broken', () => {
  const scan = coherenceScan(knowledge)
  const sound = soundCase()
  for (let n = 0; n < 50; n++)
    scan.add({ ...sound, chiefComplaint: { ...sound.chiefComplaint, findings: ['nothing'] } })
  expect(scan.report('hard').broken).toEqual(['complaints of the disease 0.0 %, at least 92.0 %'])
})
