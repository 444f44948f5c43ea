/** What a patient did wrong, told by shared words alone: coarse, and the same every time. */
import { words } from '../../text/word-stems.js'
import type { ConductCounts } from './ask-judge.js'
import type { JudgedLine } from './judge.js'

/** A fact of the profile, or a sentence somebody said. */
interface Statement {
  readonly words: ReadonlySet<string>
  readonly denies: boolean
}

const denial =
  /\b(?:no|not|never|none|without|denies|denied|neither|nor)\b|n't\b|没有?|无|否认|不(?!适|舒服|好)/i

const statementsOf = (text: string): readonly Statement[] =>
  text
    .split(/[.!?;,\n。！？；，、]+/)
    .map((part) => ({ words: new Set(words(part)), denies: denial.test(part) }))
    .filter((statement) => statement.words.size > 0)

/** The share of a fact's words that a statement holds. */
function share(fact: Statement, words: ReadonlySet<string>): number {
  let held = 0
  for (const word of fact.words) if (words.has(word)) held++
  return held / fact.words.size
}

/** More than half of a fact's words make it the same fact; one in three makes it the one that was asked about. */
const same = 0.6
const about = 1 / 3

/**
 * Facts of the profile told though nobody asked, kept back though somebody did, and told the other way round. A fact
 * is a clause of the profile; each is counted once in each way.
 */
export function conductByRule(profile: string, dialogue: readonly JudgedLine[]): ConductCounts {
  const facts = statementsOf(profile)
  const wrong = {
    extra: new Set<number>(),
    missing: new Set<number>(),
    opposite: new Set<number>(),
  }
  const told = new Set<number>()
  const asked = new Set<number>()
  let question: ReadonlySet<string> | undefined
  for (const { role, text } of dialogue) {
    if (role === 'doctor') question = new Set(words(text))
    if (role !== 'patient') continue
    const said = statementsOf(text)
    facts.forEach((fact, i) => {
      const isAsked = question !== undefined && share(fact, question) >= about
      if (isAsked) asked.add(i)
      const teller = said.find((statement) => share(fact, statement.words) >= same)
      if (teller === undefined) return
      told.add(i)
      if (teller.denies !== fact.denies) wrong.opposite.add(i)
      // What a patient comes with, before any question, is not unasked.
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
