/** Reply parsing of Doctor-Agent's last notebooks (commit c59b64e), whose prompt opens `<THINK>`; both forms. */

const thinkEnd = '</THINK>'
const opening = '<ANSWER>'
const closing = '</ANSWER>'

/** Text that may follow the answer on its last line: blanks and the end token of one of the two Qwen3 models. */
const lineEnd = /(?:\s*(?:<\|im_end\|>|<\|endoftext\|>))?[^\S\n]*(?:\n|(?![\s\S]))/y

/**
 * Reads the answer as released: from the first opening tag after the reasoning to the first closing tag that ends a
 * line. Later lines are ignored. Undefined where there is none.
 */
function readAnswer(text: string): string | undefined {
  const reasoned = text.indexOf(thinkEnd)
  const start = reasoned < 0 ? -1 : text.indexOf(opening, reasoned + thinkEnd.length)
  if (start < 0) return undefined
  const from = start + opening.length
  for (let end = text.indexOf(closing, from + 1); end >= 0; end = text.indexOf(closing, end + 1)) {
    lineEnd.lastIndex = end + closing.length
    if (lineEnd.test(text)) return text.slice(from, end)
  }
  return undefined
}

/** The two released format rewards of a reply, and the answer to verify. */
export interface NotebookReading {
  /** 3 for a whole form, else 0. */
  readonly strict: number
  /** .5 for each of three tags that occurs exactly once, −.5 for each that does not. */
  readonly soft: number
  readonly answer?: string
}

/** Reads a reply as the released code does. */
export function readNotebookParity(text: string): NotebookReading {
  const soft = [thinkEnd, opening, closing].reduce(
    (sum, tag) => sum + (text.split(tag).length === 2 ? 0.5 : -0.5),
    0,
  )
  const answer = readAnswer(text)
  return answer === undefined ? { strict: 0, soft } : { strict: 3, soft, answer: answer.trim() }
}

/** The released reward of a verifier's probability: positive above .3; −2 for no answer. */
export function notebookTierParity(p: number | undefined): number {
  if (p === undefined) return -2
  if (p > 0.9) return 5
  if (p > 0.7) return 3.5
  if (p > 0.5) return 2
  return p > 0.3 ? 1.5 : -2.5
}

/**
 * Reads the answer of a reply in the whole form: reasoning, its end tag, the answer between its tags, once each and in
 * this order, with only blanks around; undefined for any other reply.
 */
export function readNotebookFixed(text: string): string | undefined {
  const parts = text.replace(/^\s*<THINK>/, '').split(/(<\/?THINK>|<\/?ANSWER>)/)
  const [reasoning = '', ...rest] = parts
  const [end, between = '', open, answer = '', close, after = ''] = rest
  const inOrder = end === thinkEnd && open === opening && close === closing && rest.length === 6
  const around = `${between}${after.replace(/<\|(?:im_end|endoftext)\|>\s*$/, '')}`
  return inOrder && reasoning.trim() !== '' && around.trim() === '' && answer.trim() !== ''
    ? answer.trim()
    : undefined
}
