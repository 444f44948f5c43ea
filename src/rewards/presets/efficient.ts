/** The efficiency reward: the right diagnosis for little money, time, trouble and talk. */
import type { Reward } from '../../reward.js'
import { gate, otherwise, product, weigh } from '../combinators/compose.js'
import { shared } from '../combinators/shared.js'
import type { Formulary } from '../outcome/formulary.js'
import { partialCredit } from '../outcome/partial-credit.js'
import { efficiency } from '../process/efficiency.js'
import { examF1 } from '../process/exam-f1.js'
import { invasiveness } from '../process/invasiveness.js'
import { time } from '../process/time.js'
import { noHarm } from '../safety/no-harm.js'

/**
 * gate(no harm) · diagnosis · [.50 + .25·efficiency + .10·time + .05·invasiveness + .10·exams], within [0, 1].
 *
 * Nothing that is saved pays but as far as the diagnosis is right, so that a guess at once is worth what guesses are
 * worth. Where no examination is needed and none was done, `exams` is 1.
 * @param formulary the diseases that can be told from their names @default none
 */
export function efficiencyPreset({
  formulary = [],
}: {
  readonly formulary?: Formulary
} = {}): Reward {
  const diagnosis = shared(partialCredit({ formulary }))
  const asFarAsRight = (reward: Reward): Reward => product(diagnosis, reward)
  return gate(
    noHarm(),
    weigh(
      {
        diagnosis: [0.5, diagnosis],
        efficiency: [0.25, asFarAsRight(efficiency())],
        time: [0.1, asFarAsRight(time())],
        invasiveness: [0.05, asFarAsRight(invasiveness())],
        exams: [0.1, asFarAsRight(otherwise(examF1(), 1))],
      },
      { name: 'efficiency', source: 'this package: savings that only a right diagnosis earns' },
    ),
  )
}
