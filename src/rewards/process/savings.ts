/** Savings rewards: the share of a budget (money, minutes, invasiveness, turns) that was left. */
import type { Episode } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'

/** 1 - spent/budget, from 0 to 1; 1 for an infinite budget, and 0 if anything of an empty one was spent. */
const remainingShare = (spent: number, budget: number): number =>
  spent <= 0 || budget === Infinity ? 1 : 1 - Math.min(spent / budget, 1)

/**
 * 1 − ½·money/budget − ½·turns/maxTurns. By itself it pays for doing nothing: always multiply it by the diagnosis,
 * `multiply(partialCredit(), efficiency())`.
 */
export const efficiency = (): Reward =>
  unitReward(
    'efficiency',
    'share of the money (SDBench) and of the turns left',
    ({ spent, budget, turns, maxTurns }) =>
      ok(
        remainingShare(spent.money, budget.money) / 2 + remainingShare(turns.length, maxTurns) / 2,
        `${spent.money} spent, ${turns.length} of ${maxTurns} turns`,
      ),
  )

/** Makes the reward of one budget. @throws RangeError for a given budget that is not above 0 */
function savings(
  { name, source, unit }: Readonly<Record<'name' | 'source' | 'unit', string>>,
  budget: number | undefined,
  spending: (episode: Episode) => { readonly spent: number; readonly budget?: number },
): Reward {
  if (budget !== undefined && !(budget > 0))
    throw new RangeError(`Expected \`budget\` to be more than 0, got ${budget}`)
  return unitReward(name, source, (episode) => {
    const { spent, budget: own = Infinity } = spending(episode)
    const most = budget ?? own
    return ok(remainingShare(spent, most), `${spent} of ${most}${unit}`)
  })
}

/** Options of {@link invasiveness}. */
export interface InvasivenessOptions {
  /** Budget in points, above 0; an examination has 0 to 3. @default 9, three of the most invasive */
  readonly budget?: number
}

/**
 * 1 − points/budget, with the invasiveness points of all examinations. By itself it pays for ordering nothing: always
 * multiply it by the diagnosis, `multiply(partialCredit(), invasiveness())`. An examination whose simulator reports no
 * invasiveness counts 0.
 * @throws RangeError for a budget that is not above 0
 */
export const invasiveness = ({ budget = 9 }: InvasivenessOptions = {}): Reward =>
  savings(
    { name: 'invasiveness', source: 'this package: share of a burden left', unit: ' points' },
    budget,
    ({ turns }) => ({
      spent: turns.reduce((sum, { facts }) => sum + (facts.invasiveness ?? 0), 0),
    }),
  )

/** Options of {@link moneySavings}. */
export interface MoneySavingsOptions {
  /** Budget in money units, above 0. @default the episode's budget; if infinite, the reward is 1 */
  readonly budget?: number
}

/**
 * 1 − money/budget of the money charged: by canonical examination, a panel at its own price, a result that is still
 * valid for free, an unknown order at a fee. By itself it pays for ordering nothing: always multiply it by the
 * diagnosis, `multiply(partialCredit(), moneySavings())`.
 * @throws RangeError for a budget that is not above 0
 */
export const moneySavings = ({ budget }: MoneySavingsOptions = {}): Reward =>
  savings(
    { name: 'cost', source: 'share of the money left, after SDBench and HAEnv', unit: '' },
    budget,
    (episode) => ({ spent: episode.spent.money, budget: episode.budget.money }),
  )

/** Options of {@link timeSavings}. */
export interface TimeSavingsOptions {
  /** Budget in minutes, above 0. @default the episode's budget; if infinite, the reward is 1 */
  readonly budget?: number
}

/**
 * 1 − minutes/budget, with the minutes of questions and the turnaround of examinations. By itself it pays for doing
 * nothing: always multiply it by the diagnosis, `multiply(partialCredit(), timeSavings())`.
 * @throws RangeError for a budget that is not above 0
 */
export const timeSavings = ({ budget }: TimeSavingsOptions = {}): Reward =>
  savings(
    { name: 'time', source: 'share of the minutes left, after HAEnv', unit: ' minutes' },
    budget,
    (episode) => ({ spent: episode.spent.minutes, budget: episode.budget.minutes }),
  )
