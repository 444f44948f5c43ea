/**
 * Search for authored actions in a free-text recommendation, by their words and with attention to negation.
 *
 * A sentence contains an action if it has every word of it ("as directed", "unless allergic" and such conditions aside),
 * in either language, in any order; if it contains a longer action, the shorter one inside it does not count. A negation
 * counts in its own clause, a double negation affirms ("do not hesitate to"), and an action may be a negation itself
 * ("Stop painkillers"). There are no synonyms: "omeprazole" is not found where the bank says "acid blocker".
 */
import type { Text } from '../../case.js'
import { memoizeByIdentity, memoizeText } from '../../platform/memoize.js'
import { wordStems } from '../../text/word-stems.js'

/** An authored action of a case or a bank. */
export interface ActionText {
  readonly id: string
  readonly text: Text
}

interface AdviceClause {
  readonly words: ReadonlySet<string>
  readonly denied: boolean
}

/** An action's words in one language, and the number of its clauses that are negated. */
interface ActionPattern {
  readonly id: string
  readonly words: ReadonlySet<string>
  readonly denials: number
}

/** Search index of actions. */
export type ActionIndex = readonly ActionPattern[]

/** Number of UTF-16 units of a recommendation that are read. */
const maxLength = 10_000

const sentenceEnd = /[;。！？；!?\n\r]+|\.(?=\s|$)/
const clauseEnd = /[,，]|\s+(?=but\b)|(?=但)/
const denials =
  /\b(?:not(?! only\b)|no(?! (?:more|longer|later|less) than\b)|nor|never|cannot|without|avoid\w*|stop(?:s|ped|ping)?|discontinu\w*|withhold\w*|refrain\w*|hesitat\w*|delay\w*|instead of|rather than|contra-?indicat\w*|refus\w*|forbid\w*|prohibit\w*|unnecessary|needless|omit\w*|skip\w*|against)\b|n't\b|不要|不能|不可|不宜|不应|不得|不建议|不推荐|不主张|不需|不用|不必|不考虑|无需|无须|切勿|勿|避免|停用|停止|停掉|停服|禁用|禁止|禁服|忌用|忌服|忌|戒|拒绝|而不是|而非|别(?=再|用|服|吃|喝|给|做|打)|犹豫|延误|耽误|不(?=使用|给予|服用|吃|喝|做)/g

/** Conditions, which are no part of an action. */
const condition =
  /\s+(?:unless|(?<!at )once|if|when|while|until|as directed|as soon as)\b.*$|\([^()]*\)|（[^（）]*）/gi
const hanCondition = /^[^时后]{2,9}?[时后](?=.)/

/** Light verbs: words that say that something is done, and not what. */
const light =
  /\b(?:give|take|use|start|begin|arrange|offer|apply|prescribe|course)\b|使用|给予|予以|开始|安排|服用|一个疗程/g

/** Verbs of a clause that says what to do; a short clause without one continues the list before it. */
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

/** Whether a clause is a short piece without a verb: "…, beta-blockers, and alcohol". */
const continuesList = (clause: string): boolean =>
  clause.length <= 40 &&
  clause.split(/\s+/).length <= 4 &&
  !verb.test(clause) &&
  !/^但|^but\b/.test(clause)

function clausesOf(sentence: string): readonly AdviceClause[] {
  let denied = false
  return sentence
    .split(clauseEnd)
    .map((clause) => clause.trim())
    .filter(Boolean)
    .map((clause) => {
      const core = withoutCondition(clause)
      const own = (core.match(denials)?.length ?? 0) % 2 === 1
      denied = own || (denied && continuesList(core))
      return { words: new Set(wordStems(core.replace(light, ' '))), denied }
    })
}

const sentencesOf = (text: string): readonly (readonly AdviceClause[])[] =>
  plainOf(text.slice(0, maxLength)).split(sentenceEnd).map(clausesOf)

/** Indexes actions, in every language they are written in; an action without a word of its own is never found. */
export function indexActions(actions: Iterable<ActionText>): ActionIndex {
  const patterns: ActionPattern[] = []
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

/** Whether a sentence with all words of an action recommends it, and does not deny it. */
function affirms(
  sentence: readonly AdviceClause[],
  { words: own, denials: expected }: ActionPattern,
): boolean {
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

// A gate and a score read the same text, and a policy repeats a few texts: a bounded cache is enough.
const cachedReader = memoizeByIdentity((index: ActionIndex) =>
  memoizeText((text) => read(text, index), { most: 1000 }),
)

/** Finds the ids of the actions that a text recommends. */
export const findRecommendedActions = (text: string, index: ActionIndex): ReadonlySet<string> =>
  cachedReader(index)(text)
