/** What ordering an examination or panel would show, and what of it may be unavailable. */
import type { Knowledge } from '../knowledge/knowledge.js'
import { expandPanel } from '../knowledge/knowledge.js'
import type { Model } from './generative-model.js'

/** Examinations that are not counted again. */
export type Done = ReadonlySet<string>

/** One way in which an order may be carried out. */
interface Way {
  readonly chance: number
  /** What it shows then. */
  readonly findings: readonly number[]
}

/** An order as what may come of it. */
export interface Order {
  /** Each finding with the chance that it is shown; none where two are of one family. */
  readonly apart: readonly (readonly [finding: number, chance: number])[] | undefined
  /** By what of it is available. */
  readonly ways: readonly Way[]
}

interface World {
  readonly knowledge: Knowledge
  readonly model: Model
}

function orderOf({ knowledge, model }: World, members: readonly string[]): Order {
  const apart: (readonly [number, number])[] = []
  let ways: readonly Way[] = [{ chance: 1, findings: [] }]
  for (const member of members) {
    const missing = knowledge.exam.get(member)?.unavailableP ?? 0
    const yields = model.yields.get(member) ?? []
    for (const f of yields) apart.push([f, 1 - missing])
    ways = ways.flatMap(({ chance, findings }) => {
      const done = {
        chance: chance * (1 - missing),
        findings: [...new Set([...findings, ...yields])],
      }
      return missing === 0 ? [done] : [{ chance: chance * missing, findings }, done]
    })
  }
  const roots = new Set(apart.map(([f]) => model.nodes[f]!.root))
  return { apart: roots.size === apart.length ? apart : undefined, ways }
}

/** The orders of all examinations; one of which some is done already is made anew. */
export function ordersOf(world: World): (exam: string, done?: Done) => Order | undefined {
  const orders = new Map(
    world.knowledge.exams.map((exam) => {
      const members = expandPanel(exam)
      return [exam.id, { members, order: orderOf(world, members) }] as const
    }),
  )
  return (exam, done) => {
    const known = orders.get(exam)
    if (!known || !done || done.size === 0) return known?.order
    const left = known.members.filter((member) => !done.has(member))
    return left.length === known.members.length ? known.order : orderOf(world, left)
  }
}

/** The expectation of something over what of an order is available. */
export function overAvailability(
  { ways }: Order,
  worthOf: (findings: readonly number[]) => number,
): number {
  let sum = 0
  for (const { chance, findings } of ways) sum += chance * worthOf(findings)
  return sum
}
