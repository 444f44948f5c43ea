/** How the last notebooks of Doctor-Agent (commit c59b64e) read a reply whose prompt had opened `<THINK>` for it. */

const thought = '</THINK>'
const opened = '<ANSWER>'
const closed = '</ANSWER>'

/** What may follow the answer on its last line: blanks and the end token of one of the two Qwen3 models. */
const lineEnd = /(?:\s*(?:<\|im_end\|>|<\|endoftext\|>))?[^\S\n]*(?:\n|(?![\s\S]))/y

/**
 * The answer: from the first opening tag behind the end of the reasoning to the first closing one that ends a line.
 * What stands on later lines does not matter. Undefined where there is none.
 */
function answerIn(text: string): string | undefined {
  const reasoned = text.indexOf(thought)
  const start = reasoned < 0 ? -1 : text.indexOf(opened, reasoned + thought.length)
  if (start < 0) return undefined
  const from = start + opened.length
  for (let end = text.indexOf(closed, from + 1); end >= 0; end = text.indexOf(closed, end + 1)) {
    lineEnd.lastIndex = end + closed.length
    if (lineEnd.test(text)) return text.slice(from, end)
  }
  return undefined
}

/** What the two format rewards pay, and the answer to verify. */
export interface NotebookReading {
  /** 3 for a whole form, else 0. */
  readonly strict: number
  /** .5 for each of three tags that stands exactly once, −.5 for each that does not. */
  readonly soft: number
  readonly answer?: string
}

/** Reads a reply as released. */
export function releasedNotebook(text: string): NotebookReading {
  const soft = [thought, opened, closed].reduce(
    (sum, tag) => sum + (text.split(tag).length === 2 ? 0.5 : -0.5),
    0,
  )
  const answer = answerIn(text)
  return answer === undefined ? { strict: 0, soft } : { strict: 3, soft, answer: answer.trim() }
}

/** What a probability pays as released: more than nothing from .3 on; −2 for no answer. */
export function releasedTier(p: number | undefined): number {
  if (p === undefined) return -2
  if (p > 0.9) return 5
  if (p > 0.7) return 3.5
  if (p > 0.5) return 2
  return p > 0.3 ? 1.5 : -2.5
}

/**
 * The answer of a reply in the whole form and nothing else: some reasoning, its end, the answer between its tags, once
 * each and in this order, with nothing but blanks around; undefined for any other.
 */
export function wholeNotebook(text: string): string | undefined {
  const parts = text.replace(/^\s*<THINK>/, '').split(/(<\/?THINK>|<\/?ANSWER>)/)
  const [reasoning = '', ...rest] = parts
  const [end, between = '', open, answer = '', close, after = ''] = rest
  const inOrder = end === thought && open === opened && close === closed && rest.length === 6
  const around = `${between}${after.replace(/<\|(?:im_end|endoftext)\|>\s*$/, '')}`
  return inOrder && reasoning.trim() !== '' && around.trim() === '' && answer.trim() !== ''
    ? answer.trim()
    : undefined
}
