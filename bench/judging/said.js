/**
 * Whether a reply says what a topic asks for, whichever way the patient came to it: "four or five a day" answers the
 * topic `smoking-count`, whether it was read as that topic or as the amount of the finding `smoking`.
 *
 * Read off the words, so that no vague reply passes: the reply holds the sentence of this patient's biography that fills
 * the topic's slot, or a fact that the knowledge base writes of the finding's attribute and that answers the same.
 */

/** Topics that the details of findings answer too: the findings (`complaint`: what the patient came with) and the attributes. */
const detailsOfTopic = {
  'medicine-dose': {
    of: ['regular-medication', 'painkiller-use', 'inhaler-use', 'hormone-pills', 'antacid-relief'],
    attributes: ['amount', 'frequency'],
  },
  'episodes-often': { of: ['complaint'], attributes: ['frequency'] },
  'period-flow': { of: ['heavy-periods'], attributes: ['amount'] },
  'vomit-look': { of: ['vomiting'], attributes: ['colour', 'character', 'amount'] },
  'last-period': { of: ['missed-period'], attributes: ['last'] },
}

/** Answers the topic by telling of a finding: which one, of those that the topic is about too. */
const findingsOfTopic = (knowledge, topic) => knowledge.aside.get(topic)?.also ?? []

/** The end of a sentence, which a reply of several joins otherwise. */
const bare = (sentence) => sentence.replace(/[.。]$/, '')

/** What the patient can say to a topic. */
function sentencesOf(knowledge, topic, { complaint, asked, view, language }) {
  const { slot } = knowledge.aside.get(topic) ?? {}
  const own = view.biography?.[slot]?.[language]
  const { of = [], attributes = [] } = detailsOfTopic[topic] ?? {}
  const findings = of
    .map((id) => (id === 'complaint' ? complaint : id))
    .filter((id) => asked.includes(id))
  const facts = knowledge.details
    .filter((detail) => attributes.includes(detail.attribute))
    .filter((detail) => detail.of?.some((id) => findings.includes(id)))
    .flatMap((detail) => (detail.facts ?? []).flatMap((fact) => fact[language]))
  return own ? [own, ...facts] : facts
}

/**
 * Whether a reply says what one of the label's topics asks for.
 * @param view the patient's view of the case
 */
export function saysTopic(knowledge, { topics = [], complaint, lang: language }, reply, view) {
  const { asked, told, text } = reply
  return topics.some((topic) => {
    const also = findingsOfTopic(knowledge, topic)
    const tells = told.some(({ finding, state }) => also.includes(finding) && state !== 'unknown')
    if (tells && asked.every((id) => also.includes(id))) return true
    const given = { complaint, asked, view, language }
    return sentencesOf(knowledge, topic, given).some((one) => text.includes(bare(one)))
  })
}
