/** Outcomes of ordering an examination or panel: which findings it may show, given what may be unavailable. */
import { expandPanel, type Knowledge } from '../knowledge/knowledge.js'
import type { Model } from './generative-model.js'

/** Ids of examinations already carried out; their findings are not counted again. */
export type DoneExams = ReadonlySet<string>

/** One combination of available and unavailable members, with the findings it shows. */
interface ExamOutcome {
  readonly chance: number
  /** Node indices. */
  readonly findings: readonly number[]
}

/** The findings that an order may show, with their probabilities. */
export interface ExamOutcomes {
  /** Each finding with the probability that it is shown; undefined where two are of one family. */
  readonly independent: readonly (readonly [finding: number, chance: number])[] | undefined
  /** Every combination of available members; their chances sum to 1. */
  readonly outcomes: readonly ExamOutcome[]
}

interface ModelledKnowledge {
  readonly knowledge: Knowledge
  readonly model: Model
}

function outcomesOf(
  { knowledge, model }: ModelledKnowledge,
  members: readonly string[],
): ExamOutcomes {
  const apart: (readonly [number, number])[] = []
  let ways: readonly ExamOutcome[] = [{ chance: 1, findings: [] }]
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
  return { independent: roots.size === apart.length ? apart : undefined, outcomes: ways }
}

/** Looks up the outcomes of an order by examination id; computed anew only where some members are done already. */
export function indexExamOutcomes(
  modelled: ModelledKnowledge,
): (exam: string, done?: DoneExams) => ExamOutcomes | undefined {
  const orders = new Map(
    modelled.knowledge.exams.map((exam) => {
      const members = expandPanel(exam)
      return [exam.id, { members, order: outcomesOf(modelled, members) }] as const
    }),
  )
  return (exam, done) => {
    const known = orders.get(exam)
    if (!known || !done || done.size === 0) return known?.order
    const left = known.members.filter((member) => !done.has(member))
    return left.length === known.members.length ? known.order : outcomesOf(modelled, left)
  }
}

/** Expectation of `value(findings shown)` over which members of an order are available. */
export function expectOverAvailability(
  { outcomes: ways }: ExamOutcomes,
  value: (findings: readonly number[]) => number,
): number {
  let sum = 0
  for (const { chance, findings } of ways) sum += chance * value(findings)
  return sum
}
