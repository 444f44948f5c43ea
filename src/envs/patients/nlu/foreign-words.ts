/** How much of a question is in words that nobody asks for a finding with. */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../../platform/memoize.js'
import { normaliseText } from '../../../text/phrase-search.js'
import { wordStems } from '../../../text/word-stems.js'
import type { Language } from '../../../turn.js'
import { isGeneric } from './attributes.js'
import { fillers } from './features.js'

/** Characters of any Chinese question. */
const plain = /[的了吗呢么吧啊你我他她它有没不是会得过一个这那在就都也还很最上下来去说]/g
const notHan = /[^\p{Script=Han}]/gu

/** The words of a text in normal form that say what it is about: stems, or Chinese characters. */
const contentOf = (text: string, language: Language): ReadonlySet<string> =>
  language === 'zh'
    ? new Set(text.replace(fillers, '').replace(plain, '').replace(notHan, ''))
    : new Set(wordStems(text).filter((word) => !isGeneric(word)))

/** All that is said of a finding in one language. */
const vocabularies = (language: Language) =>
  memoizeByIdentity(
    ({ ask, name, aliases, jargon, say }: FindingDefinition): ReadonlySet<string> => {
      const phrases = [
        ...ask[language],
        name[language],
        ...aliases[language],
        ...(jargon?.[language] ?? []),
        ...Object.values(say).flatMap((both) => both[language]),
      ]
      return new Set(phrases.flatMap((one) => [...contentOf(normaliseText(one).text, language)]))
    },
  )
const vocabularyOf = { en: vocabularies('en'), zh: vocabularies('zh') } as const

/** The share of a question's words that belong to no phrase of a finding, nor of the complaint it is a detail of. */
export function foreignShare(
  knowledge: Knowledge,
  id: string,
  text: string,
  language: Language,
): number {
  const words = contentOf(text, language)
  const finding = knowledge.finding.get(id)
  if (finding === undefined || words.size === 0) return 0
  const above = finding.parent && knowledge.finding.get(finding.parent.finding)
  const known = [finding, ...(above ? [above] : [])].map((one) => vocabularyOf[language](one))
  const foreign = [...words].filter((word) => !known.some((all) => all.has(word)))
  return foreign.length / words.size
}
