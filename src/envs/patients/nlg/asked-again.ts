/** Whether a question asks for what was told before and no more. */
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../../platform/memoize.js'
import { normaliseText } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'
import { findAttributes, isGeneric } from '../nlu/attributes.js'
import { languageByScript } from '../nlu/finding-match.js'
import type { Topic } from '../nlu/focus.js'

/** The names and questions of a finding in normal form, the longest first. */
const namesOf = memoizeByIdentity(({ name, aliases, jargon, ask }: FindingDefinition) => {
  const inOrder = (language: Language) =>
    [name[language], ...aliases[language], ...(jargon?.[language] ?? []), ...ask[language]]
      .map((one) => normaliseText(one).text)
      .sort((a, b) => b.length - a.length)
  return { en: inOrder('en'), zh: inOrder('zh') }
})

/** Whether a question asks for nothing but what was told of a finding, so that it was answered before. */
export function asksTheSame(finding: FindingDefinition, topic: Topic, utterance: string): boolean {
  if (topic.guessed) return false
  if (finding.type === 'cat' || finding.attribute !== undefined) return true
  const { text } = normaliseText(utterance)
  const named = namesOf(finding)[languageByScript(text)].filter((name) => text.includes(name))
  const rest = named.reduce((left, name) => left.replace(name, ' '), text)
  return findAttributes(rest).length === 0 && isGeneric(rest)
}
