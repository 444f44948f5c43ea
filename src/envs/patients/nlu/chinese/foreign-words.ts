/** How much of a Chinese question is in words that nobody asks for a finding with. */
import type { FindingDefinition, Knowledge } from '../../../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../../../platform/memoize.js'
import { normaliseText } from '../../../../text/phrase-search.js'
import { fillers } from '../features.js'

/** Characters of any question. */
const plain = /[的了吗呢么吧啊你我他她它有没不是会得过一个这那在就都也还很最上下来去说]/g
const notHan = /[^\p{Script=Han}]/gu

/** The characters of a text in normal form that say what it is about. */
const contentOf = (text: string): ReadonlySet<string> =>
  new Set(text.replace(fillers, '').replace(plain, '').replace(notHan, ''))

/** All that is said of a finding. */
const vocabularyOf = memoizeByIdentity(
  ({ ask, name, aliases, jargon, say }: FindingDefinition): ReadonlySet<string> => {
    const said = Object.values(say).flatMap(({ zh }) => zh)
    const phrases = [...ask.zh, name.zh, ...aliases.zh, ...(jargon?.zh ?? []), ...said]
    return new Set(phrases.flatMap((one) => [...contentOf(normaliseText(one).text)]))
  },
)

/**
 * The share of a question's characters that belong to no phrase of a finding, nor of the complaint it is a detail of.
 * @param text in normal form
 */
export function foreignShare({ finding }: Knowledge, id: string, text: string): number {
  const asked = contentOf(text)
  const one = finding.get(id)
  if (one === undefined || asked.size === 0) return 0
  const above = one.parent && finding.get(one.parent.finding)
  const known = above ? [one, above] : [one]
  const foreign = [...asked].filter((part) => !known.some((all) => vocabularyOf(all).has(part)))
  return foreign.length / asked.size
}
