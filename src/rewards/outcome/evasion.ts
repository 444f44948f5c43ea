/**
 * Rule-based detection of evasive answers: abstentions, hedges and lists. Such answers are never sent to a verifier.
 *
 * The rule reads short answers and long lists; hedges inside a long explanation are left to the verifier. It flags none
 * of the 198 responses in HuatuoGPT-o1's demonstration file as a hedge; all are meant as one answer.
 */

/** Maximum length of an answer, in UTF-16 units: about the 1,300 tokens a published reply may have. */
const maxLength = 5000

/** Maximum length of an answer whose every word counts; longer explanations mention things they do not conclude. */
const brief = 400

const abstains =
  /^(?:sorry|unfortunately|i apologi[sz]e|抱歉|对不起)?[,.，。\s]*(?:(?:i|we) (?:really |simply |honestly )?(?:do not|don't|cannot|can't|can not|could not|couldn't|am not|'m not|are not|am unable|are unable)\b|(?:it |this |that |the (?:answer|diagnosis) )?(?:is |remains )?(?:unknown|uncertain|unclear|undetermined|impossible to|not possible to|cannot be|can't be)\b|not sure\b|no idea\b|(?:there is )?(?:not enough|insufficient) (?:information|data)\b|n\/?a\b|none$|我?不知道|我?不清楚|我?无法|我?不能确定|不确定|未知|信息不足)/i

const hedges =
  /\beither\b[^.;]{0,120}\bor\b|\bor (?:possibly|perhaps|maybe|else|alternatively)\b|\balternatively\b|\b(?:could|might|may) (?:also|equally|instead) be\b|\bdifferential(?:s| diagnos[ei]s)?\b|\bone of (?:the following|these|several)\b|\bany of (?:the following|these)\b|\b(?:several|multiple|other|various) possibilities\b|要么[^。；]{0,60}要么|也(?:有)?可能是|或者(?:也)?(?:可能)?是|鉴别诊断(?:包括|有)/i

/** Words that mark a text as part of a sentence, not an item of a list. */
const sentence =
  /\d|\b(?:is|are|was|were|be|has|have|had|suggest\w*|indicat\w*|caus\w*|because|due|based|given|with|which|who|that|likely)\b|[是有由因]/i

const bullets = /^\s*(?:\d+[.)]|[-*•])\s+/gm
const separators = /[,;\n，；、/|]|\.\s|\b(?:or|and)\b|或|和/i

const isBare = (item: string): boolean => item.split(/\s+/).length <= 5 && !sentence.test(item)

/**
 * Splits an answer into list items. Of a short answer, those after its last verb or colon: `The diagnosis is a, b, or
 * c` has three. Of a long answer, all its items if nearly all of it is a list. Prose is one item.
 */
function listItems(text: string): readonly string[] {
  const short = text.length <= brief
  const end = short ? text.split(/\b(?:is|are|be|includes?)\b|[:：]|是|包括/i).at(-1) : text
  const parts = (end ?? '').replace(bullets, '').split(separators)
  const items = parts.map((part) => part.replace(/^\s+|[.。\s]+$/g, '')).filter(Boolean)
  const bare = items.filter(isBare).length
  return bare >= items.length * (short ? 1 : 0.8) ? items : [text]
}

const countAlternatives = (text: string): number => {
  const items = listItems(text)
  // Two things joined by "and" are often one answer, two joined by "or" never are.
  return items.length === 2 && !/\bor\b|或|\|/i.test(text) ? 1 : items.length
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/**
 * Why an answer does not commit: it abstains, offers more alternatives than the reference, or is too long; undefined
 * where it commits to one answer. The reference itself always commits.
 */
export function detectEvasion(
  answer: string,
  reference: string,
): 'abstains' | 'hedges' | 'too long' | undefined {
  if (plain(answer) === plain(reference)) return undefined
  if (answer.length > maxLength) return 'too long'
  if (abstains.test(answer.trim())) return 'abstains'
  if (answer.length <= brief && hedges.test(answer) && !hedges.test(reference)) return 'hedges'
  return countAlternatives(answer) > Math.max(1, countAlternatives(reference))
    ? 'hedges'
    : undefined
}
