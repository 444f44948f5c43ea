/** Whether the doctor spoke in words that a patient knows. */
import { inLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Reward } from '../../reward.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normal, phraseTree } from '../../text/phrase-search.js'
import { shareOfTurns } from './share-of-turns.js'
import { technicalTerms } from './technical-terms.js'

export interface PlainLanguageOptions {
  /** Adds the technical words it lists for its findings. @default none */
  readonly knowledge?: Knowledge | undefined
  /** @default a short list of this package's own, zh and en */
  readonly terms?: readonly string[]
}

/** An utterance this long is not plain, whatever words it is made of. */
const longest = 600

const jargonOf = ({ findings }: Knowledge): readonly string[] =>
  findings.flatMap(({ jargon }) => (jargon ? [...jargon.zh, ...jargon.en] : []))

/** The technical words in a text, in normal form. */
function termsIn(tree: PhraseTree<true>, text: string): readonly string[] {
  const read = normal(text)
  return findPhrases(tree, read).map(({ start, end }) => read.text.slice(start, end))
}

/** Whether something was asked at all, so that thanks do not thin the hard words out. */
const isInquiry = ({ facts }: EpisodeTurn): boolean =>
  facts.understood !== undefined &&
  facts.understood !== 'courtesy' &&
  facts.understood !== 'refused'

/**
 * The share of the questions without a technical word that the patient has not used first, in the complaint or in an
 * answer. Thanks and refused requests are not counted; an utterance of more than 600 characters is not plain; a doctor
 * who never asked gets 0. A word list knows only its words: it is a floor of care, not a measure of it.
 */
export function plainLanguage({
  knowledge,
  terms = technicalTerms,
}: PlainLanguageOptions = {}): Reward {
  const all = [...terms, ...(knowledge ? jargonOf(knowledge) : [])]
  const tree = phraseTree(all.map((term) => [term, true] as const))
  const judging = ({ intake, language }: Episode) => {
    const used = new Set(termsIn(tree, inLanguage(intake.complaint, language)))
    return (turn: EpisodeTurn): number | undefined => {
      const { action, outcome } = turn
      if (action.kind !== 'ask' || !isInquiry(turn)) return undefined
      const isPlain =
        action.text.length <= longest && termsIn(tree, action.text).every((term) => used.has(term))
      if (outcome.kind === 'answered')
        for (const term of termsIn(tree, outcome.text)) used.add(term)
      return Number(isPlain)
    }
  }
  return shareOfTurns(
    { name: 'plain-language', source: 'plain language as in MAQuE and PatientSim' },
    judging,
  )
}
