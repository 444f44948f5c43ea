/**
 * Whether an answer commits to one thing, told by rule: no verifier is asked about one that does not.
 *
 * The rule reads short answers and long lists; what a long explanation hedges is the verifier's to see. Of the 198
 * responses in HuatuoGPT-o1's demonstration file, all meant as one answer, it takes none for a hedge.
 */

/** The longest answer that is read, in UTF-16 units: about the 1,300 tokens a published reply may have. */
const longest = 5000

/** The longest answer whose every word counts; explanations beyond it mention many a thing they do not mean. */
const brief = 400

const abstains =
  /^(?:sorry|unfortunately|i apologi[sz]e|抱歉|对不起)?[,.，。\s]*(?:(?:i|we) (?:really |simply |honestly )?(?:do not|don't|cannot|can't|can not|could not|couldn't|am not|'m not|are not|am unable|are unable)\b|(?:it |this |that |the (?:answer|diagnosis) )?(?:is |remains )?(?:unknown|uncertain|unclear|undetermined|impossible to|not possible to|cannot be|can't be)\b|not sure\b|no idea\b|(?:there is )?(?:not enough|insufficient) (?:information|data)\b|n\/?a\b|none$|我?不知道|我?不清楚|我?无法|我?不能确定|不确定|未知|信息不足)/i

const hedges =
  /\beither\b[^.;]{0,120}\bor\b|\bor (?:possibly|perhaps|maybe|else|alternatively)\b|\balternatively\b|\b(?:could|might|may) (?:also|equally|instead) be\b|\bdifferential(?:s| diagnos[ei]s)?\b|\bone of (?:the following|these|several)\b|\bany of (?:the following|these)\b|\b(?:several|multiple|other|various) possibilities\b|要么[^。；]{0,60}要么|也(?:有)?可能是|或者(?:也)?(?:可能)?是|鉴别诊断(?:包括|有)/i

/** Words that make a part of a sentence out of what could be an item of a list. */
const sentence =
  /\d|\b(?:is|are|was|were|be|has|have|had|suggest\w*|indicat\w*|caus\w*|because|due|based|given|with|which|who|that|likely)\b|[是有由因]/i

/** Marks of a list at the start of its lines. */
const bullets = /^\s*(?:\d+[.)]|[-*•])\s+/gm
const separators = /[,;\n，；、/|]|\.\s|\b(?:or|and)\b|或|和/i

const isBare = (item: string): boolean => item.split(/\s+/).length <= 5 && !sentence.test(item)

/**
 * Bare items: of a short answer those behind its last verb or colon, `The diagnosis is a, b, or c` has three; of a
 * long one all it has where nearly all of it is a list. Prose has one.
 */
function itemsOf(text: string): readonly string[] {
  const short = text.length <= brief
  const end = short ? text.split(/\b(?:is|are|be|includes?)\b|[:：]|是|包括/i).at(-1) : text
  const parts = (end ?? '').replace(bullets, '').split(separators)
  const items = parts.map((part) => part.replace(/^\s+|[.。\s]+$/g, '')).filter(Boolean)
  const bare = items.filter(isBare).length
  return bare >= items.length * (short ? 1 : 0.8) ? items : [text]
}

/** How many answers a text offers, as far as its words show. */
const offered = (text: string): number => {
  const items = itemsOf(text)
  // Two things joined by "and" are often one answer, two joined by "or" never are.
  return items.length === 2 && !/\bor\b|或|\|/i.test(text) ? 1 : items.length
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/**
 * Why an answer is not one answer: it abstains, offers more than the reference does, or is too long to be read;
 * undefined where it commits. The reference itself always does.
 */
export function evasion(
  answer: string,
  reference: string,
): 'abstains' | 'hedges' | 'too long' | undefined {
  if (plain(answer) === plain(reference)) return undefined
  if (answer.length > longest) return 'too long'
  if (abstains.test(answer.trim())) return 'abstains'
  if (answer.length <= brief && hedges.test(answer) && !hedges.test(reference)) return 'hedges'
  return offered(answer) > Math.max(1, offered(reference)) ? 'hedges' : undefined
}
