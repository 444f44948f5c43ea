/** The default reward: the diagnosis first, then the quality of the consultation. */
import type { Reward } from '../../reward.js'
import { gate, multiply, otherwise, weigh } from '../combinators/compose.js'
import { memoizeReward } from '../combinators/memoize-reward.js'
import type { FormularyOptions } from '../outcome/formulary.js'
import { partialCredit } from '../outcome/partial-credit.js'
import { communication } from '../process/communication.js'
import { efficiency } from '../process/efficiency.js'
import { examF1 } from '../process/exam-f1.js'
import { historyCoverage } from '../process/history-coverage.js'
import { noHarm } from '../safety/no-harm.js'

/**
 * gate(no harm) · diagnosis · [.55 + .15·exams + .15·history + .10·efficiency + .05·communication], within [0, 1].
 *
 * `diagnosis` is partial credit, and every other part is multiplied by it: a doctor who asks and orders by rote and
 * then guesses would otherwise be paid for the asking (`docs/audit.md`). The evidence of such a part shows both
 * factors. Where a case lists no examinations, history stands in for them. A doctor who never spoke has no
 * communication to judge and gets 0 for it, so that an immediate guess cannot shrink the divisor of the mean.
 * @param formulary the diseases recognised by name @default none
 */
export function defaultReward({ formulary = [] }: FormularyOptions = {}): Reward {
  const diagnosis = memoizeReward(partialCredit({ formulary }))
  const timesDiagnosis = (reward: Reward): Reward => multiply(diagnosis, reward)
  const history = memoizeReward(historyCoverage())
  return gate(
    noHarm(),
    weigh(
      {
        diagnosis: [0.55, diagnosis],
        exams: [0.15, timesDiagnosis(otherwise(examF1(), history))],
        history: [0.15, timesDiagnosis(history)],
        efficiency: [0.1, timesDiagnosis(efficiency())],
        communication: [0.05, timesDiagnosis(otherwise(communication(), 0))],
      },
      { name: 'default', source: 'this package: a diagnosis and its quality behind a safety gate' },
    ),
  )
}
