/**
 * What a doctor's utterance asks, found in the words of the knowledge base: exact phrases first, then the
 * likest question. Both languages are understood whichever is spoken. Nothing of any case is read here.
 */
import type { Knowledge } from '../../knowledge.js'
import type { Match, Normal } from '../../phrases.js'
import { findPhrases, normal } from '../../phrases.js'
import * as act from './acts.js'
import { attributesOf } from './attributes.js'
import type { Entry, Lexicon } from './lexicon.js'
import { lexiconOf } from './lexicon.js'
import { likest } from './likeness.js'
import type { Sentence } from './sentences.js'
import { sentencesOf } from './sentences.js'

/** What an utterance was taken for; `findings` are ids of the knowledge base, in the order asked. */
export interface Understood {
  /** How many questions it held. */
  readonly questions: number
  readonly findings: readonly string[]
  readonly kind:
    | 'finding'
    | 'open'
    | 'diagnosis-request'
    | 'injection'
    | 'exam-request'
    | 'courtesy'
    | 'unclear'
}

/** Least cosine at which a question is taken to ask more closely of a finding that it names. */
const alikeBelow = 0.55

/** Whether the likest finding is meant, in spite of known phrases or for want of them. */
const instead = (despite: boolean, score: number, lead: number): boolean =>
  despite
    ? (score >= 0.85 && lead >= 0.08) || (score >= 0.7 && lead >= 0.3)
    : score >= 0.55 && lead >= 0.08

const longestFuzzy = 160
const memoSize = 4096
/** Longer texts are read anew each time, so that the memo holds no large strings. */
const longestMemo = 512

type FindingMatch = Match<Extract<Entry, { readonly kind: 'finding' }>>

const isFinding = (match: Match<Entry>): match is FindingMatch => match.value.kind === 'finding'

const joined = /\b(?:or|and)\b|或|和|还是|以及|及/

/** Whether two matches stand side by side in a list, so that both are meant. */
function listed({ text, clauses }: Normal, a: Match<unknown>, b: Match<unknown>): boolean {
  const [from, to] = a.start < b.start ? [a.end, b.start] : [b.end, a.start]
  if (from >= to) return clauses.some(({ end }) => end === from && from === to)
  const between = text.slice(from, to)
  return joined.test(between) || (between === ' ' && clauses.some(({ end }) => end === from))
}

/** "Does the chest pain spread?" asks about the spreading, not about the pain. */
const narrowed = (
  lexicon: Lexicon,
  read: Normal,
  matches: readonly FindingMatch[],
): readonly FindingMatch[] =>
  matches.filter(
    (above) =>
      !matches.some(
        (match) =>
          lexicon.ancestors.get(match.value.id)?.has(above.value.id) && !listed(read, above, match),
      ),
  )

/** The finding recording what the sentence asks of `id`: one of its descendants, or itself. */
function attributeOf({ below }: Lexicon, id: string, attributes: ReadonlySet<string>): string {
  let found = id
  let most = 0
  for (const [child, own] of below.get(id) ?? []) {
    const shared = [...own].filter((attribute) => attributes.has(attribute)).length
    if (shared === most) found = id
    else if (shared > most) [found, most] = [child, shared]
  }
  return most > 0 ? found : id
}

/** A relative's headache is not the patient's: such a match counts only with the relative in it. */
const ofPatient = (knowledge: Knowledge, { text }: Normal, family: boolean) =>
  family
    ? ({ value, start, end }: FindingMatch) =>
        knowledge.finding.get(value.id)?.kind === 'family' ||
        act.family.test(text.slice(start, end))
    : () => true

/** The sentence less the matched phrases, which say what it is about and not what of it. */
function without(text: string, start: number, matches: readonly Match<unknown>[]): string {
  let rest = ''
  let from = 0
  for (const match of matches) {
    rest += `${text.slice(from, match.start - start)} `
    from = Math.max(from, match.end - start)
  }
  return rest + text.slice(from)
}

/** The findings one sentence asks about. */
function askedIn(
  lexicon: Lexicon,
  read: Normal,
  { start, end, text, inquires }: Sentence,
  all: readonly Match<Entry>[],
): readonly string[] {
  const here = all.filter((match) => match.start >= start && match.start < end)
  const whole = here.find((match) => match.start === start && match.end >= end)
  if (whole) return isFinding(whole) ? [whole.value.id] : []
  const open = act.openQuestion.test(text)
  if (open && act.exceptFor.test(text)) return []
  const found = here.filter(isFinding)
  const named = narrowed(lexicon, read, found).filter(
    ofPatient(lexicon.knowledge, read, act.family.test(text)),
  )
  const ids = named.map(({ value }) => value.id)
  if (!inquires || text.length > longestFuzzy) return ids
  const otherwise = here.length > found.length || open || act.diagnosisRequest.test(text)
  if (ids.length === 0 && otherwise) return []
  const { value, score, next } = likest(lexicon.alike(text), text)
  const attributes = attributesOf([without(text, start, named)])
  const above = (id: string, other: string) => lexicon.ancestors.get(id)?.has(other) ?? false
  if (value === undefined) return ids.map((id) => attributeOf(lexicon, id, attributes))
  if (instead(ids.length > 0, score, score - next) && !ids.some((id) => above(id, value)))
    return [attributeOf(lexicon, value, attributes)]
  return ids.map((id) => {
    const closer = score >= alikeBelow && above(value, id) && !ids.includes(value)
    return attributeOf(lexicon, closer ? value : id, attributes)
  })
}

function actOf(text: string, matches: readonly Match<Entry>[]): Understood['kind'] {
  const named = (kind: Entry['kind']) => matches.some(({ value }) => value.kind === kind)
  if (named('disease') || (act.diagnosisRequest.test(text) && !act.history.test(text)))
    return 'diagnosis-request'
  if (act.openQuestion.test(text)) return 'open'
  if (named('exam') || act.examTalk.test(text)) return 'exam-request'
  return act.courtesy.test(text) ? 'courtesy' : 'unclear'
}

function interpret(lexicon: Lexicon, utterance: string): Understood {
  const read = normal(utterance)
  const sentences = sentencesOf(read)
  const questions = sentences.reduce((sum, s) => sum + s.questions, 0)
  if (act.injection.test(read.text)) return { questions, findings: [], kind: 'injection' }
  const matches = findPhrases(lexicon.tree(read.text), read)
  const inquiring = sentences.filter(({ inquires }) => inquires)
  const heard = inquiring.length > 0 ? inquiring : sentences
  const findings = [...new Set(heard.flatMap((s) => askedIn(lexicon, read, s, matches)))]
  if (findings.length > 0) return { questions, findings, kind: 'finding' }
  return { questions, findings, kind: actOf(read.text, matches) }
}

/** What the utterance asks: a pure function of the knowledge base and the text, in bounded time. */
export function understand(knowledge: Knowledge, utterance: string): Understood {
  const lexicon = lexiconOf(knowledge)
  const known = lexicon.memo.get(utterance)
  if (known) return known
  const understood = interpret(lexicon, utterance)
  if (utterance.length <= longestMemo) {
    if (lexicon.memo.size >= memoSize) lexicon.memo.clear()
    lexicon.memo.set(utterance, understood)
  }
  return understood
}
