/** The default reward: the diagnosis first, and then how it was reached. */
import type { Reward } from '../reward.js'
import { communication } from './communication.js'
import { gate, otherwise, product, weigh } from './compose.js'
import { efficiency } from './efficiency.js'
import { examF1 } from './exam-f1.js'
import type { Formulary } from './formulary.js'
import { historyCoverage } from './history-coverage.js'
import { noHarm } from './no-harm.js'
import { partialCredit } from './partial-credit.js'

/**
 * gate(no harm) · [.55·diagnosis + .15·exams + .15·history + .10·diagnosis×efficiency + .05·communication],
 * within [0, 1].
 *
 * `diagnosis` is partial credit. Where a case says nothing of examinations, history stands in for them.
 * A doctor who never spoke has no communication to judge and gets 0 for it, so that a guess at once cannot
 * shrink what the rest is divided by.
 * @param formulary the diseases that can be told from their names @default none
 */
export function defaultReward({ formulary = [] }: { readonly formulary?: Formulary } = {}): Reward {
  const diagnosis = partialCredit({ formulary })
  const history = historyCoverage()
  return gate(
    noHarm(),
    weigh(
      {
        diagnosis: [0.55, diagnosis],
        exams: [0.15, otherwise(examF1(), history)],
        history: [0.15, history],
        efficiency: [0.1, product(diagnosis, efficiency())],
        communication: [0.05, otherwise(communication(), 0)],
      },
      { name: 'default', source: 'this package: a bounded mean behind a safety gate' },
    ),
  )
}
