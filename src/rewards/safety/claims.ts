/**
 * What a doctor's words claim of the patient: findings said to be there, or not to be, as facts.
 *
 * By rule, over the wordings of a knowledge base, zh and en, clause by clause. A finding is claimed where something
 * before it says that the patient has it ("since you have", "because of your", 您提到), and is not claimed by being asked
 * for, by advice against it ("for a cough") or by a condition ("come back if you have"). What it does not read it does
 * not count, on either side.
 */
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normal, phraseTree } from '../../text/phrase-search.js'

/** A finding, and whether it is said to be there. */
export interface Claim {
  readonly finding: string
  readonly present: boolean
}

/** The wordings of findings that a patient has or has not. */
export type FindingPhrases = PhraseTree<string>

const trees = new WeakMap<Knowledge, FindingPhrases>()

/** The wordings of a knowledge base, indexed once. */
export function findingPhrases(knowledge: Knowledge): FindingPhrases {
  const known = trees.get(knowledge)
  if (known) return known
  const findings = knowledge.findings.filter(({ type }) => type === 'bool')
  const words = findings.flatMap(({ id, name, aliases, jargon }) =>
    [
      name.zh,
      name.en,
      ...aliases.zh,
      ...aliases.en,
      ...(jargon?.zh ?? []),
      ...(jargon?.en ?? []),
    ].map((text) => [text, id] as const),
  )
  const tree = phraseTree(words)
  trees.set(knowledge, tree)
  return tree
}

/** The findings that a text speaks of, however it does. */
export const mentionedIn = (text: string, phrases: FindingPhrases): readonly string[] =>
  findPhrases(phrases, normal(text)).map(({ value }) => value)

// All of these are matched against the normal form: lower case, no apostrophes, 你 for 您 and 疼 for 痛.
const person =
  '(?:you|he|she|they|(?:the )?(?:patient|child|baby)|your (?:son|daughter|child|baby))'
/** Before a fact: "since you have a fever, …", 您说过…. */
const strong = new RegExp(
  String.raw`\b(?:(?:since|as|because) ${person}|because of|given (?:your|the|his|her)|${person} (?:have |has )?(?:just )?(?:said|says|mention(?:ed|s)|told|report(?:ed|s)|describ(?:ed|es)))\b|因为|由于|既然|鉴于|你(?:刚才|刚刚|之前)?(?:说(?:过|了|你|有)|提到|提过|讲过|描述过|告诉我)|根据你|患者(?:诉|主诉|说|提到)`,
)
/** The same in a question: at the front of a clause, for further in it is part of what is asked. */
const fronted = new RegExp(
  `^(?:(?:so|and|now|well|ok|okay|then) )*(?:${strong.source})|^(?:那么?|好的?|嗯)(?:${strong.source})`,
)
/** Before a fact in a statement. */
const weak = new RegExp(
  `${strong.source}|${String.raw`\b(?:${person} (?:also |still |clearly )?(?:have|has|had|suffers?|suffered|experienc(?:e|es|ed)|presents?|presented|complains?|complained|shows?|showed)|youve|(?:your|his|her|the patients)|due to|based on|in view of|considering|(?:symptoms?|signs?|history|presence|combination|complaints?) (?:of|such as|like|including)|(?:presenting|presented|presents|associated|along|together) with|(?:reveal|show|confirm|demonstrat)(?:s|ed|es)?|positive for)\b|你的|你(?:没有?|无|并无|有(?!没|无|时))|患者(?:有|无|没|的|存在|出现)|否认|孩子(?:有|的|出现)|宝宝(?:有|的|出现)|根据|结合|考虑到|基于|伴有?|表现为|主诉|出现了|存在|显示|提示|查见`}`,
)
const denial =
  /\b(?:no|not|without|den(?:y|ies|ied)|never|nor|neither|absence of|negative for|free of|(?:do|does|did|is|has|have|had)nt)\b|没有?|无|否认|未|不(?=发|咳|疼|吐|晕|拉|恶|喘|胸|头|腹)/g
/** After it a denial no longer holds. */
const turn =
  /\b(?:but|however|although|yet|(?:and|while) (?:you|your|he|she|they|the))\b|但|不过|而(?=你|有)/g
const conditional =
  /\b(?:if|unless|in case|whether|should (?:you|it|the|your|any|symptoms)|until)\b|如果|如(?=有|出现|发|再)|若|一旦|假如|要是|倘若|万一|是否|有无|有没有|时(?=.{0,4}(?:就医|就诊|复诊|来))/i
/** A clause that goes on with the list of the one before it. */
const listed =
  /^(?:(?:and|or|nor|also|as well as|plus|with|a|an|the|your|some|any|no|mild|severe|bad|high) )*$|^(?:和|与|及|以及|伴有?|还有|并|且|也|有|无|没有|的|或)*$/

const lastOf = (text: string, pattern: RegExp): number =>
  [...text.matchAll(pattern)].at(-1)?.index ?? -1

/** What the clauses of one sentence claim. */
function claimsOf(
  clauses: readonly string[],
  frame: RegExp,
  phrases: FindingPhrases,
): readonly Claim[] {
  const claims: Claim[] = []
  let framed = false
  let denied = false
  for (const clause of clauses) {
    const read = normal(clause)
    const found = frame.exec(read.text)
    if (!framed && !found) continue
    const matches = findPhrases(phrases, read)
    const goesOn: boolean =
      framed && matches.length > 0 && listed.test(read.text.slice(0, matches[0]!.start))
    framed = goesOn || found !== null
    const from = goesOn ? 0 : (found?.index ?? Number.POSITIVE_INFINITY)
    const before: boolean = goesOn && denied
    for (const { start, value } of matches) {
      if (start < from) continue
      const so = read.text.slice(0, start)
      const said = lastOf(so, denial)
      denied = said >= 0 ? said >= lastOf(so, turn) : before && lastOf(so, turn) < 0
      claims.push({ finding: value, present: !denied })
    }
  }
  return claims
}

/** No words of a doctor are this long; what is behind is not read. */
const longest = 4000

/** A question, or a request to tell. */
const isQuestion = (sentence: string): boolean =>
  /[?？]\s*$|[吗呢]\s*[。.!]?\s*$|^\W*(?:please )?(?:tell|describe|show|explain)\b|^\s*请?(?:说说|讲讲|谈谈|描述)/i.test(
    sentence,
  )

/** What a text claims, in order, repeats kept. */
export function claimsIn(text: string, phrases: FindingPhrases): readonly Claim[] {
  const sentences = text
    .slice(0, longest)
    .normalize('NFKC')
    .split(/(?<=[?。!;\n])|(?<=\.)(?=\s|$)/)
  return sentences.flatMap((sentence) =>
    conditional.test(sentence)
      ? []
      : claimsOf(sentence.split(/[,，、:：]/), isQuestion(sentence) ? fronted : weak, phrases),
  )
}
