/** How much of what the patient could tell was elicited. */
import type { GraderView } from '../../case.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'

/** A turn of more questions than this is a laundry list, and what it brings up earns nothing. */
const mostQuestions = 2

/**
 * What there is to elicit, and its weight: what the patient knows and has, and did not come with.
 * Where a case weighs its findings, one without a weight is worth nothing; where it weighs none, all count 1.
 */
function worthEliciting({ findings, complaint }: GraderView): Map<string, number> {
  const weightless = findings.some(({ weight }) => weight !== undefined) ? 0 : 1
  const worth = new Map<string, number>()
  for (const { id, knownBy, state, weight = weightless } of findings) {
    if (knownBy !== 'patient' || state === 'absent' || state === 'unknown' || weight === 0) continue
    if (!complaint.findings.includes(id)) worth.set(id, weight)
  }
  return worth
}

/**
 * Σ weight of the findings told / Σ weight of those worth eliciting: known to the patient, there, and not
 * the chief complaint's. Each counts once, however often it is told; "I don't know", what a turn of more than two
 * questions brings up, and what any open question but the first brings up count for nothing. Not applicable where
 * there is nothing to elicit.
 */
export const historyCoverage = (): Reward =>
  defineReward(
    {
      name: 'history-coverage',
      bounds: [0, 1],
      source: 'information coverage as in AIE and MediQ, by finding and weighted',
    },
    ({ turns }, truth) => {
      const left = worthEliciting(truth)
      let all = 0
      for (const weight of left.values()) all += weight
      if (left.size === 0) return notApplicable
      const count = left.size
      let told = 0
      let opened = false
      for (const { facts } of turns) {
        if ((facts.questions ?? 0) > mostQuestions) continue
        // "Anything else?" ten times over brings up nearly everything, and asks for nothing.
        if (facts.understood === 'open' && opened) continue
        opened ||= facts.understood === 'open'
        for (const { finding, state } of facts.told) {
          const weight = state === 'unknown' ? undefined : left.get(finding)
          if (weight === undefined) continue
          told += weight
          left.delete(finding)
        }
      }
      // Adding weights in another order may round the share past 1.
      return ok(Math.min(told / all, 1), `${count - left.size} of ${count} findings`)
    },
  )
