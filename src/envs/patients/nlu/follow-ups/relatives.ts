/** Questions that go on from the patient's own findings to the same of relatives. */
import * as act from '../acts.js'
import { languageByScript } from '../finding-match.js'
import { lastAsked } from '../focus.js'
import { aboutFinding } from './findings.js'
import type { FollowUp } from './question.js'

/** Names of a finding that are tried, to ask for the same of relatives. */
const mostNames = 3

/** An illness of a part of the body, and the topic of what nobody in the family has. */
const organIllness = /[眼耳鼻胃肠肝肾脑肺骨血肤]病/
const familyIllness = 'family-illness'

/** "And your father?", "anyone in the family?" after another question: the same of relatives. */
export function sameOfRelatives({ knowledge, context, reader, text, alone, followed }: FollowUp) {
  if (!act.family.test(text) || act.witness.test(text) || act.openQuestion.test(text))
    return undefined
  const [last = followed[0]] = lastAsked(context)
  const definition = last === undefined ? undefined : knowledge.finding.get(last)
  const said = alone.topics[0]
  const own = said && knowledge.finding.get(said.finding)?.kind === 'family' ? alone : undefined
  // "Does anybody smoke at home?" asks what it names.
  const habit = alone.asides.some((id) => id === 'smokers-home' || id === 'companion')
  if (habit && languageByScript(text) === 'zh') return alone
  if (!definition || (own && !said?.guessed)) return own
  if (!own && organIllness.test(text) && knowledge.aside.has(familyIllness))
    return { ...alone, kind: 'aside' as const, topics: [], asides: [familyIllness] }
  if (definition.kind === 'family') return aboutFinding(alone, definition.id)
  const { name, aliases } = definition
  const language = languageByScript(text)
  const names = [name[language], ...aliases[language].slice(0, mostNames)]
  for (const word of names) {
    const whole = language === 'zh' ? `家里有人${word}吗` : `any ${word} in your family?`
    const same = reader
      .parse(whole)
      .topics.find(({ finding }) => knowledge.finding.get(finding)?.kind === 'family')
    if (same) return aboutFinding(alone, same.finding)
  }
  return own
}
