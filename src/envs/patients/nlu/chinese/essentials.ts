/** What every question for a finding says in Chinese: a guess by similarity that lacks it is like it in other words only. */
import type { FindingDefinition } from '../../../../knowledge/knowledge.js'
import { memoizeByIdentity } from '../../../../platform/memoize.js'
import { normaliseText } from '../../../../text/phrase-search.js'
import { regionsIn } from '../follow-ups/regions.js'

/** Share of a finding's questions and phrases from which a character belongs to all of them. */
const minShare = 0.75
/** Characters of any question. */
const plain =
  /[的了吗呢么吧啊你我他她它有没不是会能得过一个这那在就都也还很最什怎样几多少哪里儿来去上下说]/

/** All Chinese phrases of a finding, in normal form. */
const phrasesOf = memoizeByIdentity(
  ({ ask, aliases, name }: FindingDefinition): readonly string[] =>
    [name.zh, ...aliases.zh, ...ask.zh].map((one) => normaliseText(one).text),
)

/** The characters that nearly all Chinese questions for a finding have: 舌 of a strawberry tongue. */
const essentialsOf = memoizeByIdentity((finding: FindingDefinition): readonly string[] => {
  const phrases = phrasesOf(finding)
  const counts = new Map<string, number>()
  for (const phrase of phrases)
    for (const character of new Set(phrase)) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts]
    .filter(([one, n]) => n >= minShare * phrases.length && /\p{Script=Han}/u.test(one))
    .filter(([one]) => !plain.test(one))
    .map(([one]) => one)
})

/** Whether a Chinese text in normal form lacks what all questions for a finding say. */
export const lacksEssentials = (finding: FindingDefinition | undefined, text: string): boolean =>
  finding !== undefined && essentialsOf(finding).some((character) => !text.includes(character))

/** Share of a finding's phrases that must name a part of the body where a guess is of a sentence that names it. */
const minRegion = 0.05

/** Whether a Chinese text names parts of the body, and questions for a finding none of them: 腿红不红 of the urine. */
export function isOfOtherRegion(finding: FindingDefinition | undefined, text: string): boolean {
  const regions = finding === undefined ? [] : regionsIn(text)
  if (finding === undefined || regions.length === 0) return false
  const phrases = phrasesOf(finding)
  const naming = phrases.filter((one) => regions.some(({ named }) => named.test(one)))
  return naming.length < minRegion * phrases.length
}
