/** How the released code of HuatuoGPT-o1 and Doctor-Agent reads a reply: by counting substrings. */

/** What a reply's form is worth, and its answer where there is one to verify. */
export interface Reading {
  readonly format: number
  readonly answer?: string
}

const thinking = '## Thinking'
const final = '## Final Response'
const finalBlank = `${final}\n\n`

const count = (text: string, part: string): number => text.split(part).length - 1

/** Everything behind the first Final heading and its blank line. */
const answerIn = (text: string): string =>
  text.slice(text.indexOf(finalBlank) + finalBlank.length).trim()

/** PPO: each heading once, in any order, the Final one with a blank line. */
export const releasedPpo = (text: string): Reading =>
  count(text, finalBlank) === 1 && count(text, thinking) === 1
    ? { format: 1, answer: answerIn(text) }
    : { format: 0 }

function releasedFormat(text: string): number {
  const [thoughts, answers] = [count(text, thinking), count(text, final)]
  if (thoughts === 1 && answers === 1) return text.indexOf(thinking) < text.indexOf(final) ? 1 : 0.3
  return thoughts + answers > 0 ? 0.2 : 0
}

/** GRPO: the order counts too, and an answer is verified wherever a Final heading has its blank line. */
export function releasedGrpo(text: string): Reading {
  const format = releasedFormat(text)
  return text.includes(finalBlank) ? { format, answer: answerIn(text) } : { format }
}
