/** The efficiency reward: the right diagnosis with little money, time, invasiveness and talk. */
import type { Reward } from '../../reward.js'
import { gate, multiply, otherwise, weigh } from '../combinators/compose.js'
import { memoizeReward } from '../combinators/memoize-reward.js'
import type { FormularyOptions } from '../outcome/formulary.js'
import { partialCredit } from '../outcome/partial-credit.js'
import { efficiency } from '../process/efficiency.js'
import { examF1 } from '../process/exam-f1.js'
import { invasiveness } from '../process/invasiveness.js'
import { timeSavings } from '../process/time-savings.js'
import { noHarm } from '../safety/no-harm.js'

/**
 * gate(no harm) · diagnosis · [.50 + .25·efficiency + .10·time + .05·invasiveness + .10·exams], within [0, 1].
 *
 * Savings are multiplied by the diagnosis, so that an immediate guess is worth no more than a guess. Where no
 * examination is needed and none was done, `exams` is 1.
 * @param formulary the diseases recognised by name @default none
 */
export function efficiencyPreset({ formulary = [] }: FormularyOptions = {}): Reward {
  const diagnosis = memoizeReward(partialCredit({ formulary }))
  const timesDiagnosis = (reward: Reward): Reward => multiply(diagnosis, reward)
  return gate(
    noHarm(),
    weigh(
      {
        diagnosis: [0.5, diagnosis],
        efficiency: [0.25, timesDiagnosis(efficiency())],
        time: [0.1, timesDiagnosis(timeSavings())],
        invasiveness: [0.05, timesDiagnosis(invasiveness())],
        exams: [0.1, timesDiagnosis(otherwise(examF1(), 1))],
      },
      { name: 'efficiency', source: 'this package: savings that only a right diagnosis earns' },
    ),
  )
}
