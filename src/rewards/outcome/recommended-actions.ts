/**
 * Which authored actions a free recommendation recommends: found by their words, whole, and not where they are denied.
 *
 * A sentence holds an action where it has every word of it ("as directed", "unless allergic" and such conditions aside),
 * in either language, in any order; where it recommends a longer action, it does not recommend the shorter one inside it.
 * A denial counts in the clause it stands in, twice denied is affirmed ("do not hesitate to"), and an action may be a
 * denial itself ("Stop painkillers"). It knows no synonyms: "omeprazole" is not found where the bank says "acid blocker".
 */

import type { Text } from '../../case.js'
import { memoizeText } from '../../platform/memoize.js'
import { words } from '../../text/word-stems.js'

/** An action as cases and banks hold it. */
export interface ActionText {
  readonly id: string
  readonly text: Text
}

/** One part of a sentence, between its commas. */
interface Clause {
  readonly words: ReadonlySet<string>
  readonly denied: boolean
}

/** An action's words in one language, and in how many of its clauses it is a denial. */
interface Pattern {
  readonly id: string
  readonly words: ReadonlySet<string>
  readonly denials: number
}

/** Actions ready to be looked for. */
export type ActionIndex = readonly Pattern[]

/** No recommendation is this long; what is behind it is not read. */
const longest = 10_000

const sentenceEnd = /[;。！？；!?\n\r]+|\.(?=\s|$)/
const clauseEnd = /[,，]|\s+(?=but\b)|(?=但)/
const denials =
  /\b(?:not(?! only\b)|no(?! (?:more|longer|later|less) than\b)|nor|never|cannot|without|avoid\w*|stop(?:s|ped|ping)?|discontinu\w*|withhold\w*|refrain\w*|hesitat\w*|delay\w*|instead of|rather than|contra-?indicat\w*|refus\w*|forbid\w*|prohibit\w*|unnecessary|needless|omit\w*|skip\w*|against)\b|n't\b|不要|不能|不可|不宜|不应|不得|不建议|不推荐|不主张|不需|不用|不必|不考虑|无需|无须|切勿|勿|避免|停用|停止|停掉|停服|禁用|禁止|禁服|忌用|忌服|忌|戒|拒绝|而不是|而非|别(?=再|用|服|吃|喝|给|做|打)|犹豫|延误|耽误|不(?=使用|给予|服用|吃|喝|做)/g

/** Conditions: what holds of an action only in a case, and is no part of it. */
const condition =
  /\s+(?:unless|(?<!at )once|if|when|while|until|as directed|as soon as)\b.*$|\([^()]*\)|（[^（）]*）/gi
const hanCondition = /^[^时后]{2,9}?[时后](?=.)/

/** Words that say that something is done, and not what. */
const light =
  /\b(?:give|take|use|start|begin|arrange|offer|apply|prescribe|course)\b|使用|给予|予以|开始|安排|服用|一个疗程/g

/** What stands in a clause that says what to do; a short clause without it goes on with the list before it. */
const verb =
  /\b(?:give|take|use|start|begin|arrange|offer|apply|prescribe|drink|eat|rest|keep|see|call|go|refer|return|come|stay|stop|avoid|treat|send|admit|monitor|follow)\b|[用服吃喝给打做请去叫转戴涂洗查补吸休监治]/

const plainOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[^\S\n\r]+/g, ' ')

function withoutCondition(clause: string): string {
  const rest = clause.replace(condition, ' ').trim()
  const head = hanCondition.exec(rest)?.[0] ?? ''
  return head.search(denials) < 0 ? rest.slice(head.length) : rest
}

/** A short piece without a verb: "…, beta-blockers, and alcohol". */
const goesOn = (clause: string): boolean =>
  clause.length <= 40 &&
  clause.split(/\s+/).length <= 4 &&
  !verb.test(clause) &&
  !/^但|^but\b/.test(clause)

function clausesOf(sentence: string): readonly Clause[] {
  let denied = false
  return sentence
    .split(clauseEnd)
    .map((clause) => clause.trim())
    .filter(Boolean)
    .map((clause) => {
      const core = withoutCondition(clause)
      const own = (core.match(denials)?.length ?? 0) % 2 === 1
      denied = own || (denied && goesOn(core))
      return { words: new Set(words(core.replace(light, ' '))), denied }
    })
}

const sentencesOf = (text: string): readonly (readonly Clause[])[] =>
  plainOf(text.slice(0, longest)).split(sentenceEnd).map(clausesOf)

/** Reads actions once, in every language they are written in; one without a word of its own is never found. */
export function indexActions(actions: Iterable<ActionText>): ActionIndex {
  const patterns: Pattern[] = []
  for (const { id, text } of actions)
    for (const one of [text.zh, text.en]) {
      const clauses = sentencesOf(one ?? '').flat()
      const all = new Set(clauses.flatMap((clause) => [...clause.words]))
      if (all.size > 0)
        patterns.push({ id, words: all, denials: clauses.filter(({ denied }) => denied).length })
    }
  return patterns
}

const isWithin = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean => {
  for (const word of some) if (!all.has(word)) return false
  return true
}

/** Whether a sentence that has an action's words says to do it. */
function affirms(sentence: readonly Clause[], { words: own, denials: expected }: Pattern): boolean {
  const anchors = sentence.filter((clause) => [...clause.words].some((word) => own.has(word)))
  return anchors.filter(({ denied }) => denied).length === expected
}

function read(text: string, index: ActionIndex): ReadonlySet<string> {
  const found = new Set<string>()
  for (const sentence of sentencesOf(text)) {
    const all = new Set(sentence.flatMap((clause) => [...clause.words]))
    const held = index.filter(
      (pattern) => isWithin(pattern.words, all) && affirms(sentence, pattern),
    )
    for (const { id, words: own } of held) {
      const inside = held.some(
        (other) => other.id !== id && other.words.size > own.size && isWithin(own, other.words),
      )
      if (!inside) found.add(id)
    }
  }
  return found
}

type Reading = (text: string) => ReadonlySet<string>

const readings = new WeakMap<ActionIndex, Reading>()

/** The ids of the actions that a text recommends. */
export function recommendedIn(text: string, index: ActionIndex): ReadonlySet<string> {
  let reading = readings.get(index)
  if (!reading) {
    // A gate and a score read one text each, and a policy says the same few: a bounded memory is enough.
    reading = memoizeText((given) => read(given, index), { most: 1000 })
    readings.set(index, reading)
  }
  return reading(text)
}
