/** Generated patients by what they come with: whom a recorded or written consultation is replayed against. */
import { generateCase } from '../../dist/exports/cases.js'
import { patientView } from '../../dist/index.js'

const noNoise = { forget: 0, deny: 0, overReport: 0 }

/** The patient's view with a plain persona that forgets nothing, so that only understanding is measured. */
export const plainView = (truth) => ({ ...patientView(truth), persona: {}, noise: noNoise })

const isPresent = (truth, id) =>
  truth.findings.some((finding) => finding.id === id && finding.state === 'present')

/** Cases of the easy and standard tiers, those with the complaint first, then those that have the finding at all. */
export function clinicOf(knowledge, { cases = 2000, seed = 7 } = {}) {
  const people = []
  for (let n = 0; n < cases; n++) people.push({ tier: n % 2 ? 'easy' : 'standard', seed, n })
  const drawn = people.map((options) => ({ options, truth: generateCase(knowledge, options) }))
  const byComplaint = new Map()
  return (complaint) => {
    const known = byComplaint.get(complaint)
    if (known) return known
    const come = drawn.filter(({ truth }) => truth.chiefComplaint.findings[0] === complaint)
    const mention = drawn.filter(
      ({ truth }) => !come.includes(truth) && truth.chiefComplaint.findings.includes(complaint),
    )
    const have = drawn.filter(({ truth }) => isPresent(truth, complaint))
    const found = [...new Set([...come, ...mention, ...have])]
    byComplaint.set(complaint, found)
    return found
  }
}

/** The first of some patients who can have these findings in these states, where the knowledge base knows them, as a plain view. */
export function changed(knowledge, people, wanted) {
  for (const person of people.slice(0, 50)) {
    try {
      return twinOf(knowledge, person, wanted)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // Impossible at this one's age or sex, or beside what else there is.
    }
  }
  return undefined
}

function twinOf(knowledge, { options, truth }, wanted) {
  const findings = Object.fromEntries(
    wanted
      .filter(({ finding, state }) => knowledge.finding.get(finding)?.states.includes(state))
      .map(({ finding, state }) => [finding, state]),
  )
  const twin = generateCase(knowledge, { ...options, change: { findings } })
  return plainView({ ...twin, chiefComplaint: truth.chiefComplaint })
}
