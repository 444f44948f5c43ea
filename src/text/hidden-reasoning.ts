/**
 * Hidden reasoning: what a model thinks before it speaks, cut away before anyone else can read it.
 *
 * The parser is strict, for a doctor must gain nothing by whispering to a judge: where it is in doubt
 * whether something was meant to be heard, it was not.
 */

/**
 * A tag of a segment, closed or broken off, or one of the two headings of HuatuoGPT-o1.
 * Runs of blanks are bounded so that no input makes the match quadratic.
 */
const mark =
  /<[ \t]{0,4}(\/?)[ \t]{0,4}(think(?:ing)?|reason(?:ing)?)\b([^<>]*)(>?)|#{1,6}[ \t]{0,4}\*{0,3}[ \t]{0,4}(thinking|final[ \t]{1,4}response)\b[*:]{0,4}/gi

function pass(text: string): string {
  const open = new Map<string, number>()
  let depth = 0
  let kept = ''
  let from = 0
  const enter = (name: string) => {
    open.set(name, (open.get(name) ?? 0) + 1)
    depth += 1
  }
  /** Leaves a segment; one that was never entered began before the reply did, so nothing so far was visible. */
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
      // A closing tag that breaks off closes nothing: what came before and what follows are both in doubt.
      kept = ''
      enter(tag?.toLowerCase() ?? '')
    } else {
      leave(tag?.toLowerCase() ?? '', false)
    }
  }
  return depth === 0 ? kept + text.slice(from) : kept
}

/**
 * The part of a reply that others may read: everything outside `<think>`, `<thinking>`, `<reason>` and
 * `<reasoning>` segments and outside `## Thinking` … `## Final Response`, trimmed.
 *
 * Tags nest and count, whatever their case. An unclosed segment hides everything after it. A closing mark
 * that nothing opened hides everything before it: the prompt's template had opened the segment. What is
 * left when a segment is cut out is read again, so that no new tag can be glued together from its edges;
 * a text that keeps making new ones is hidden whole.
 */
export function visible(text: string): string {
  let current = text
  for (let passes = 0; passes < 8; passes++) {
    if (!current.includes('<') && !current.includes('#')) return current.trim()
    const next = pass(current)
    if (next === current) return current.trim()
    current = next
  }
  return ''
}
