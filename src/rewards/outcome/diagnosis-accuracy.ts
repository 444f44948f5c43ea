/** Diagnosis accuracy: whether the doctor's diagnosis is the primary one of the gold standard. */
import { diagnosisOf } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { readMention } from './disease-names.js'
import { findInGold } from './gold-index.js'

/**
 * 1 where the diagnosis is a name, alias, id or ICD-10 code of the primary gold diagnosis, compared whole
 * (`disease-names.ts`); 0 for any other, a list, a denial or none.
 */
export const diagnosisAccuracy = (): Reward =>
  defineReward(
    {
      name: 'diagnosis-accuracy',
      bounds: [0, 1],
      source: 'whole-entity match against an alias table, after MIMIC-CDM (Hager et al. 2024)',
    },
    (episode, { gold }) => {
      const given = diagnosisOf(episode)
      if (!given) return ok(0, 'no diagnosis')
      const mention = readMention(given.diagnosis)
      return ok(mention && findInGold(gold, mention)?.exact ? 1 : 0, given.diagnosis)
    },
  )
