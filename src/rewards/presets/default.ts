/** The default reward: the diagnosis first, and then how it was reached. */
import type { Reward } from '../../reward.js'
import { gate, otherwise, product, weigh } from '../combinators/compose.js'
import { shared } from '../combinators/shared.js'
import type { Formulary } from '../outcome/formulary.js'
import { partialCredit } from '../outcome/partial-credit.js'
import { communication } from '../process/communication.js'
import { efficiency } from '../process/efficiency.js'
import { examF1 } from '../process/exam-f1.js'
import { historyCoverage } from '../process/history-coverage.js'
import { noHarm } from '../safety/no-harm.js'

/**
 * gate(no harm) · diagnosis · [.55 + .15·exams + .15·history + .10·efficiency + .05·communication], within [0, 1].
 *
 * `diagnosis` is partial credit, and everything else pays only as far as that does: a doctor who asks and orders by
 * heart and then guesses would otherwise be paid for the asking (`docs/audit.md`). Each part is that product; its
 * evidence shows both factors. Where a case says nothing of examinations, history stands in for them. A doctor who
 * never spoke has no communication to judge and gets 0 for it, so that a guess at once cannot shrink what the rest
 * is divided by.
 * @param formulary the diseases that can be told from their names @default none
 */
export function defaultReward({ formulary = [] }: { readonly formulary?: Formulary } = {}): Reward {
  const diagnosis = shared(partialCredit({ formulary }))
  const asFarAsRight = (reward: Reward): Reward => product(diagnosis, reward)
  const history = shared(historyCoverage())
  return gate(
    noHarm(),
    weigh(
      {
        diagnosis: [0.55, diagnosis],
        exams: [0.15, asFarAsRight(otherwise(examF1(), history))],
        history: [0.15, asFarAsRight(history)],
        efficiency: [0.1, asFarAsRight(efficiency())],
        communication: [0.05, asFarAsRight(otherwise(communication(), 0))],
      },
      { name: 'default', source: 'this package: a diagnosis and its quality behind a safety gate' },
    ),
  )
}
