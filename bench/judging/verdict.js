/**
 * Judges one reply of the patient by the label of the question. A label names the findings asked about (any one of
 * them will do), topics beyond findings, or nothing for chatter.
 *
 * `unclear`   the patient says it did not understand
 * `empty`     a question got a courtesy, or an answer that touches neither finding nor topic
 * `misread`   the reply answers about another finding than the one asked for
 * `bound`     the right finding, but the attribute asked for (which side? how often?) stays open
 * `useful`    answered, or honestly "I don't know"
 *
 * A broad question ("How are your waterworks?") is about the findings that its aside names (`also`): its answer touches
 * them, and one of them that is told in answer to it is no misreading.
 *
 * A reply is followed when `bound` or `useful`. What a topic's answer says cannot be judged by rule: any answer that
 * is neither unclear nor a courtesy nor about a finding counts, but for "no" to a name, an age or a job. A recap may
 * be met with a plain yes. An "I don't know" or a "nothing like that" to a topic that was not understood is `empty`.
 */

const openTopics = new Set([
  'presenting-complaint',
  'anything-else',
  'tell-more',
  'course',
  'impact',
])
/** Topics of the complaint itself: "I can't say" about the complaint leaves them open, but is no misreading. */
const illnessTopics = new Set(['course', 'treatment-tried', 'cause', 'impact', 'tell-more'])
/** Topics that "no" cannot answer. */
const namedTopics = new Set([
  'name',
  'age',
  'age-birthday',
  'address',
  'job',
  'occupation',
  'hometown-dialect',
])
const denial = /^(no\b|none\b|nothing\b|not that\b|没有|没|不)/i
const agreement = /^(?:yes|yeah|that'?s right|对|是|嗯)/i
const asksToConfirm = /(?:吗|吧|是不是|对不对)[？?。]?$|\b(?:is that|are you|am i)\b/i
/** Topics to which "yes, that's fine" is the whole answer. */
const courtesyTopics = new Set(['technical', 'privacy', 'repeat-please'])

/** A finding with its parent and children: telling one when asked for another of them is no misreading. */
export function relatives(knowledge, ids) {
  const near = new Set(ids)
  for (const { id, parent } of knowledge.findings) {
    if (parent && ids.includes(parent.finding)) near.add(id)
    if (parent && ids.includes(id)) near.add(parent.finding)
  }
  return near
}

/** Asides of the base by the topics of the labels, where the names differ. */
const asideOfTopic = {
  'past-history': 'past-health',
  'family-history': 'family-health',
  'treatment-tried': 'tried',
  'past-tests': 'tests',
  cycle: 'periods',
}

/** The findings that the understood asides are about too; with `topics`, only of asides about one of these. */
function broadly(knowledge, asides, topics) {
  const named = topics && new Set(topics.flatMap((topic) => [topic, asideOfTopic[topic]]))
  return new Set(
    asides
      .filter((id) => !named || named.has(id))
      .flatMap((id) => knowledge.aside.get(id)?.also ?? []),
  )
}

function topicVerdict(knowledge, label, { understood, asked, told, text }, asides, question) {
  const { topics, complaint } = label
  const open = topics.some((topic) => openTopics.has(topic))
  if (open && (understood === 'open' || told.length > 0)) return 'useful'
  const near = relatives(knowledge, complaint ? [complaint] : [])
  const ofComplaint = asked.length > 0 && asked.every((id) => near.has(id))
  if (ofComplaint && told.length === 0 && topics.some((topic) => illnessTopics.has(topic)))
    return 'bound'
  const broad = broadly(knowledge, asides, topics)
  if (asked.some((id) => !topics.includes(id) && !broad.has(id))) return 'misread'
  // "Are you Mrs Li?" is answered by a yes.
  if (topics.includes('name') && asksToConfirm.test(question) && agreement.test(text))
    return 'useful'
  if (topics.every((topic) => namedTopics.has(topic)) && denial.test(text)) return 'empty'
  if (understood === 'courtesy')
    return topics.some((topic) => courtesyTopics.has(topic)) ? 'useful' : 'empty'
  // "No, nothing like that" to what was not understood is a shrug, be the topic one that a no can answer.
  const named = topics.some((id) => asides.includes(id) || asides.includes(asideOfTopic[id]))
  if (understood === 'unknown' && !named) return 'empty'
  return understood === 'open' ? 'empty' : 'useful'
}

/** Whether a finding of that attribute was spoken of, or something was answered beyond the bare finding again. */
function describes(knowledge, { findings, attribute }, { understood, asked, told }) {
  const named = [...asked, ...told.map(({ finding }) => finding)]
  if (named.some((id) => knowledge.finding.get(id)?.attribute === attribute)) return true
  return understood === 'answered' && !told.some(({ finding }) => findings.includes(finding))
}

function findingVerdict(knowledge, label, reply, asides, question) {
  const { understood, asked, told } = reply
  const { findings, topics = [], attribute } = label
  const near = relatives(knowledge, findings)
  const hit = asked.some((id) => findings.includes(id))
  if (!hit) {
    const broad = broadly(knowledge, asides)
    const about = findings.some((id) => broad.has(id)) && asked.every((id) => broad.has(id))
    if (about && understood === 'answered') return 'useful'
    const other = asked.filter((id) => !near.has(id) && !topics.includes(id))
    if (other.length > 0) return 'misread'
    if (asked.length > 0) return 'bound'
    return topics.length > 0 ? topicVerdict(knowledge, label, reply, asides, question) : 'empty'
  }
  if (understood === 'withheld') return 'bound'
  return attribute && !describes(knowledge, label, { understood, asked, told }) ? 'bound' : 'useful'
}

/**
 * Verdict on a reply; see the top of the file.
 * @param asides the broad topics that the doctor's words were understood to ask about
 * @param question the doctor's words
 */
export function verdictOn(knowledge, label, reply, asides = [], question = '') {
  const { findings, topics = [], kind } = label
  if (reply.understood === 'unclear' || reply.understood === 'ambiguous') return 'unclear'
  if (kind === 'recap' && reply.asked.length === 0)
    return reply.understood === 'courtesy' ? 'bound' : 'useful'
  if (findings.length > 0) return findingVerdict(knowledge, label, reply, asides, question)
  if (topics.length > 0) return topicVerdict(knowledge, label, reply, asides, question)
  return reply.asked.length > 0 ? 'misread' : 'useful'
}

/** Whether the reply also answers about something that was not asked for, beside what was. */
export function answersBeside(knowledge, { findings, topics = [] }, { asked }, asides = []) {
  const near = new Set([...relatives(knowledge, findings), ...broadly(knowledge, asides)])
  return asked.some((id) => !near.has(id) && !topics.includes(id))
}

/** Whether the reply contradicts what the patient told before, or its case. */
export function contradicts(reply, dialogue, view) {
  const before = new Map(
    dialogue.flatMap(({ reply: { told } }) => told.map(({ finding, state }) => [finding, state])),
  )
  return reply.told.some(({ finding, state }) => {
    const earlier = before.get(finding)
    return [earlier, view.findings.get(finding)?.state].some(
      (known) => known && known !== 'unknown' && state !== 'unknown' && known !== state,
    )
  })
}
