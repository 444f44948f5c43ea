/** Parity with the reply parsing of HuatuoGPT-o1's and Doctor-Agent's released code, by counting substrings. */

/** A parsed reply: the value of its form, and the answer to verify if there is one. */
export interface DoctorAgentReading {
  /** 0 to 1. */
  readonly format: number
  readonly answer?: string
}

const thinking = '## Thinking'
const final = '## Final Response'
const finalBlank = `${final}\n\n`

const count = (text: string, part: string): number => text.split(part).length - 1

/** The text after the first Final heading and its blank line. */
const readAnswer = (text: string): string =>
  text.slice(text.indexOf(finalBlank) + finalBlank.length).trim()

/** Reads a reply as the PPO code does: each heading once, in any order, the Final one with a blank line. */
export const readPpoParity = (text: string): DoctorAgentReading =>
  count(text, finalBlank) === 1 && count(text, thinking) === 1
    ? { format: 1, answer: readAnswer(text) }
    : { format: 0 }

function scoreFormat(text: string): number {
  const [thoughts, answers] = [count(text, thinking), count(text, final)]
  if (thoughts === 1 && answers === 1) return text.indexOf(thinking) < text.indexOf(final) ? 1 : 0.3
  return thoughts + answers > 0 ? 0.2 : 0
}

/** Reads a reply as the GRPO code does: the order counts too; any Final heading with its blank line has an answer. */
export function readGrpoParity(text: string): DoctorAgentReading {
  const format = scoreFormat(text)
  return text.includes(finalBlank) ? { format, answer: readAnswer(text) } : { format }
}
