/** SPBench's eight criteria of one reply, as far as a rule can judge them; bench/real-doctors.js says what each is. */
import { contradicts } from './verdict.js'

/** Names of the criteria, in SPBench's order. */
export const criteria = [
  'query comprehension',
  'case consistency',
  'controlled disclosure',
  'response completeness',
  'logical coherence',
  'language naturalness',
  'conversational consistency',
  'demeanour',
]

const sentences = (text) =>
  text
    .split(/[.!?。！？]+/u)
    .map((part) => part.trim())
    .filter((part) => part.length > 3)

function natural({ reply: { text }, before, language }) {
  const han = (text.match(/\p{Script=Han}/gu) ?? []).length
  if (language === 'zh' ? han === 0 || text.length > 120 : han > 0 || text.split(/\s+/).length > 60)
    return false
  const recent = new Set(before.slice(-3).flatMap(({ reply }) => sentences(reply.text)))
  return !sentences(text).some((sentence) => recent.has(sentence))
}

/** At most two findings nobody asked for, and no name of the diagnosis. */
function controlled({ reply: { text, understood, asked, told }, truth }) {
  const names = truth.gold.dx.flatMap(({ name, aliases }) => [name.zh, name.en, ...aliases])
  const spoken = text.toLowerCase()
  if (names.some((name) => name && spoken.includes(name.toLowerCase()))) return false
  return understood === 'open' || told.filter(({ finding }) => !asked.includes(finding)).length <= 2
}

/** No detail of a complaint that was denied, now or before. */
function coherent(knowledge, { reply, before }) {
  const told = [...before.map(({ reply: earlier }) => earlier), reply].flatMap((each) => each.told)
  const denied = new Set(
    told.filter(({ state }) => state === 'absent').map(({ finding }) => finding),
  )
  return reply.told.every(({ finding, state }) => {
    const parent = knowledge.finding.get(finding)?.parent
    return !(parent && state !== 'absent' && denied.has(parent.finding))
  })
}

/** The criteria that apply to a reply: true where it passes, undefined where it cannot be judged. */
export function criteriaOf(knowledge, row) {
  const { label, verdict, reply, view, before } = row
  const followed = verdict === 'useful' || verdict === 'bound'
  const lost = reply.understood === 'unclear'
  const sameWords = before.some(({ reply: earlier }) => earlier.text === reply.text)
  const social = label?.kind === 'chatter' || label?.kind === 'admin'
  return {
    'query comprehension': label && followed,
    'case consistency': !contradicts(reply, [], view),
    'controlled disclosure': controlled(row),
    'response completeness': followed ? verdict === 'useful' : undefined,
    'logical coherence': coherent(knowledge, row),
    'language naturalness': natural(row),
    'conversational consistency':
      !contradicts(reply, before, { findings: new Map() }) && !(lost && sameWords),
    demeanour: social ? !lost && reply.asked.length === 0 : undefined,
  }
}
