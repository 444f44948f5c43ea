/** The ledger of a run: tokens, retries and money by role, and the budget that stops it. */
import type { ModelCall, RoleUsage } from '../chat.js'
import { Fault } from '../error.js'
import { addUsage, charge, keepAccounts, noUsage, type UsageByRole } from './account.js'
import { ModelFault, modelFaultKind, noTokens } from './model-fault.js'

/** Price of a model's tokens, per million, in one currency for all models of a run. */
export interface Price {
  readonly input: number
  readonly output: number
}

/** Most that a run may spend; calls under way when it is reached are over it. */
export interface ModelBudget {
  /** In the currency of the prices. */
  readonly money?: number | undefined
  /** Prompt and completion tokens, all roles together. */
  readonly tokens?: number | undefined
}

/** Options of {@link openLedger}. */
export interface LedgerOptions {
  /** Prices by model; the cost of a model without one is unknown. */
  readonly prices?: Readonly<Record<string, Price>>
  readonly budget?: ModelBudget
}

/** Counts what the models of a run use. */
export interface Ledger {
  /** Wraps a model so that its calls count for a role. Its calls throw ModelFault `budget` once the budget is spent. */
  meter<Prompt>(role: string, model: string, call: ModelCall<Prompt>): ModelCall<Prompt>
  /** Usage by role so far. An answer that several episodes share is counted once. */
  used(): UsageByRole
}

const tokensOf = ({ promptTokens, completionTokens }: RoleUsage): number =>
  promptTokens + completionTokens

/** The cost of tokens; null without a price, and null is not 0. */
const costOf = (
  price: Price | undefined,
  usage: { readonly promptTokens: number; readonly completionTokens: number },
): number | null =>
  price
    ? (usage.promptTokens * price.input + usage.completionTokens * price.output) / 1_000_000
    : null

function assertWithin({ money, tokens }: ModelBudget, used: UsageByRole): void {
  const all = Object.values(used).reduce(addUsage, noUsage)
  const spent = tokensOf(all)
  if (tokens !== undefined && spent >= tokens)
    throw new ModelFault('budget', `the budget of ${tokens} tokens is spent (${spent} used)`)
  if (money !== undefined && (all.cost ?? 0) >= money)
    throw new ModelFault('budget', `the budget of ${money} is spent (${all.cost} used)`)
}

/** Opens the ledger of a run. */
export function openLedger({ prices = {}, budget = {} }: LedgerOptions = {}): Ledger {
  let used: UsageByRole = {}
  // Several callers may wait for one call, and hear of its fault.
  const counted = new WeakSet<object>()
  const add = (role: string, usage: RoleUsage): void => {
    used = { ...used, [role]: addUsage(used[role] ?? noUsage, usage) }
  }
  return {
    used: () => used,
    meter(role, model, call) {
      // Not before: a run without models keeps no accounts.
      keepAccounts()
      const price = Object.hasOwn(prices, model) ? prices[model] : undefined
      if (budget.money !== undefined && !price)
        throw new Fault(
          'bad-input',
          `models.prices: expected the price of \`${model}\` (the model of ${role}) beside a budget of money, got none`,
        )
      return async (prompt, options) => {
        assertWithin(budget, used)
        try {
          const reply = await call(prompt, options)
          const { usage, retries = 0 } = reply
          const one = { ...usage, calls: 1, failed: 0, retries, cost: costOf(price, usage) }
          charge(role, one)
          if (!reply.reused) add(role, one)
          return reply
        } catch (error) {
          if (modelFaultKind(error) === undefined) throw error
          const { retries = 0, usage = noTokens } = error instanceof ModelFault ? error : {}
          const one = { ...usage, calls: 1, failed: 1, retries, cost: costOf(price, usage) }
          charge(role, one)
          if (!counted.has(Object(error))) add(role, one)
          counted.add(Object(error))
          throw error
        }
      }
    },
  }
}

const short = (count: number): string =>
  count < 10_000
    ? `${count}`
    : count < 10_000_000
      ? `${Math.round(count / 1000)}k`
      : `${Math.round(count / 1_000_000)}M`

/** The cost in words: `cost unknown` where a model has no price. */
export const costText = (cost: number | null): string =>
  cost === null ? 'cost unknown' : `cost ${cost.toFixed(cost < 1 ? 4 : 2)}`

/** A line on what all roles used: calls, tokens, failures and retries if any, cost. Empty without a call. */
export function usageLine(used: UsageByRole): string {
  const all = Object.values(used).reduce(addUsage, noUsage)
  if (all.calls === 0) return ''
  return [
    `${all.calls} model calls`,
    ...(all.failed > 0 ? [`${all.failed} failed`] : []),
    ...(all.retries > 0 ? [`${all.retries} retries`] : []),
    `${short(tokensOf(all))} tokens`,
    costText(all.cost),
  ].join(', ')
}
