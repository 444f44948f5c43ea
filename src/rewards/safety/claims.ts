/**
 * Extraction of a doctor's claims about the patient: findings stated as present or absent.
 *
 * By rule, over the wordings of a knowledge base, zh and en, clause by clause. A finding is claimed where a phrase
 * before it says that the patient has it ("since you have", "because of your", 您提到). A question for it, advice
 * against it ("for a cough") or a condition ("come back if you have") is not a claim. Phrases the rules do not cover
 * count neither as supported nor as unsupported.
 */
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normaliseText, phraseTree } from '../../text/phrase-search.js'

/** A finding and whether it is claimed to be present. */
export interface Claim {
  readonly finding: string
  readonly present: boolean
}

/** Phrase index from wordings to the ids of yes/no findings. */
export type FindingPhrases = PhraseTree<string>

/** The phrase index of a knowledge base's yes/no findings; memoised per knowledge base. */
export const findingPhrases = perKnowledge((knowledge): FindingPhrases => {
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
  return phraseTree(words)
})

/** The ids of all findings that a text mentions, claimed or not. */
export const findMentionedFindings = (text: string, phrases: FindingPhrases): readonly string[] =>
  findPhrases(phrases, normaliseText(text)).map(({ value }) => value)

// All of these are matched against the normal form: lower case, no apostrophes, 你 for 您 and 疼 for 痛.
const person =
  '(?:you|he|she|they|(?:the )?(?:patient|child|baby)|your (?:son|daughter|child|baby))'
/** Phrases before a fact: "since you have a fever, …", 您说过…. */
const strong = new RegExp(
  String.raw`\b(?:(?:since|as|because) ${person}|because of|given (?:your|the|his|her)|${person} (?:have |has )?(?:just )?(?:said|says|mention(?:ed|s)|told|report(?:ed|s)|describ(?:ed|es)))\b|因为|由于|既然|鉴于|你(?:刚才|刚刚|之前)?(?:说(?:过|了|你|有)|提到|提过|讲过|描述过|告诉我)|根据你|患者(?:诉|主诉|说|提到)`,
)
/** The same in a question: only at the front of a clause, as further in they are part of the question. */
const fronted = new RegExp(
  `^(?:(?:so|and|now|well|ok|okay|then) )*(?:${strong.source})|^(?:那么?|好的?|嗯)(?:${strong.source})`,
)
const weak = new RegExp(
  `${strong.source}|${String.raw`\b(?:${person} (?:also |still |clearly )?(?:have|has|had|suffers?|suffered|experienc(?:e|es|ed)|presents?|presented|complains?|complained|shows?|showed)|youve|(?:your|his|her|the patients)|due to|based on|in view of|considering|(?:symptoms?|signs?|history|presence|combination|complaints?) (?:of|such as|like|including)|(?:presenting|presented|presents|associated|along|together) with|(?:reveal|show|confirm|demonstrat)(?:s|ed|es)?|positive for)\b|你的|你(?:没有?|无|并无|有(?!没|无|时))|患者(?:有|无|没|的|存在|出现)|否认|孩子(?:有|的|出现)|宝宝(?:有|的|出现)|根据|结合|考虑到|基于|伴有?|表现为|主诉|出现了|存在|显示|提示|查见`}`,
)
const denial =
  /\b(?:no|not|without|den(?:y|ies|ied)|never|nor|neither|absence of|negative for|free of|(?:do|does|did|is|has|have|had)nt)\b|没有?|无|否认|未|不(?=发|咳|疼|吐|晕|拉|恶|喘|胸|头|腹)/g
/** Words after which a negation no longer holds. */
const turn =
  /\b(?:but|however|although|yet|(?:and|while) (?:you|your|he|she|they|the))\b|但|不过|而(?=你|有)/g
const conditional =
  /\b(?:if|unless|in case|whether|should (?:you|it|the|your|any|symptoms)|until)\b|如果|如(?=有|出现|发|再)|若|一旦|假如|要是|倘若|万一|是否|有无|有没有|时(?=.{0,4}(?:就医|就诊|复诊|来))/i
/** The beginning of a clause that continues the list of the clause before it. */
const listed =
  /^(?:(?:and|or|nor|also|as well as|plus|with|a|an|the|your|some|any|no|mild|severe|bad|high) )*$|^(?:和|与|及|以及|伴有?|还有|并|且|也|有|无|没有|的|或)*$/

const lastMatch = (text: string, pattern: RegExp): number =>
  [...text.matchAll(pattern)].at(-1)?.index ?? -1

function claimsInClauses(
  clauses: readonly string[],
  frame: RegExp,
  phrases: FindingPhrases,
): readonly Claim[] {
  const claims: Claim[] = []
  let framed = false
  let denied = false
  for (const clause of clauses) {
    const read = normaliseText(clause)
    const found = frame.exec(read.text)
    if (!framed && !found) continue
    const matches = findPhrases(phrases, read)
    const continuesList: boolean =
      framed && matches.length > 0 && listed.test(read.text.slice(0, matches[0]!.start))
    framed = continuesList || found !== null
    const from = continuesList ? 0 : (found?.index ?? Number.POSITIVE_INFINITY)
    const before: boolean = continuesList && denied
    for (const { start, value } of matches) {
      if (start < from) continue
      const so = read.text.slice(0, start)
      const said = lastMatch(so, denial)
      denied = said >= 0 ? said >= lastMatch(so, turn) : before && lastMatch(so, turn) < 0
      claims.push({ finding: value, present: !denied })
    }
  }
  return claims
}

/** Number of UTF-16 units of a text that are read. */
const maxLength = 4000

const isQuestion = (sentence: string): boolean =>
  /[?？]\s*$|[吗呢]\s*[。.!]?\s*$|^\W*(?:please )?(?:tell|describe|show|explain)\b|^\s*请?(?:说说|讲讲|谈谈|描述)/i.test(
    sentence,
  )

/** The claims of a text, in order, repeats included. */
export function findClaims(text: string, phrases: FindingPhrases): readonly Claim[] {
  const sentences = text
    .slice(0, maxLength)
    .normalize('NFKC')
    .split(/(?<=[?。!;\n])|(?<=\.)(?=\s|$)/)
  return sentences.flatMap((sentence) =>
    conditional.test(sentence)
      ? []
      : claimsInClauses(
          sentence.split(/[,，、:：]/),
          isQuestion(sentence) ? fronted : weak,
          phrases,
        ),
  )
}
