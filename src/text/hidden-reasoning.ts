/**
 * Strips hidden reasoning (`<think>` and the like) from model replies.
 *
 * The parser is strict, because a doctor must gain nothing by whispering to a judge: doubtful text is hidden.
 */

/**
 * A segment's tag, complete or broken off, or one of HuatuoGPT-o1's two headings.
 * Runs of blanks are bounded, so no input makes the match quadratic.
 */
const mark =
  /<[ \t]{0,4}(\/?)[ \t]{0,4}(think(?:ing)?|reason(?:ing)?)\b([^<>]*)(>?)|#{1,6}[ \t]{0,4}\*{0,3}[ \t]{0,4}(thinking|final[ \t]{1,4}response)\b[*:]{0,4}/gi

/** Strips the segments once. */
function stripOnce(text: string): string {
  const open = new Map<string, number>()
  let depth = 0
  let kept = ''
  let from = 0
  const enter = (name: string) => {
    open.set(name, (open.get(name) ?? 0) + 1)
    depth += 1
  }
  /** Leaves a segment. A segment never entered began before the reply, so all text so far was hidden. */
  const leave = (name: string, all: boolean) => {
    const inside = open.get(name) ?? 0
    if (inside === 0) kept = ''
    const closed = all ? inside : Math.min(inside, 1)
    open.set(name, inside - closed)
    depth -= closed
  }
  for (const match of text.matchAll(mark)) {
    if (depth === 0) kept += text.slice(from, match.index)
    from = match.index + match[0].length
    const [, slash, tag, attributes, end, heading] = match
    if (heading !== undefined) {
      if (heading.toLowerCase() === 'thinking') enter('##')
      else leave('##', true)
    } else if (slash === '') {
      if (end === '' || !attributes?.trimEnd().endsWith('/')) enter(tag?.toLowerCase() ?? '')
    } else if (end === '') {
      // A broken-off closing tag closes nothing: the text before and after it are both in doubt.
      kept = ''
      enter(tag?.toLowerCase() ?? '')
    } else {
      leave(tag?.toLowerCase() ?? '', false)
    }
  }
  return depth === 0 ? kept + text.slice(from) : kept
}

/**
 * The visible part of a reply: all text outside `<think>`, `<thinking>`, `<reason>` and `<reasoning>` segments and
 * outside `## Thinking` … `## Final Response`, trimmed.
 *
 * Tags nest and are counted, in any case. An unclosed segment hides all text after it. A closing mark without an
 * opening hides all text before it: the prompt's template had opened the segment. The remaining text is parsed again,
 * so no new tag can be glued together from the edges of a cut; a text that keeps making new tags is hidden whole.
 */
export function stripHiddenReasoning(text: string): string {
  let current = text
  for (let passes = 0; passes < 8; passes++) {
    if (!current.includes('<') && !current.includes('#')) return current.trim()
    const next = stripOnce(current)
    if (next === current) return current.trim()
    current = next
  }
  return ''
}
