/** How much of what the patient could tell was elicited. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { mostQuestions } from './questions.js'

/** The findings that were told and count: not "I don't know", nor what a list or a second open question brought up. */
function elicited(turns: readonly EpisodeTurn[]): ReadonlySet<string> {
  const told = new Set<string>()
  let opened = false
  for (const { facts } of turns) {
    if ((facts.questions ?? 0) > mostQuestions) continue
    // "Anything else?" ten times over brings up nearly everything, and asks for nothing.
    if (facts.understood === 'open' && opened) continue
    opened ||= facts.understood === 'open'
    for (const { finding, state } of facts.told) if (state !== 'unknown') told.add(finding)
  }
  return told
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
    ({ turns }, { findings, complaint }) => {
      const told = elicited(turns)
      // Where a case weighs its findings, one without a weight is worth nothing; where it weighs none, all count 1.
      const weightless = findings.some(({ weight }) => weight !== undefined) ? 0 : 1
      let [all, count, gained, found] = [0, 0, 0, 0]
      for (const { id, knownBy, state, weight = weightless } of findings) {
        if (knownBy !== 'patient' || state === 'absent' || state === 'unknown' || weight === 0)
          continue
        if (complaint.findings.includes(id)) continue
        all += weight
        count++
        if (!told.has(id)) continue
        gained += weight
        found++
      }
      if (count === 0) return notApplicable
      return ok(gained / all, `${found} of ${count} findings`)
    },
  )
