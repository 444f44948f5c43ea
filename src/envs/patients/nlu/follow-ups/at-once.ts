/** What a question asks of a habit or an allergy together with naming it: whether it was given up, since when it is. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'

/** Sequels of a habit or an allergy that a sentence can ask for together with it: "Have you tried to give up the cigarettes?". */
const askedAtOnce: readonly (readonly [id: string, asks: RegExp])[] = [
  ['smoking-stop', /\b(?:give|given|giving) (?:it |them )?up\b|\b(?:quit|quitting|stopp?ing)\b|戒/],
  ['drinking-stop', /\b(?:cut|cutting) (?:down|back)\b|\b(?:give|given|giving) (?:it )?up\b|戒/],
  [
    'allergy-when',
    /\bhow long ago\b|\bwhat year\b|\bwhen (?:was|did) (?:that|it|you (?:find|react|have))\b|哪(?:一)?年|什么时候(?:发现|的事|过敏)|多久以前/,
  ],
  ['habit-since', /\bhow (?:long|many years)\b(?!.*\bago\b)|多少年|几年|多久/],
]

/** The sequel of a habit or an allergy that a text in normal form asks for together with it; undefined for any other text. */
export const sequelAtOnce = (
  { aside }: Knowledge,
  text: string,
  finding: string,
): string | undefined =>
  askedAtOnce.find(([id, asks]) => aside.get(id)?.after?.includes(finding) && asks.test(text))?.[0]
