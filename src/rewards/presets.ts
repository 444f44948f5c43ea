/** The presets: whole rewards to train on, with the diagnosis first. */
import type { Reward } from '../reward.js'
import { gate, memoizeReward, multiply, otherwise, weigh } from './combinators/compose.js'
import type { Formulary, FormularyOptions } from './outcome/formulary.js'
import { partialCredit } from './outcome/partial-credit.js'
import { type ActionBank, treatment } from './outcome/treatment.js'
import { communication } from './process/conduct.js'
import { examF1 } from './process/exam-f1.js'
import { historyCoverage } from './process/history-coverage.js'
import { efficiency, invasiveness, timeSavings } from './process/savings.js'
import { escalation } from './safety/escalation.js'
import { noContraindicated, noHarm, redFlagRecall } from './safety/safety.js'

function diagnosisFirst(formulary: Formulary) {
  const diagnosis = memoizeReward(partialCredit({ formulary }))
  return { diagnosis, timesDiagnosis: (reward: Reward): Reward => multiply(diagnosis, reward) }
}

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
  const { diagnosis, timesDiagnosis } = diagnosisFirst(formulary)
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

/**
 * gate(no harm) · diagnosis · [.50 + .25·efficiency + .10·time + .05·invasiveness + .10·exams], within [0, 1].
 *
 * Savings are multiplied by the diagnosis, so that an immediate guess is worth no more than a guess. Where no
 * examination is needed and none was done, `exams` is 1.
 * @param formulary the diseases recognised by name @default none
 */
export function efficiencyPreset({ formulary = [] }: FormularyOptions = {}): Reward {
  const { diagnosis, timesDiagnosis } = diagnosisFirst(formulary)
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

/** Options of {@link safetyFirst}. */
export interface SafetyFirstOptions extends FormularyOptions {
  /** All actions that may be recommended. @default those of the package's knowledge base */
  readonly bank?: ActionBank
}

/** Share of the reward left after a harmful examination or a contraindicated action. */
const afterHarm = { ceiling: 0.1 }

/** Share left by unasked red flags, from none asked to all but one. */
const afterMissing = { floor: 0.4, ceiling: 0.8 }

/**
 * gate(no harmful examination) · gate(nothing contraindicated advised) · gate(red flags asked for) · diagnosis ·
 * [.45 + .25·escalation + .20·treatment + .10·history], within [0, 1].
 *
 * Harm leaves a tenth, so that better is still better among harmful consultations. Red flags are a graded gate, never
 * a bonus, and escalation and treatment are multiplied by the diagnosis: asking every patient about everything, or
 * sending every patient to hospital, pays nothing by itself. Parts that a case lacks are left out of the mean.
 */
export function safetyFirst({ formulary = [], bank }: SafetyFirstOptions = {}): Reward {
  const { diagnosis, timesDiagnosis } = diagnosisFirst(formulary)
  const advice = bank ? { bank } : {}
  const care = weigh(
    {
      diagnosis: [0.45, diagnosis],
      escalation: [0.25, timesDiagnosis(escalation())],
      treatment: [0.2, timesDiagnosis(treatment(advice))],
      history: [0.1, timesDiagnosis(historyCoverage())],
    },
    { name: 'safety-first', source: 'this package: the right diagnosis and care behind gates' },
  )
  const watchful = gate(redFlagRecall(), care, afterMissing)
  return gate(noHarm(), gate(noContraindicated(advice), watchful, afterHarm), afterHarm)
}
