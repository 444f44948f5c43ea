/** Rule-based counts of a patient's conduct faults, by shared words: coarse but deterministic. */
import { wordStems } from '../../text/word-stems.js'
import type { ConductCounts } from './ask-judge.js'
import type { JudgedLine } from './judge.js'

/** A fact of the profile, or a clause of a dialogue line. */
interface Statement {
  readonly words: ReadonlySet<string>
  readonly denies: boolean
}

const denial =
  /\b(?:no|not|never|none|without|denies|denied|neither|nor)\b|n't\b|没有?|无|否认|不(?!适|舒服|好)/i

const splitStatements = (text: string): readonly Statement[] =>
  text
    .split(/[.!?;,\n。！？；，、]+/)
    .map((part) => ({ words: new Set(wordStems(part)), denies: denial.test(part) }))
    .filter((statement) => statement.words.size > 0)

/** The share of a fact's words that are among some words. */
function wordShare(fact: Statement, words: ReadonlySet<string>): number {
  let held = 0
  for (const word of fact.words) if (words.has(word)) held++
  return held / fact.words.size
}

/** Minimum shares of a fact's words: to count as the same fact, and as the fact asked about. */
const same = 0.6
const about = 1 / 3

/**
 * Counts the facts of the profile told unasked, withheld though asked, and contradicted. A fact is a clause of the
 * profile; each is counted once per kind of fault.
 */
export function countConductFaults(
  profile: string,
  dialogue: readonly JudgedLine[],
): ConductCounts {
  const facts = splitStatements(profile)
  const wrong = {
    extra: new Set<number>(),
    missing: new Set<number>(),
    opposite: new Set<number>(),
  }
  const told = new Set<number>()
  const asked = new Set<number>()
  let question: ReadonlySet<string> | undefined
  for (const { role, text } of dialogue) {
    if (role === 'doctor') question = new Set(wordStems(text))
    if (role !== 'patient') continue
    const said = splitStatements(text)
    facts.forEach((fact, i) => {
      const isAsked = question !== undefined && wordShare(fact, question) >= about
      if (isAsked) asked.add(i)
      const teller = said.find((statement) => wordShare(fact, statement.words) >= same)
      if (teller === undefined) return
      told.add(i)
      if (teller.denies !== fact.denies) wrong.opposite.add(i)
      // Facts told before any question are the complaint, and not told unasked.
      else if (question !== undefined && !asked.has(i)) wrong.extra.add(i)
    })
  }
  for (const i of asked) if (!told.has(i)) wrong.missing.add(i)
  return {
    extra: wrong.extra.size,
    missing: wrong.missing.size,
    opposite: wrong.opposite.size,
  }
}
