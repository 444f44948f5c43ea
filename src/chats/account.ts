/** Accounts: what the models of one episode used, however deep in a patient or a reward they were called. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RoleUsage } from '../chat.js'

/** Usage by role. */
export type UsageByRole = Readonly<Record<string, RoleUsage>>

/** No call at all. */
export const noUsage: RoleUsage = Object.freeze({
  ...{ calls: 0, failed: 0, retries: 0, promptTokens: 0, completionTokens: 0 },
  cost: 0,
})

/** The sum of two usages; its cost is unknown where one of the two is. */
export const addUsage = (a: RoleUsage, b: RoleUsage): RoleUsage => ({
  calls: a.calls + b.calls,
  failed: a.failed + b.failed,
  retries: a.retries + b.retries,
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
  cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
})

/** The sum of two usages by role. */
export const addUsageByRole = (a: UsageByRole, b: UsageByRole): UsageByRole =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .sort()
      .map((role) => [role, addUsage(a[role] ?? noUsage, b[role] ?? noUsage)]),
  )

interface Account {
  usage: UsageByRole
}

const accounts = new AsyncLocalStorage<Account>()
let metered = false

/** From now on accounts are kept; before, an account would cost every promise some time and be empty. */
export function keepAccounts(): void {
  metered = true
}

/** Does work, and says what the metered models used in it; nothing where no model is metered. */
export async function withAccount<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly usage: UsageByRole }> {
  if (!metered) return { result: await work(), usage: {} }
  const account: Account = { usage: {} }
  return { result: await accounts.run(account, work), usage: account.usage }
}

/** Adds to the account of the work under way, if there is one. */
export function charge(role: string, usage: RoleUsage): void {
  const account = accounts.getStore()
  if (account) account.usage = addUsageByRole(account.usage, { [role]: usage })
}
