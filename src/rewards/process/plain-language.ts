/** Plain-language reward: the share of the doctor's questions without technical terms. */
import { textInLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Reward } from '../../reward.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normaliseText, phraseTree } from '../../text/phrase-search.js'
import { shareOfTurns } from './share-of-turns.js'
import { technicalTerms } from './technical-terms.js'

/** Options of {@link plainLanguage}. */
export interface PlainLanguageOptions {
  /** Adds the technical terms (`jargon`) of its findings. @default none */
  readonly knowledge?: Knowledge | undefined
  /** Technical terms. @default a short list of this package's own, zh and en */
  readonly terms?: readonly string[]
}

/** Maximum length of a plain utterance, in UTF-16 units. */
const maxLength = 600

const knowledgeJargon = ({ findings }: Knowledge): readonly string[] =>
  findings.flatMap(({ jargon }) => (jargon ? [...jargon.zh, ...jargon.en] : []))

/** Finds the technical terms in a text, in normal form. */
function findTerms(tree: PhraseTree<true>, text: string): readonly string[] {
  const read = normaliseText(text)
  return findPhrases(tree, read).map(({ start, end }) => read.text.slice(start, end))
}

/** Whether a turn asked for something, so that thanks do not dilute the technical terms. */
const isInquiry = ({ facts }: EpisodeTurn): boolean =>
  facts.understood !== undefined &&
  facts.understood !== 'courtesy' &&
  facts.understood !== 'refused'

/**
 * The share of the questions without a technical term, except terms the patient used first, in the complaint or in an
 * answer. Thanks and refused requests are not counted; an utterance of more than 600 characters is not plain; a doctor
 * who never asked gets 0. A word list covers only its words: a minimum check, not a measure of plain language.
 */
export function plainLanguage({
  knowledge,
  terms = technicalTerms,
}: PlainLanguageOptions = {}): Reward {
  const all = [...terms, ...(knowledge ? knowledgeJargon(knowledge) : [])]
  const tree = phraseTree(all.map((term) => [term, true] as const))
  const judging = ({ intake, language }: Episode) => {
    const used = new Set(findTerms(tree, textInLanguage(intake.complaint, language)))
    return (turn: EpisodeTurn): number | undefined => {
      const { action, outcome } = turn
      if (action.kind !== 'ask' || !isInquiry(turn)) return undefined
      const isPlain =
        action.text.length <= maxLength &&
        findTerms(tree, action.text).every((term) => used.has(term))
      if (outcome.kind === 'answered')
        for (const term of findTerms(tree, outcome.text)) used.add(term)
      return Number(isPlain)
    }
  }
  return shareOfTurns(
    { name: 'plain-language', source: 'plain language as in MAQuE and PatientSim' },
    judging,
  )
}
