/** Whether the examinations that were needed, and only those, were carried out. */
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'

/**
 * Set F1 between the examinations carried out (canonical ids, panels expanded, each once) and the required
 * ones. Neutral ones neither help nor hurt. Not applicable where the gold standard lists none, or requires
 * none and none was done; needless ones on a case that requires none give 0.
 */
export const examF1 = (): Reward =>
  defineReward(
    {
      name: 'exam-f1',
      bounds: [0, 1],
      source: 'set F1 as in DiagAgent, with required and neutral examinations as in MIMIC-CDM',
    },
    ({ turns }, { gold }) => {
      if (!gold.exams) return notApplicable
      const required = new Set(gold.exams.required)
      const neutral = gold.exams.neutral
      const done = new Set<string>()
      for (const { facts } of turns)
        for (const exam of facts.exams)
          if (required.has(exam) || !neutral.includes(exam)) done.add(exam)
      if (required.size === 0 && done.size === 0) return notApplicable
      let hits = 0
      for (const exam of done) if (required.has(exam)) hits++
      return ok(
        (2 * hits) / (required.size + done.size),
        `${hits} of ${required.size} required, ${done.size} done`,
      )
    },
  )
