/** History coverage: the weighted share of the patient's findings that the doctor elicited. */
import type { EpisodeTurn } from '../../episode.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'
import { toldByPatient } from '../unread-facts.js'
import { maxQuestions } from './questions.js'

/** The findings elicited that count: without "I don't know" and answers to lists or to a second open question. */
function elicitedFindings(turns: readonly EpisodeTurn[]): ReadonlySet<string> {
  const told = new Set<string>()
  let opened = false
  for (const turn of turns) {
    const { facts } = turn
    if ((facts.questions ?? 0) > maxQuestions) continue
    // "Anything else?" ten times over elicits nearly everything without asking for anything.
    if (facts.understood === 'open' && opened) continue
    opened ||= facts.understood === 'open'
    for (const { finding, state } of toldByPatient(turn)) if (state !== 'unknown') told.add(finding)
  }
  return told
}

/**
 * Σ weight of the findings elicited / Σ weight of those worth eliciting: known to the patient, present, and not part of
 * the chief complaint. Each counts once. Answers of "I don't know", and answers to a turn of more than two questions or
 * to any open question but the first, do not count. Not applicable where there is nothing to elicit.
 */
export const historyCoverage = (): Reward =>
  unitReward(
    'history-coverage',
    'information coverage as in AIE and MediQ, by finding and weighted',
    ({ turns }, { findings, complaint }) => {
      const told = elicitedFindings(turns)
      // In a case with weights a finding without one counts 0; in a case without weights all count 1.
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
