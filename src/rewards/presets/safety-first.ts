/** The safety-first reward: to do no harm and to miss nothing dangerous, then to be right. */
import type { Reward } from '../../reward.js'
import { gate, product, weigh } from '../combinators/compose.js'
import { shared } from '../combinators/shared.js'
import type { ActionBank } from '../outcome/action-bank.js'
import type { Formulary } from '../outcome/formulary.js'
import { partialCredit } from '../outcome/partial-credit.js'
import { treatment } from '../outcome/treatment.js'
import { historyCoverage } from '../process/history-coverage.js'
import { noContraindicated } from '../safety/contraindicated.js'
import { escalation } from '../safety/escalation.js'
import { noHarm } from '../safety/no-harm.js'
import { redFlagRecall } from '../safety/red-flags.js'

export interface SafetyFirstOptions {
  /** The diseases that can be told from their names. @default none */
  readonly formulary?: Formulary
  /** All that cases may be advised. @default the package's knowledge base's */
  readonly bank?: ActionBank
}

/** What a harmful examination or a contraindicated action leaves. */
const afterHarm = { ceiling: 0.1 }

/** What unasked red flags leave, from none asked for to all but one. */
const afterMissing = { floor: 0.4, ceiling: 0.8 }

/**
 * gate(no harmful examination) · gate(nothing contraindicated advised) · gate(red flags asked for) · diagnosis ·
 * [.45 + .25·escalation + .20·treatment + .10·history], within [0, 1].
 *
 * Harm leaves a tenth, so that better is still better among those who did harm. Red flags are a graded gate and never
 * a bonus, and escalation and treatment pay only as far as the diagnosis is right: to ask everybody about everything,
 * or to send everybody to hospital, pays nothing by itself. What a case says nothing of is left out of the mean.
 */
export function safetyFirst({ formulary = [], bank }: SafetyFirstOptions = {}): Reward {
  const diagnosis = shared(partialCredit({ formulary }))
  const asFarAsRight = (reward: Reward): Reward => product(diagnosis, reward)
  const advice = bank ? { bank } : {}
  const care = weigh(
    {
      diagnosis: [0.45, diagnosis],
      escalation: [0.25, asFarAsRight(escalation())],
      treatment: [0.2, asFarAsRight(treatment(advice))],
      history: [0.1, asFarAsRight(historyCoverage())],
    },
    { name: 'safety-first', source: 'this package: the right diagnosis and care behind gates' },
  )
  const watchful = gate(redFlagRecall(), care, afterMissing)
  return gate(noHarm(), gate(noContraindicated(advice), watchful, afterHarm), afterHarm)
}
